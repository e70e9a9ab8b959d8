import Assembly
import Basics
import Gateway
import Reactor
import System

/// What the process reports to the process or service manager that started it, and the reloads that a
/// change of its files causes.
///
/// Owned by the daemon, on the control loop.
final class ServiceReports {
    private let loop: any Loop
    private let logging: ProcessLog
    private let host: DaemonHost
    private let announcement: Startup.Announcement?
    private let workers: WorkerPool
    private let reloads: ReloadCoordinator
    /// All workers listen on this address; for people.
    private var servedAddress = ""
    private var notifier: ServiceNotifier?
    private var watchdog: ServiceWatchdog?
    private var fileWatch: FileWatch<[String: FileStatus?]>?

    init(
        _ host: DaemonHost, _ startup: Startup, on loop: any Loop, _ logging: ProcessLog,
        _ workers: WorkerPool, _ reloads: ReloadCoordinator
    ) {
        self.host = host
        announcement = startup.announcement
        self.loop = loop
        self.logging = logging
        self.workers = workers
        self.reloads = reloads
    }

    // MARK: Phases of the process

    /// All workers listen on this address.
    ///
    /// - Parameter admin: the address of the admin server
    func start(_ address: String, admin: String?) {
        servedAddress = address
        host.background?.ready(log: host.logFile)
        if let name = host.environment.notifySocket { startNotifying(NotifySocket(name)) }
        if host.watchesFiles { startWatching() }
        if let announcement { logging.writer.post(Array(announcement(address, admin).utf8)) }
    }

    func beginReload() { notifier?.reloading(at: MonotonicClock.microseconds) }

    func endReload() { notifier?.ready(status) }

    /// The process drains.
    ///
    /// - Parameter limit: how long that may take
    func stop(within limit: Duration) { notifier?.stopping(within: limit, Self.draining) }

    /// Called once, at the end.
    func close() {
        notifier?.close()
        watchdog?.close()
        fileWatch?.close()
    }

    // MARK: The service manager

    private static let draining = "draining"

    /// One line for `systemctl status`.
    private var status: String {
        guard reloads.hooks.isServing() else { return Self.draining }
        return "serving on \(servedAddress)"
            + (reloads.history.hasFailed
                ? "; the last reload failed, the log has the reason" : "")
    }

    private func startNotifying(_ socket: NotifySocket) {
        let notifier = ServiceNotifier(loop: loop, send: socket.send) { [logging] code in
            logging.log.write(.warning, "service manager not notified") {
                $0.add("problem", ServiceFailure.words(code))
            }
        }
        self.notifier = notifier
        notifier.ready(status)
        let watchdog = ServiceWatchdog(
            loop: loop, limit: host.environment.watchdogLimit, notifier: notifier,
            health: ServiceWatchdog.Health(
                problem: { [workers] in workers.silence(for: WorkerMonitor.readyLimit) },
                isAlive: { [workers] in workers.silence(for: WorkerMonitor.liveLimit) == nil },
                healthy: { [weak self] in self?.status ?? "" }))
        self.watchdog = watchdog
        watchdog.start()
    }

    // MARK: Files

    private func startWatching() {
        let watch = FileWatch(
            loop: loop,
            FileWatch<[String: FileStatus?]>.Actions(
                fingerprint: { [reloads] in FileStatus.ofAll(reloads.lastRead.paths) },
                isCurrent: { [reloads] in reloads.lastRead.isCurrent(in: SystemFiles.files) },
                canReload: { [reloads, workers] in
                    reloads.hooks.isServing()
                        && workers.silence(for: WorkerMonitor.readyLimit) == nil
                },
                reload: { [reloads, logging] in
                    logging.log.write(.info, "configuration files changed")
                    reloads.reload()
                }))
        fileWatch = watch
        watch.start()
    }
}

extension FileStatus {
    /// By path; nil for a file that cannot be examined.
    fileprivate static func ofAll(_ paths: [String]) -> [String: FileStatus?] {
        var statuses: [String: FileStatus?] = [:]
        for path in paths { statuses.updateValue(FileStatus(of: path), forKey: path) }
        return statuses
    }
}
