import Assembly
import Basics
import Gateway

// Calls by backend, or with `metrics.per_call` by endpoint and call.
extension MetricsWriter {
    mutating func writeCalls(_ calls: [CallMetrics]) {
        let calls = calls.map { (labels: $0.labels.metricLabels, counts: $0) }
        family(
            "tributary_calls_total", .counter,
            "Calls to backends, by outcome and class of the status.")
        for (labels, counts) in calls {
            for outcome in counts.outcomes {
                let labels = labels.adding("outcome", outcome.name)
                sample(
                    outcome.status.isEmpty ? labels : labels.adding("status", outcome.status),
                    outcome.count)
            }
        }
        family(
            "tributary_call_duration_seconds", .histogram,
            "Time from the request of a call to its outcome, in seconds, with waits and retries."
                + " Without cancelled calls.")
        for (labels, counts) in calls { histogram(labels, counts.durations) }
        family("tributary_retries_total", .counter, "Attempts that repeated a failed one.")
        for (labels, counts) in calls { sample(labels, counts.retries) }
        family(
            "tributary_hedges_total", .counter,
            "Second requests of hedged calls, by the attempt whose response decided.")
        for (labels, counts) in calls {
            for winner in CallMetrics.HedgeWinner.allCases {
                sample(labels.adding("winner", winner.name), counts[winner])
            }
        }
    }
}

extension CallMetrics.HedgeWinner {
    fileprivate var name: String {
        switch self {
        case .first: "first"
        case .hedge: "hedge"
        case .none: "none"
        }
    }
}

extension CallLabels {
    fileprivate var metricLabels: MetricLabels {
        var labels = MetricLabels("backend", backend)
        if let endpoint { labels = labels.adding("endpoint", endpoint) }
        if let call { labels = labels.adding("call", call) }
        return labels
    }
}
