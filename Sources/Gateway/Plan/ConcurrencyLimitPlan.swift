/// `max_concurrent` and `queue`, for one worker.
struct ConcurrencyLimitPlan: Equatable {
    let concurrentMax: Int
    /// Calls that may wait for a permit; 0 refuses at once.
    let queueMax: Int
    let wait: Duration
}
