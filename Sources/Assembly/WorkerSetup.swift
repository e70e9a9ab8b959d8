package import Reactor

/// What a worker receives at its start. All of it may cross to the worker's thread.
package struct WorkerSetup: Sendable {
    /// The worker's number, from 0.
    package let index: Int
    /// The number of workers of the process.
    package let workers: Int
    package let shared: SharedResources
    package let control: any MessageInbox<ControlMessage>
    /// Receives complete log lines, each with its line end.
    package let log: any MessageInbox<[UInt8]>
    let heartbeat = HeartbeatAnswer()

    package init(
        index: Int, of workers: Int, shared: SharedResources,
        control: any MessageInbox<ControlMessage>,
        log: any MessageInbox<[UInt8]>
    ) {
        self.index = index
        self.workers = workers
        self.shared = shared
        self.control = control
        self.log = log
    }

    /// The worker calls this for a heartbeat that it received.
    package func answerHeartbeat(_ number: UInt64) { heartbeat.number = number }

    /// Reports to the control loop.
    package func report(_ event: WorkerEvent) {
        // Without a control loop the process is ending, so a lost report does not matter.
        control.post(ControlMessage(worker: index, event))
    }
}
