import Assembly
import Basics
import Gateway
import Promises
import Reactor
import UVReactor

/// A core's thread as the control loop sees it: letters go there, letters come back.
///
/// Nothing of the core is touched from here; the core builds everything it owns on its own thread.
final class CoreThread {
    let index: Int
    /// How many there are, itself among them.
    private let workers: Int
    var hasEnded = false
    private let thread: Thread
    private let mailbox: Mailbox

    private init(index: Int, workers: Int, thread: Thread, mailbox: Mailbox) {
        self.index = index
        self.workers = workers
        self.thread = thread
        self.mailbox = mailbox
    }

    /// Starts the thread. It tells `control`, in letters to its resident `Daemon`, that it listens or
    /// why it cannot, and at last that it has ended.
    static func start(
        _ index: Int, of workers: Int, _ config: RecordedConfig,
        on socket: Parcel<ListeningSocket>, names: NameService, control: Port
    ) -> CoreThread? {
        let mailbox = Mailbox()
        let thread = Thread.start("core-\(index)") {
            run(index, workers, config, socket, names, control, mailbox)
            control.post { $0.daemon?.coreEnded(index) }
        }
        return thread.map {
            CoreThread(index: index, workers: workers, thread: $0, mailbox: mailbox)
        }
    }

    // MARK: On the core's thread

    private static func run(
        _ index: Int, _ workers: Int, _ config: RecordedConfig, _ socket: Parcel<ListeningSocket>,
        _ names: NameService, _ control: Port, _ mailbox: Mailbox
    ) {
        do {
            let left = try UVLoop.run(names: names) { loop in
                guard let plan = try config.plan(workers: workers) else {
                    throw PlanFailure(text: "the configuration has no plan any more")
                }
                if let budget = config.descriptors {
                    loop.descriptors.acceptCeiling = budget.acceptCeiling
                    loop.descriptors.connectCeiling = budget.connectCeiling
                }
                let core = GatewayCore(plan, loop: loop, log: log(plan.process.log, loop, control))
                loop.resident = core
                mailbox.open(loop.port)
                if let socket = socket.open() { try listen(core, on: socket, loop) }
                control.post { $0.daemon?.coreListens(index) }
            }
            for line in left { StandardStreams.printError("tributary: left open: \(line)\n") }
        } catch {
            let failure = StartFailure(error)
            control.post { $0.daemon?.coreFailed(index, failure) }
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

    /// Lines go to the control loop in batches, which writes them out.
    private static func log(_ plan: LogPlan, _ loop: UVLoop, _ control: Port) -> Log {
        Log(level: plan.level.level, format: plan.format.format, clock: { loop.unixTime }) {
            lines in
            control.post { $0.daemon?.write(lines) }
        }
    }

    // MARK: Letters to the core

    func install(_ config: RecordedConfig) {
        mailbox.post { [workers] loop in
            // The same bytes had a plan a moment ago; without one the old plan goes on.
            guard let plan = try? config.plan(workers: workers) else { return }
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

    /// The core's numbers; rejects when the core has ended.
    func snapshot() -> Promise<CoreSnapshot> {
        let resolver = Resolver<CoreSnapshot>().shared()
        mailbox.post { loop in
            if let core = loop.gatewayCore { resolver.fulfill(core.snapshot) }
        }
        return resolver.promise
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
