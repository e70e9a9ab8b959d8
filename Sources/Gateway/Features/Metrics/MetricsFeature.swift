/// `metrics`: the labels of the metrics of calls.
enum MetricsFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(root: MetricsKeys.root) }
}
