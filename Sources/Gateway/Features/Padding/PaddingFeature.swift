/// `min_duration` and `round_up_to` of an endpoint: the time of a response reveals nothing.
enum PaddingFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(endpoint: PaddingKeys.endpoint) }

    static func check(_ check: inout ConfigCheck) {
        for endpoint in check.config.endpoints { check.checkPadding(of: endpoint) }
    }
}
