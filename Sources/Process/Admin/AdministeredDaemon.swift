import Assembly
import Basics
import Gateway
import Glibc
import HTTP
import Promises
import Reactor
import System

/// The daemon as the admin pages describe it. Owned by the admin server.
final class AdministeredDaemon: AdministeredProcess {
    private let loop: any Loop
    private let logging: ProcessLog
    private let workers: WorkerPool
    private let reloads: ReloadCoordinator
    private let traces: TraceExporter
    /// The facts of the program's build, the version first.
    private let build: [(name: String, value: String)]
    private let descriptorLimit: Int
    private let phase: () -> ProcessPhase
    private let started: Instant
    /// In nanoseconds since 1970.
    private let startedAt: Int64
    private let inspector = PlanInspector()

    init(
        on loop: any Loop, _ logging: ProcessLog, _ workers: WorkerPool,
        _ reloads: ReloadCoordinator,
        _ traces: TraceExporter, build: [(name: String, value: String)], descriptorLimit: Int,
        phase: @escaping () -> ProcessPhase
    ) {
        self.loop = loop
        self.logging = logging
        self.workers = workers
        self.reloads = reloads
        self.traces = traces
        self.build = build
        self.descriptorLimit = descriptorLimit
        self.phase = phase
        started = reloads.current.installed
        startedAt = reloads.history.status.loadedAt
    }

    /// A reload: descriptions need another plan.
    func forgetPlan() { inspector.forgetPlan() }

    /// Divides the file descriptors that are not open yet: called before the admin server and the
    /// workers open theirs.
    func descriptorBudget(workers: Int) -> DescriptorBudget {
        let open = (ProcessDescriptors.open ?? Self.openTypically) + 1
        return DescriptorBudget(limit: descriptorLimit, open: open, workers: workers)
    }

    /// The number in a process without inherited descriptors, where the system does not report it.
    private static let openTypically = 16

    // MARK: AdministeredProcess

    var isServing: Bool { phase() == .serving }

    var monitor: WorkerMonitor { workers.monitor }

    var logLevel: LogLevelControl { logging.level }

    var facts: ProcessFacts {
        ProcessFacts(
            version: Product.version, digest: reloads.digest.description, startedAt: startedAt,
            reloads: reloads.history.counts, log: logging.writer.counts,
            descriptors: ProcessFacts.Descriptors(
                limit: descriptorLimit, open: ProcessDescriptors.open),
            usage: ProcessUsage.now.map {
                ProcessFacts.Usage(cpuSeconds: $0.cpuSeconds, residentBytes: $0.residentBytes)
            }, spans: traces.counts,
            limitCells: ProcessFacts.LimitCellFacts(workers.shared.limits, at: loop.now))
    }

    var diagnostics: ProcessDiagnostics {
        let current = reloads.current
        return ProcessDiagnostics(
            phase: phase(), requiredBackends: current.process.requiredBackends,
            processID: Int(getpid()), uptime: loop.now - started, build: build,
            config: current.recorded, files: reloads.files, reload: reloads.history.status,
            descriptions: inspector.descriptions(
                of: current.recorded, workers: current.process.workers))
    }

    var identity: ProcessIdentity {
        ProcessIdentity(
            instance: HostName.current, version: Product.version,
            config: reloads.current.recorded.path,
            configAge: loop.now - reloads.current.installed)
    }

    func reload() -> LocalPromise<ReloadOutcome> { reloads.reload() }
}
