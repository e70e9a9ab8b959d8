/// `proxy` of an endpoint: passes its requests and their bodies through to a backend, instead of calls.
enum ProxyFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(endpoint: ProxyKeys.endpoint) }

    static func check(_ check: inout ConfigCheck) {
        for endpoint in check.config.endpoints { check.checkProxy(of: endpoint) }
    }
}
