/// `respond` of an endpoint: what its response has in addition to the parts of the calls, or, without calls, the
/// whole response.
enum RespondFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(endpoint: RespondKeys.endpoint) }

    static func check(_ check: inout ConfigCheck) {
        for endpoint in check.config.endpoints { check.checkRespond(of: endpoint) }
    }
}
