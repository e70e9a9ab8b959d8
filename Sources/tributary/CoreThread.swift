import Assembly
import Basics
import Gateway
import Promises
import Reactor
import Synchronization
import UVReactor

/// A core's thread as the control loop sees it: letters go there, letters come back.
///
/// Nothing of the core is touched from here; the core builds everything it owns on its own thread.
final class CoreThread: MonitoredWorker {
    let index: Int
    /// How many there are, itself among them.
    private let workers: Int
    var hasEnded = false
    private let thread: Thread
    private let mailbox: Mailbox
    private let control: Port
    private let heartbeat = HeartbeatAnswer()

    /// The number of the last heartbeat that the worker answered. An atomic word, so that an answer
    /// costs the control loop nothing and counts as soon as it is there.
    private final class HeartbeatAnswer: Sendable {
        let number = Atomic<UInt64>(0)
    }

    private init(index: Int, workers: Int, thread: Thread, mailbox: Mailbox, control: Port) {
        self.index = index
        self.workers = workers
        self.thread = thread
        self.mailbox = mailbox
        self.control = control
    }

    /// Starts the thread. It tells `control`, in letters to its resident `Daemon`, that it listens or
    /// why it cannot, and at last that it has ended.
    static func start(
        _ index: Int, of workers: Int, _ config: RecordedConfig,
        on sockets: [Parcel<ListeningSocket>], shared: SharedCounts, names: NameService,
        control: Port, logWriter: LogWriter
    ) -> CoreThread? {
        let mailbox = Mailbox()
        let thread = Thread.start("core-\(index)") {
            let left = run(
                index, workers, config, sockets, shared, names, control, mailbox, logWriter)
            control.post { $0.daemon?.coreEnded(index, left: left) }
        }
        return thread.map {
            CoreThread(
                index: index, workers: workers, thread: $0, mailbox: mailbox, control: control)
        }
    }

    // MARK: On the core's thread

    /// Gives what was still open at the loop's end.
    private static func run(
        _ index: Int, _ workers: Int, _ config: RecordedConfig,
        _ sockets: [Parcel<ListeningSocket>],
        _ shared: SharedCounts, _ names: NameService, _ control: Port, _ mailbox: Mailbox,
        _ logWriter: LogWriter
    ) -> [String] {
        do {
            return try UVLoop.run(names: names) { loop in
                guard let plan = try config.plan(workers: workers) else {
                    throw PlanFailure(text: "the configuration has no plan any more")
                }
                if let budget = config.descriptors {
                    loop.descriptors.acceptCeiling = budget.acceptCeiling
                    loop.descriptors.connectCeiling = budget.connectCeiling
                }
                let core = GatewayCore(
                    plan, loop: loop, log: log(plan.process.log, loop, logWriter), shared: shared)
                loop.resident = core
                mailbox.open(loop.port)
                for socket in sockets {
                    if let socket = socket.open() { try listen(core, on: socket, loop) }
                }
                control.post { $0.daemon?.coreListens(index) }
            }
        } catch {
            let failure = StartFailure(error)
            control.post { $0.daemon?.coreFailed(index, failure) }
            return []
        }
    }

    private static func listen(
        _ core: GatewayCore, on socket: consuming ListeningSocket, _ loop: UVLoop
    ) throws(StartFailure) {
        let address = socket.address
        do throws(IOFailure) {
            core.adopt(try loop.listen(on: socket) { [weak core] in core?.accept($0) })
        } catch {
            throw .listen(address, error)
        }
    }

    private struct PlanFailure: Error, CustomStringConvertible {
        let text: String
        var description: String { text }
    }

    /// Lines go to the writer thread in batches, which never makes the worker wait.
    private static func log(_ plan: LogPlan, _ loop: UVLoop, _ logWriter: LogWriter) -> Log {
        Log(level: plan.level.level, format: plan.format.format, clock: { loop.unixTime }) {
            logWriter.append($0)
        }
    }

    // MARK: Letters to the core

    func install(_ config: RecordedConfig) {
        mailbox.post { [workers, index, control] loop in
            // The same bytes had a plan a moment ago; without one the old plan goes on.
            guard let plan = try? config.plan(workers: workers) else {
                control.post { $0.daemon?.installationFailed(index) }
                return
            }
            loop.gatewayCore?.install(plan)
        }
    }

    func announceDrain() {
        mailbox.post { $0.gatewayCore?.announceDrain() }
    }

    /// Lets what runs be answered, then ends the loop.
    func drain() {
        mailbox.post { loop in
            guard let core = loop.gatewayCore else { return loop.stop() }
            core.drain().whenSettled { _ in
                loop.resident = nil
                loop.stop()
            }
        }
    }

    /// Ends the loop at once.
    func close() {
        mailbox.post { loop in
            guard let core = loop.gatewayCore else { return loop.stop() }
            core.close().whenSettled { _ in
                loop.resident = nil
                loop.stop()
            }
        }
    }

    func sendHeartbeat(_ number: UInt64) {
        mailbox.post { [heartbeat] _ in heartbeat.number.store(number, ordering: .relaxed) }
    }

    var answeredHeartbeat: UInt64 { heartbeat.number.load(ordering: .relaxed) }

    func requestSnapshot() {
        mailbox.post { [index, control] loop in
            guard let snapshot = loop.gatewayCore?.snapshot else { return }
            control.post { $0.daemon?.monitor.received(snapshot, from: index) }
        }
    }

    /// Waits for the thread's end.
    func join() {
        thread.join()
    }
}

extension UVLoop {
    /// The daemon, on the control loop.
    var daemon: Daemon? { resident as? Daemon }

    /// The core, on a core's loop.
    var gatewayCore: GatewayCore? { resident as? GatewayCore }
}
