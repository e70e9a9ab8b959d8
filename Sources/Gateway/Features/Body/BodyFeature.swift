/// `body` of an endpoint: the subset of JSON Schema that a client's body must satisfy.
enum BodyFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(endpoint: BodyKeys.endpoint) }

    static func check(_ check: inout ConfigCheck) {
        for endpoint in check.config.endpoints { check.checkBody(of: endpoint) }
    }
}
