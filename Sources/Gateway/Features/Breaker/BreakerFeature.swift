/// `breaker` of a backend: stops calling a backend that fails too often.
enum BreakerFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(backend: BreakerKeys.backend) }
}
