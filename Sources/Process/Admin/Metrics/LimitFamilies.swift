import Gateway

// The rate limits, and the table in which they count.
extension MetricsWriter {
    /// - Parameter workers: the counts of each worker
    mutating func writeLimits(_ workers: [[LimitUsage]], _ cells: ProcessFacts.LimitCellFacts) {
        family(
            "tributary_rate_limit_total", .counter,
            "Requests that a rate limit granted or refused, and granted ones that another limit refused."
        )
        for usage in Self.sum(workers) {
            let labels = MetricLabels("limit", usage.name)
            sample(labels.adding("result", "granted"), usage.granted)
            sample(labels.adding("result", "refused"), usage.refused)
            sample(labels.adding("result", "refunded"), usage.refunded)
        }
        self.usage(
            "tributary_rate_limit_keys",
            "Keys of rate limits that have used a part of their burst.",
            cells.keys, cells.keysMax)
        family(
            "tributary_rate_limit_keys_dropped_total", .counter,
            "Keys whose requests were forgotten for lack of room.")
        sample(cells.keysDropped)
    }

    /// By name: during a reload, the workers may have different limits.
    private static func sum(_ workers: [[LimitUsage]]) -> [LimitUsage] {
        workers.joined().reduce(into: []) { sum, usage in
            if let index = sum.firstIndex(where: { $0.name == usage.name }) {
                sum[index] = sum[index].adding(usage)
            } else {
                sum.append(usage)
            }
        }
    }
}
