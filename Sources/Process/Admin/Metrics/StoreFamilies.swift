import Assembly
import Basics
import Gateway

// The store in which replicas share their rate limits; nothing without one.
extension MetricsWriter {
    mutating func writeStore(_ workers: [WorkerReport]) {
        let states = workers.filter { $0.snapshot?.store != nil }
        guard !states.isEmpty else { return }
        family(
            "tributary_store_up", .gauge,
            "1 if the worker uses the store; 0 while it is down, so that limits are local.")
        for report in states where report.isUp {
            guard let store = report.snapshot?.store else { continue }
            sample(MetricLabels("worker", "\(report.worker)"), store.isUp ? 1 : 0)
        }
        var sum = StoreCounts()
        for report in states {
            guard let store = report.snapshot?.store else { continue }
            sum.decided += store.counts.decided
            sum.failed += store.counts.failed
            sum.dropped += store.counts.dropped
        }
        family(
            "tributary_store_requests_total", .counter,
            "Requests whose limits were sent to the store, by result.")
        sample(MetricLabels("result", "decided"), sum.decided)
        sample(MetricLabels("result", "failed"), sum.failed)
        family(
            "tributary_store_sync_dropped_total", .counter,
            "Uses of limits with sync that were not sent to the store, since too many keys waited.")
        sample(sum.dropped)
    }
}
