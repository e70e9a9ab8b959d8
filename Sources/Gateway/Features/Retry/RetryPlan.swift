/// `retry:`
package struct RetryPlan {
    /// All attempts, including the first.
    package let attempts: Int
    let onConnect: Bool
    let onTerminated: Bool
    let statuses: [Int]
    let backoff: Duration

    init(_ retry: Config.Call.Retry) {
        let conditions = retry.on?.value ?? PlanDefaults.retryOn
        attempts = retry.attempts?.value ?? PlanDefaults.retryAttempts
        onConnect = conditions.contains(.connect)
        onTerminated = conditions.contains(.terminated)
        statuses = conditions.compactMap { if case .status(let code) = $0 { code } else { nil } }
        backoff = retry.backoff?.value ?? PlanDefaults.retryBackoff
    }
}
