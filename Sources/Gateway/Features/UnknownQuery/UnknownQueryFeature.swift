/// `unknown_query` of an endpoint: what happens to query parameters that nothing uses.
enum UnknownQueryFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(endpoint: UnknownQueryKeys.endpoint) }

    static func check(_ check: inout ConfigCheck) {
        for endpoint in check.config.endpoints { check.checkUnknownQuery(of: endpoint) }
    }
}
