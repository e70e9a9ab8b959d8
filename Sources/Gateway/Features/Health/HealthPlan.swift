import HTTP

/// `health:`
struct HealthPlan {
    let target: Target
    let every: Duration
    /// Whether the process is not ready while no host is healthy.
    let isRequiredForReadiness: Bool

    /// Of one check: at most the time to the next check, so that checks never overlap.
    var timeout: Duration { min(every, PlanDefaults.healthTimeout) }

    /// The response is not read, but its length must be limited.
    static let responseBytesMax = 64 << 10

    /// Nil without checks.
    init?(_ keys: Config.Backend.Health?) throws(PlanError) {
        guard let keys, let path = keys.path else { return nil }
        guard let target = Target(path.value) else {
            throw PlanError("\(path.location): not a request target")
        }
        self.target = target
        every = keys.every?.value ?? PlanDefaults.healthEvery
        isRequiredForReadiness = keys.readiness?.value ?? false
    }
}
