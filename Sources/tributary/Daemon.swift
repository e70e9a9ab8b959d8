import ArgumentParser
import Assembly
import Basics
import Gateway
import Promises
import Reactor
import UVReactor

/// The process that serves: a control loop on the main thread, which owns signals, the admin page and
/// the log's output, and one thread for each core.
final class Daemon {
    let loop: UVLoop
    let log: Log
    private(set) var config: RecordedConfig
    private(set) var process: ProcessPlan
    private(set) var reloads = MetricsPage.Reloads()
    private var cores: [CoreThread] = []
    private var signals: [SignalSource] = []
    private var admin: Admin?
    private let demo: Demo?
    private var listening: SocketAddress?
    private var phase = Phase.starting
    /// Why the daemon ends, when it is not because it was asked to.
    private(set) var failure: StartFailure?

    private enum Phase {
        case starting, ready, draining, ended
    }

    /// Serves a file, or the demo, until a signal ends it. Throws the exit status of what makes a start
    /// impossible.
    static func run(_ path: String?) throws {
        var failure: StartFailure?
        let left = try UVLoop.run { loop in
            let demo = path == nil ? try Demo(on: loop) : nil
            let source = path.map { ConfigSource(path: $0) }
                ?? ConfigSource(demo: demo?.variables ?? [:])
            let (recorded, plan, problems) = try source.record()
            StandardStreams.printError(problems.lines.map { $0 + "\n" }.joined())
            guard let plan else { throw ExitStatus.configurationErrors }
            let daemon = Daemon(recorded, plan.process, loop, demo)
            loop.resident = daemon
            daemon.onEnd = { failure = $0 }
            try daemon.start()
        }
        for line in left { StandardStreams.printError("tributary: left open: \(line)\n") }
        if let failure { throw failure.reported() }
    }

    /// Called once, when nothing runs any more.
    private var onEnd: (StartFailure?) -> Void = { _ in }

    private init(
        _ config: RecordedConfig, _ process: ProcessPlan, _ loop: UVLoop, _ demo: Demo?
    ) {
        self.demo = demo
        self.config = config
        self.process = process
        self.loop = loop
        log = Log(
            level: process.log.level.level, format: process.log.format.format,
            clock: { loop.unixTime }
        ) { StandardStreams.write($0, to: 1) }
    }

    /// Whether clients are welcome.
    var isReady: Bool { phase == .ready }

    var coreCount: Int { cores.count }

    // MARK: Start

    private func start() throws {
        let address = try resolved(process.listen)
        // SO_REUSEPORT would let a second daemon share the port unseen: ask once without it.
        guard !ListeningSocket.isTaken(address) else {
            throw StartFailure.listen(address, .addressInUse).reported()
        }
        if let adminListen = process.admin {
            let adminAddress = try resolved(adminListen)
            do throws(IOFailure) {
                admin = try Admin(daemon: self, on: adminAddress)
            } catch {
                throw StartFailure.listen(adminAddress, error).reported()
            }
        }
        for signal in Signal.allCases {
            signals.append(
                try SignalSource(signal, on: loop) { [weak self] in self?.received(signal) })
        }
        startCore(0, on: address)
    }

    private func startCore(_ index: Int, on address: SocketAddress) {
        guard let core = CoreThread.start(
            index, config, listen: address, sharedPort: process.workers > 1, control: loop.port)
        else { return end(because: .threads) }
        cores.append(core)
    }

    /// A core listens. The first one's port, which the system may have chosen, is everybody's.
    func coreListens(_ index: Int, on address: SocketAddress) {
        listening = address
        guard phase == .starting else { return }
        let next = cores.count
        if next < process.workers { return startCore(next, on: address) }
        phase = .ready
        log.write(.info, "listening") { line in
            line.add("address", "\(address)")
            if let admin { line.add("admin", "\(admin.address)") }
            line.add("workers", process.workers)
            line.add("config", config.path)
            line.add("version", Version.number)
        }
        log.flush()
        if config.isDemo { StandardStreams.printOut(DemoConfig.tour(of: "\(address)")) }
    }

    /// A core could not begin.
    func coreFailed(_ index: Int, _ failure: StartFailure) {
        end(because: failure)
    }

    private func resolved(_ address: Config.ListenAddress) throws -> SocketAddress {
        switch address {
        case .unix(let path): return .unix(path: path)
        case .tcp(let host, let port):
            let name = host == "localhost" ? "127.0.0.1" : host
            guard let address = IPAddress(name) else {
                throw StartFailure.address(host).reported()
            }
            return .ip(address, port: port)
        }
    }

    // MARK: Signals

    private func received(_ signal: Signal) {
        switch signal {
        case .hangUp: reload()
        case .interrupt, .terminate: drain()
        }
    }

    /// Reads the configuration again: all of it is good, or nothing of it is taken.
    func reload() {
        guard phase == .ready, !config.isDemo else { return }
        do {
            let (recorded, plan, problems) = try ConfigSource(path: config.path).record()
            for problem in problems.sorted {
                log.write(problem.severity == .error ? .error : .warning, "configuration") { line in
                    line.add("problem", "\(problem)")
                }
            }
            guard let plan else { return reloadFailed() }
            warnOfWhatNeedsARestart(plan.process)
            config = recorded
            for core in cores { core.install(recorded) }
            reloads.succeeded += 1
            log.write(.info, "configuration reloaded")
        } catch {
            log.write(.error, "configuration") { $0.add("problem", "\(error)") }
            reloadFailed()
        }
        log.flush()
    }

    private func reloadFailed() {
        reloads.failed += 1
        log.write(.error, "reload failed; the last good configuration stays")
        log.flush()
    }

    private func warnOfWhatNeedsARestart(_ new: ProcessPlan) {
        let changes: [(StaticString, Bool)] = [
            ("listen", new.listen != process.listen), ("admin", new.admin != process.admin),
            ("workers", new.workers != process.workers),
            ("log.format", new.log.format != process.log.format),
        ]
        for (key, isChanged) in changes where isChanged {
            log.write(.warning, "a change that needs a restart") { $0.add(literal: "key", key) }
        }
    }

    /// Lets what runs be answered, then ends. A second signal ends at once.
    private func drain() {
        guard phase != .draining else { return end(because: nil) }
        phase = .draining
        log.write(.info, "draining")
        log.flush()
        for core in cores { core.announceDrain() }
        loop.timer(after: process.drain.delay) { [self] in
            for core in cores { core.drain() }
        }
    }

    /// A core has ended.
    func coreEnded(_ index: Int) {
        cores[index].join()
        cores[index].hasEnded = true
        if cores.allSatisfy(\.hasEnded) { end(because: failure) }
    }

    private func end(because failure: StartFailure?) {
        guard phase != .ended else { return }
        self.failure = failure
        let running = cores.filter { !$0.hasEnded }
        guard running.isEmpty else {
            // Each tells when it has ended, and the last one comes back here.
            phase = .draining
            for core in running { core.close() }
            return
        }
        phase = .ended
        onEnd(failure)
        if failure == nil { log.write(.info, "ended") }
        log.flush()
        admin?.close()
        demo?.close()
        signals.removeAll()
        loop.resident = nil
        loop.stop()
    }

    // MARK: Numbers

    /// One snapshot of each core.
    func snapshots() -> Local<[CoreSnapshot]> {
        loop.core.all(cores.filter { !$0.hasEnded }.map { $0.snapshot().on(loop.core) })
    }

    /// Lines that a core gathered.
    func write(_ lines: [UInt8]) {
        StandardStreams.write(lines, to: 1)
    }
}
