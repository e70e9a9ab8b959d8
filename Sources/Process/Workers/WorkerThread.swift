import Assembly
import Basics
import Gateway
import Reactor
import System
import UVReactor

/// A worker's thread as the control loop sees it.
///
/// The control loop accesses nothing of the worker, which builds everything that it owns on its own
/// thread.
final class WorkerThread {
    /// The values that are passed to the thread.
    struct Inputs: Sendable {
        let setup: WorkerSetup
        let config: RecordedConfig
        /// One socket of each listener.
        let sockets: [TransferBox<ListeningSocket>]
    }

    /// Sends messages to the worker.
    let worker: WorkerHandle
    private let thread: Thread

    private init(_ worker: WorkerHandle, _ thread: Thread) {
        self.worker = worker
        self.thread = thread
    }

    /// Starts the thread; nil if the system cannot create one more. The thread reports to the
    /// control loop that it listens or why it cannot, and finally that it has ended.
    static func start(_ inputs: Inputs) -> WorkerThread? {
        let inbox = UVInbox<WorkerMessage>()
        let thread = Thread.start("worker-\(inputs.setup.index)") {
            CrashReport.useOwnStack()
            let leftovers = runLoop(inputs, inbox)
            // If the worker failed, its inbox was never opened.
            inbox.close()
            inputs.setup.report(.ended(openHandles: leftovers))
        }
        return thread.map { WorkerThread(WorkerHandle(inputs.setup, inbox: inbox), $0) }
    }

    /// Waits for the thread's end.
    func join() {
        thread.join()
    }

    // MARK: On the worker's thread

    /// Runs the worker until its end; returns the handles that were still open then.
    private static func runLoop(_ inputs: Inputs, _ inbox: UVInbox<WorkerMessage>) -> [String] {
        do {
            return try UVLoop.run(names: inputs.setup.shared.names) { loop in
                let worker = try Worker(inputs.setup, compiling: inputs.config, on: loop) {
                    inbox.close()
                    loop.stop()
                }
                inbox.open(on: loop, for: worker)
                for (number, socket) in inputs.sockets.enumerated() {
                    if let instance = worker.instance, let socket = socket.take() {
                        try listen(instance, as: number, on: socket, loop)
                    }
                }
                inputs.setup.report(.listening)
            }
        } catch {
            inputs.setup.report(.failed(error as? WorkerFailure ?? .internalError("\(error)")))
            return []
        }
    }

    private static func listen(
        _ instance: GatewayInstance, as number: Int, on socket: consuming ListeningSocket,
        _ loop: UVLoop
    ) throws(WorkerFailure) {
        let address = socket.address
        do throws(IOFailure) {
            let listener = try loop.listen(on: socket) { [weak instance] in
                instance?.accept($0, from: number)
            }
            instance.adopt(listener, as: number)
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
