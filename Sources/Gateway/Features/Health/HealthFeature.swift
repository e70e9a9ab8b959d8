/// `health` of a backend: checks of its hosts that the gateway itself makes.
enum HealthFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(backend: HealthKeys.backend) }
}
