/// `max_concurrent` and `queue` of a backend: limits the calls in progress (bulkhead).
enum ConcurrencyLimitFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(backend: ConcurrencyLimitKeys.backend) }

    static func check(_ check: inout ConfigCheck) {
        for backend in check.config.backends { check.checkQueue(of: backend) }
    }
}
