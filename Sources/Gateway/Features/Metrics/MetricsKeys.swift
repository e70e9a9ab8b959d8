package import YAMLReader

extension Config {
    /// `metrics:`
    package struct Metrics: Sendable {
        package let location: SourceLocation
        package var perCall: Located<Bool>?

        init(location: SourceLocation) {
            self.location = location
        }
    }
}

enum MetricsKeys {
    static let root: [BlockKey<Config>] = [
        .block("metrics", \.metrics, "labels of the metrics of calls")
    ]
}

extension Config.Metrics: PlainBlock {
    static let keys: [BlockKey<Config.Metrics>] = [
        .value(
            "per_call", \.perCall, .flag, default: .flag(PlanDefaults.metricsPerCall),
            "whether calls are counted by endpoint and call, and not only by backend")
    ]
}
