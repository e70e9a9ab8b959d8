/// `max_concurrent` and `queue`, for one worker.
struct ConcurrencyLimitPlan: Equatable {
    let concurrentMax: Int
    /// Calls that may wait for a permit; 0 refuses at once.
    let queueMax: Int
    let wait: Duration
}

extension ConcurrencyLimitPlan {
    /// Nil without `max_concurrent`.
    ///
    /// - Parameter share: one worker's share of a number for the whole process
    init?(_ backend: Config.Backend, share: (Int) -> Int) {
        guard let concurrent = backend.maxConcurrent?.value else { return nil }
        self.init(
            concurrentMax: share(concurrent),
            queueMax: backend.queue?.size.map { share($0.value) } ?? 0,
            wait: backend.queue?.wait?.value ?? PlanDefaults.queueWait)
    }
}
