package import Reactor

/// What a worker gets at its start. All of it may cross to the worker's thread.
package struct WorkerSetup: Sendable {
    /// The worker's number, from 0.
    package let index: Int
    /// How many workers the process has, this one among them.
    package let workers: Int
    package let shared: Shared
    package let control: any MessageInbox<ControlMessage>
    /// Receives whole lines of the log, each with its line end.
    package let log: any MessageInbox<[UInt8]>
    let heartbeat = HeartbeatAnswer()

    package init(
        index: Int, of workers: Int, shared: Shared, control: any MessageInbox<ControlMessage>,
        log: any MessageInbox<[UInt8]>
    ) {
        self.index = index
        self.workers = workers
        self.shared = shared
        self.control = control
        self.log = log
    }

    /// Called by the worker for a heartbeat that it received.
    package func answerHeartbeat(_ number: UInt64) { heartbeat.number = number }

    /// Reports to the control loop.
    package func report(_ event: WorkerEvent) {
        // Without a control loop the process ends, and a report is of no use.
        control.post(ControlMessage(worker: index, event))
    }
}
