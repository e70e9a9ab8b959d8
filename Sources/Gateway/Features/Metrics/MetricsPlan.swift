/// `metrics:`
package struct MetricsPlan: Sendable, Equatable {
    /// Whether calls are counted by endpoint and call, and not only by backend.
    package let perCall: Bool

    init(_ metrics: Config.Metrics?) {
        perCall = metrics?.perCall?.value ?? PlanDefaults.metricsPerCall
    }
}
