import YAMLReader

extension Config.Metrics: PlainBlock {
    static let keys: [BlockKey<Config.Metrics>] = [
        .value(
            "per_call", \.perCall, .flag, default: .flag(PlanDefaults.metricsPerCall),
            "whether calls are counted by endpoint and call, and not only by backend")
    ]
}
