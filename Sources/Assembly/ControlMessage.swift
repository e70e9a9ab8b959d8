package import Reactor

/// A message of a worker to the control loop.
package struct ControlMessage: Sendable {
    /// The worker's number.
    package let worker: Int
    package let event: WorkerEvent

    package init(worker: Int, _ event: WorkerEvent) {
        self.worker = worker
        self.event = event
    }
}

/// What happened to a worker.
///
/// A heartbeat has no case: its answer is a word that the control loop reads (`HeartbeatAnswer`).
package enum WorkerEvent: Sendable {
    /// It accepts connections.
    case listening
    /// It could not start.
    case failed(WorkerFailure)
    /// It has ended, with these things still open, which its loop closed by force.
    case ended(left: [String])
    case snapshot(WorkerSnapshot)
    /// It could not compile the configuration, and serves the former one.
    case installationFailed
}

/// Why a worker could not start.
package enum WorkerFailure: Error, Sendable {
    case listen(SocketAddress, IOFailure)
    case internalError(String)
}
