import Assembly
import Basics
import Gateway
import Promises
import Reactor
import UVReactor

/// The end of the process: finishes the requests in flight, ends the workers, exports the last spans, and
/// closes the rest.
///
/// Owned by the daemon, on the control loop. `ProcessLifecycle` decides which step is next.
final class Shutdown {
    /// Called on the control loop.
    struct Hooks {
        /// Workers have had their time to end.
        var late: () -> Void = {}
        /// Closes what this object does not know.
        var close: () -> Void = {}
        /// The process has ended; only its control loop and its log are left.
        var ended: (DaemonEnd) -> Void = { _ in }
    }

    var hooks = Hooks()

    private let loop: UVLoop
    private let logging: ProcessLog
    private let sockets: ListenerSockets
    private let workers: WorkerPool
    private let reloads: ReloadCoordinator
    private let traces: TraceExporter
    private let service: ServiceReports
    /// How the process ends, as far as this is known.
    private var outcome = DaemonEnd()

    init(
        on loop: UVLoop, _ logging: ProcessLog, _ sockets: ListenerSockets, _ workers: WorkerPool,
        _ reloads: ReloadCoordinator, _ traces: TraceExporter, _ service: ServiceReports
    ) {
        self.loop = loop
        self.logging = logging
        self.sockets = sockets
        self.workers = workers
        self.reloads = reloads
        self.traces = traces
        self.service = service
    }

    /// Between the last accepted connection and the end of idle ones, where the next process gets the
    /// connections that come later: time for a client that has just connected to send its request.
    private static let handOverDelay = Duration.milliseconds(500)

    /// Added to the time that workers have for their end, because closing connections takes a
    /// moment.
    private static let endMargin = Duration.seconds(2)

    // MARK: What has happened

    /// The first failure is the reason of the end.
    func record(_ failure: StartFailure) { outcome.failure = outcome.failure ?? failure }

    /// Logs the handles that a worker left open.
    func record(_ leftovers: [String], of worker: Int) {
        outcome.log(leftovers, of: "worker-\(worker)", to: logging.log)
    }

    // MARK: Steps

    /// Finishes the requests in flight and ends the workers.
    func drain() {
        logging.log.write(.info, "draining")
        logging.log.flush()
        let drain = reloads.current.process.drain
        let handOver = sockets.outliveProcess ? Self.handOverDelay : .zero
        service.stop(
            within: drain.delay + handOver + drain.timeout + Self.endMargin + traces.flushLimit
                + DaemonEnd.flushLimit)
        workers.send(.announceDrain)
        loop.timer(after: drain.delay) { [self] in
            sockets.close()
            guard sockets.outliveProcess else { return finishRequests(within: drain.timeout) }
            workers.send(.stopAccepting)
            loop.timer(after: handOver) { [self] in finishRequests(within: drain.timeout) }
        }
    }

    private func finishRequests(within limit: Duration) {
        workers.send(.drain)
        waitForWorkers(limit)
    }

    /// Ends the workers that run, at once.
    func closeWorkers() {
        for worker in workers.running { worker.send(.close) }
        waitForWorkers(.zero)
    }

    /// The control loop's own deadline for the end of all workers: a worker that hangs reads no
    /// message and must not keep the process alive.
    private func waitForWorkers(_ limit: Duration) {
        loop.timer(after: limit + Self.endMargin) { [self] in hooks.late() }
    }

    /// Ends the process although workers run.
    func abandonWorkers() {
        outcome.hasAbandonedWorkers = true
        for worker in workers.running {
            logging.log.write(.error, "worker abandoned, it did not end in time") {
                $0.add("worker", worker.index)
            }
        }
        finish()
    }

    /// Exports the last spans, and closes everything.
    func finish() {
        // No thread may compile plans while the process exits.
        reloads.whenIdle.whenSettled { [self] _ in
            traces.close(within: traces.flushLimit).whenSettled { [self] _ in close() }
        }
    }

    private func close() {
        if outcome.isClean { logging.log.write(.info, "ended") }
        logging.log.flush()
        outcome.log = logging.log
        outcome.logWriter = logging.writer
        hooks.ended(outcome)
        sockets.close()
        workers.monitor.stop()
        logging.level.stop()
        service.close()
        reloads.memory.close()
        hooks.close()
        workers.close()
        loop.stop()
    }
}
