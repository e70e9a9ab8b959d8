import Assembly
import Basics
import Gateway
import Reactor
import UVReactor

/// A worker's thread as the control loop sees it.
///
/// Nothing of the worker is touched from here; it builds everything that it owns on its own thread.
final class WorkerThread {
    /// What crosses to the thread.
    struct Start: Sendable {
        let setup: WorkerSetup
        let config: RecordedConfig
        /// One of every listener.
        let sockets: [Parcel<ListeningSocket>]
    }

    /// The way to the worker.
    let worker: WorkerHandle
    private let thread: Thread

    private init(_ worker: WorkerHandle, _ thread: Thread) {
        self.worker = worker
        self.thread = thread
    }

    /// Starts the thread; nil where the system has no room for one more. The thread reports to the
    /// control loop that it listens or why it cannot, and at last that it has ended.
    static func start(_ start: Start) -> WorkerThread? {
        let inbox = UVInbox<WorkerMessage>()
        let thread = Thread.start("worker-\(start.setup.index)") {
            let left = run(start, inbox)
            // Where the worker failed, its inbox was never opened.
            inbox.close()
            start.setup.report(.ended(left: left))
        }
        return thread.map { WorkerThread(WorkerHandle(start.setup, inbox: inbox), $0) }
    }

    /// Waits for the thread's end.
    func join() {
        thread.join()
    }

    // MARK: On the worker's thread

    /// Gives what was still open at the loop's end.
    private static func run(_ start: Start, _ inbox: UVInbox<WorkerMessage>) -> [String] {
        do {
            return try UVLoop.run(names: start.setup.shared.names) { loop in
                let worker = try Worker(start.setup, compiling: start.config, on: loop) {
                    inbox.close()
                    loop.stop()
                }
                inbox.open(on: loop, for: worker)
                for socket in start.sockets {
                    if let instance = worker.instance, let socket = socket.open() {
                        try listen(instance, on: socket, loop)
                    }
                }
                start.setup.report(.listening)
            }
        } catch {
            start.setup.report(.failed(error as? WorkerFailure ?? .internalError("\(error)")))
            return []
        }
    }

    private static func listen(
        _ instance: GatewayInstance, on socket: consuming ListeningSocket, _ loop: UVLoop
    ) throws(WorkerFailure) {
        let address = socket.address
        do throws(IOFailure) {
            instance.adopt(try loop.listen(on: socket) { [weak instance] in instance?.accept($0) })
        } catch {
            throw .listen(address, error)
        }
    }
}

extension StartFailure {
    init(_ failure: WorkerFailure) {
        switch failure {
        case .listen(let address, let reason): self = .listen(address, reason)
        case .internalError(let what): self = .internalError(what)
        }
    }
}
