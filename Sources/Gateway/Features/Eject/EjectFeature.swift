/// `eject` of a backend: outlier detection, which removes a failing host from load balancing for a time.
enum EjectFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(backend: Config.Backend.Eject.backend) }

    static func check(_ check: inout ConfigCheck) {
        for backend in check.config.backends {
            check.warn("eject", at: backend.eject?.location, needsHostsOf: backend)
        }
    }
}
