/// `paths` of endpoints and `defaults`: what happens to paths that servers read in different ways.
enum PathsFeature: Feature {
    static var keys: FeatureKeys {
        FeatureKeys(defaults: Config.Defaults.pathsKeys, endpoint: Config.Endpoint.pathsKeys)
    }

    static func check(_ check: inout ConfigCheck) { check.checkPaths() }
}
