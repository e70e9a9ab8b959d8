package import Reactor

/// A message from a worker to the control loop.
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
/// An answered heartbeat has no case: the control loop reads its number from an atomic
/// (`HeartbeatAnswer`).
package enum WorkerEvent: Sendable {
    /// It accepts connections.
    case listening
    /// It could not start.
    case failed(WorkerFailure)
    /// It has ended; its loop force-closed these open handles.
    case ended(openHandles: [String])
    case snapshot(WorkerSnapshot)
    /// Sampled requests that have ended.
    case traced([TracedRequest])
    /// What it recorded about requests that have ended.
    case recent(RecentAnswer)
}

/// Why a worker could not start.
package enum WorkerFailure: Error, Sendable {
    case listen(SocketAddress, IOFailure)
    case internalError(String)
}
