package import Reactor

/// One worker on the side of the control loop, which owns the handle and sends messages without
/// waiting for the worker.
package final class WorkerHandle {
    /// Its number, from 0.
    package let index: Int

    /// Whether it has ended and no longer receives messages.
    package var hasEnded = false

    private let inbox: any MessageInbox<WorkerMessage>
    private let heartbeat: HeartbeatAnswer

    package init(_ setup: WorkerSetup, inbox: any MessageInbox<WorkerMessage>) {
        index = setup.index
        heartbeat = setup.heartbeat
        self.inbox = inbox
    }

    /// Sends a message; false if the worker will never receive it, because its loop has ended.
    @discardableResult
    package func send(_ message: WorkerMessage) -> Bool { inbox.post(message) }

    /// The last heartbeat that the worker answered.
    var answeredHeartbeat: UInt64 { heartbeat.number }
}
