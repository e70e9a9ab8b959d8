/// `max_concurrent` and `queue` of a backend: limits the calls in progress (bulkhead).
enum ConcurrencyLimitFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(backend: Config.Backend.Queue.backend) }

    static func check(_ check: inout ConfigCheck) {
        for backend in check.config.backends {
            guard let queue = backend.queue, backend.maxConcurrent == nil,
                check.isRead("max_concurrent", of: backend.location)
            else { continue }
            check.problems.warning(
                at: queue.location, "'queue' has no effect without 'max_concurrent'")
        }
    }
}
