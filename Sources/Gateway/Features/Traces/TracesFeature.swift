/// `traces`: the collector that receives the spans of requests.
enum TracesFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(root: TracesKeys.root) }

    static func check(_ check: inout ConfigCheck) { check.checkTraces() }
}
