/// `eject` of a backend: outlier detection, which removes a failing host from load balancing for a time.
enum EjectFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(backend: EjectKeys.backend) }

    static func check(_ check: inout ConfigCheck) {
        for backend in check.config.backends { check.checkEject(of: backend) }
    }
}
