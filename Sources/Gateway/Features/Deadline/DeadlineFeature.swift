/// `deadline` of endpoints and `timeout` of calls, and their defaults: how long a request and each of its calls may take.
enum DeadlineFeature: Feature {
    static var keys: FeatureKeys {
        FeatureKeys(
            defaults: DeadlineKeys.defaults, endpoint: DeadlineKeys.endpoint,
            call: DeadlineKeys.call)
    }

    static func check(_ check: inout ConfigCheck) {
        for endpoint in check.config.endpoints { check.checkDurations(of: endpoint) }
    }
}
