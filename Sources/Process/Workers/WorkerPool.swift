import Assembly
import Basics
import Reactor
import UVReactor

/// The threads of the workers, and the messages between them and the control loop.
///
/// Owned by the daemon, on the control loop. It never waits for a worker, except for the end of a thread
/// whose worker has ended.
final class WorkerPool {
    /// Sends heartbeats, and collects what the pages show.
    let monitor: WorkerMonitor
    /// What all workers share.
    let shared: SharedResources

    private let logging: ProcessLog
    private let inbox = UVInbox<ControlMessage>()
    private var threads: [WorkerThread] = []
    /// The number of workers that do not listen yet.
    private var starting = 0

    init(_ shared: SharedResources, on loop: UVLoop, _ logging: ProcessLog) {
        self.shared = shared
        self.logging = logging
        monitor = WorkerMonitor(loop: loop, log: logging.log)
    }

    /// Delivers the messages of the workers. The inbox owns the receiver until `close`.
    func open(on loop: UVLoop, for receiver: any MessageReceiver<ControlMessage>) {
        inbox.open(on: loop, for: receiver)
    }

    /// Starts one worker for each set of sockets.
    ///
    /// - Parameter sockets: for each worker, one of each listener
    func start(
        _ config: RecordedConfig, on sockets: [[TransferBox<ListeningSocket>]]
    ) throws(StartFailure) {
        starting = sockets.count
        for (index, own) in sockets.enumerated() {
            let setup = WorkerSetup(
                index: index, of: sockets.count, shared: shared, control: inbox, log: logging.writer
            )
            let inputs = WorkerThread.Inputs(setup: setup, config: config, sockets: own)
            guard let thread = WorkerThread.start(inputs) else { throw .threads }
            threads.append(thread)
            monitor.add(thread.worker)
        }
    }

    /// The number of workers that were started.
    var count: Int { threads.count }

    /// The workers that have not ended.
    var running: [WorkerHandle] { threads.map(\.worker).filter { !$0.hasEnded } }

    func send(_ message: WorkerMessage) {
        for thread in threads { thread.worker.send(message) }
    }

    /// Sends each worker its plan; nil is one that could not be compiled again.
    func install(_ plans: [CompiledPlan?]) {
        for (thread, plan) in zip(threads, plans) {
            guard let plan, thread.worker.send(.install(plan)) else {
                // The worker has ended, or its plan could not be compiled again.
                logging.log.write(.error, "configuration not installed") {
                    $0.add("worker", thread.worker.index)
                }
                continue
            }
        }
        monitor.configurationSent()
    }

    /// Counts a worker that listens; true with the last one.
    func recordListening() -> Bool {
        starting -= 1
        return starting == 0
    }

    /// Joins the thread of a worker that has ended; true with the last one.
    func recordEnd(of index: Int) -> Bool {
        threads[index].join()
        threads[index].worker.hasEnded = true
        monitor.ended(index)
        return running.isEmpty
    }

    /// `worker 0 does not answer`, if one has not for so long.
    func silence(for limit: Duration) -> String? {
        let workers = monitor.workersSilent(for: limit)
        return workers.isEmpty ? nil : WorkerMonitor.silence(of: workers)
    }

    func close() { inbox.close() }
}
