import Gateway

/// The state of one worker, for a page of the admin server.
package struct WorkerReport: Sendable {
    /// The worker's number.
    package let worker: Int
    /// Whether its snapshot came in time.
    package let isUp: Bool
    /// How long a heartbeat has been unanswered.
    package let heartbeatAge: Duration
    /// Its snapshot; nil if it never delivered one. For a worker that is not up, the counters of
    /// its last snapshot: a decreasing sum of counters would look like a restart.
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
    /// The counters, with every gauge set to zero and no requests.
    fileprivate var countersOnly: WorkerSnapshot {
        var counters = WorkerSnapshot(
            meter: meter, backends: [], connections: 0, bufferedBytes: 0,
            descriptorShortages: descriptorShortages, requests: [])
        counters.losses = losses
        counters.listeners = listeners.map(\.countersOnly)
        counters.loopIterations = loopIterations
        counters.store = store
        counters.tls = tls
        counters.tls?.inProgress = 0
        counters.endpointLoads = endpointLoads.map(\.countersOnly)
        counters.authResults = authResults.map(\.countersOnly)
        counters.limitUsages = limitUsages
        return counters
    }
}
