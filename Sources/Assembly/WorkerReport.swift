import Gateway

/// What the control loop knows of one worker, for a page of the admin server.
package struct WorkerReport: Sendable {
    /// The worker's number.
    package let worker: Int
    /// Whether its snapshot came in time.
    package let isUp: Bool
    /// How long it has owed an answer to a heartbeat.
    package let heartbeatAge: Duration
    /// Its snapshot. Of a worker that is not up, the counters of its last one: a sum of counters
    /// that shrank would look like a restart. Nil if it never delivered one.
    package let snapshot: WorkerSnapshot?

    package init(
        worker: Int, isUp: Bool, heartbeatAge: Duration, snapshot: WorkerSnapshot?
    ) {
        self.worker = worker
        self.isUp = isUp
        self.heartbeatAge = heartbeatAge
        self.snapshot = isUp ? snapshot : snapshot?.countersOnly
    }
}

extension WorkerSnapshot {
    /// Without what was only true at its moment.
    fileprivate var countersOnly: WorkerSnapshot {
        WorkerSnapshot(
            meter: meter, backends: backends.map(\.countersOnly), connections: 0, bufferedBytes: 0,
            requests: [])
    }
}
