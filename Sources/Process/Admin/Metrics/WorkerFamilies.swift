import Assembly
import Basics

// The workers: whether they answer, and how long their loops are busy.
extension MetricsWriter {
    mutating func writeWorkers(_ workers: [WorkerReport]) {
        family("tributary_workers", .gauge, "Number of workers (event loops).")
        sample(workers.count)
        family(
            "tributary_worker_up", .gauge,
            "1 if the worker delivered its metrics for this page; otherwise its gauges are missing"
                + " and its counters keep their last known values.")
        for report in workers { sample(report.labels, report.isUp ? 1 : 0) }
        family(
            "tributary_worker_heartbeat_age_seconds", .gauge,
            "Time for which the worker has not answered a heartbeat; 0 while it answers.")
        for report in workers { sample(report.labels, report.heartbeatAge.inMilliseconds / 1000) }
        family(
            "tributary_loop_iteration_seconds", .histogram,
            "Duration of an iteration of the worker's event loop, without the wait for events.")
        for report in workers {
            guard let snapshot = report.snapshot else { continue }
            histogram(report.labels, snapshot.loopIterations)
        }
    }
}

extension WorkerReport {
    fileprivate var labels: MetricLabels { MetricLabels("worker", "\(worker)") }
}
