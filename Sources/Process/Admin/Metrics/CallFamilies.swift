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
        writeLists(calls.compactMap { call in call.counts.lists.map { (call.labels, $0) } })
    }

    /// Nothing without calls that have lists.
    private mutating func writeLists(_ lists: [(labels: MetricLabels, counts: ListMetrics)]) {
        guard !lists.isEmpty else { return }
        family("tributary_list_elements", .histogram, "Elements of the lists of calls.")
        for (labels, counts) in lists { histogram(labels, counts.elements) }
        family(
            "tributary_list_elements_shared_total", .counter,
            "Elements that shared the request of another element.")
        for (labels, counts) in lists { sample(labels, counts.shared) }
        family(
            "tributary_list_elements_truncated_total", .counter,
            "Elements that were left out, because a list was too long.")
        for (labels, counts) in lists { sample(labels, counts.truncated) }
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
