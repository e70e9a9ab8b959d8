import Basics
import Gateway
import HTTP
import HTTPServer
import Promises
import Reactor

/// The metrics of all workers in Prometheus' text format (exposition format 0.0.4).
package struct MetricsPage {
    private var text = ""

    /// The number of reloads, by result.
    package struct Reloads: Sendable {
        package var succeeded = 0
        package var failed = 0

        package init() {}
    }

    /// The process's file descriptors.
    package struct Descriptors: Sendable {
        package let limit: Int
        /// Nil where the system does not report it.
        package let open: Int?

        package init(limit: Int, open: Int?) {
            self.limit = limit
            self.open = open
        }
    }

    /// - Parameters:
    ///   - workers: one report of each running worker
    ///   - logLinesDropped: since the start of the process
    package static func text(
        version: String, workers: [WorkerReport], reloads: Reloads, logLinesDropped: Int,
        descriptors: Descriptors, spans: SpanCounts = SpanCounts()
    ) -> String {
        var page = MetricsPage()
        let snapshots = workers.compactMap(\.snapshot)
        page.family(
            "tributary_build_info", "gauge", "Version of this build; the value is always 1.")
        page.sample("tributary_build_info", [("version", version)], "1")
        page.family("tributary_workers", "gauge", "Number of workers (event loops).")
        page.sample("tributary_workers", [], "\(workers.count)")
        page.health(workers)
        page.family(
            "tributary_config_reloads_total", "counter", "Reloads of the configuration, by result.")
        page.sample(
            "tributary_config_reloads_total", [("result", "succeeded")], "\(reloads.succeeded)")
        page.sample("tributary_config_reloads_total", [("result", "failed")], "\(reloads.failed)")
        page.family(
            "tributary_log_lines_dropped_total", "counter",
            "Log lines that were not written because their queue was full or writing failed.")
        page.sample("tributary_log_lines_dropped_total", [], "\(logLinesDropped)")
        page.spans(spans)
        page.connections(snapshots)
        page.memory(snapshots)
        page.descriptors(descriptors, snapshots)
        page.requests(snapshots)
        page.backends(snapshots)
        return page.text
    }

    private mutating func health(_ workers: [WorkerReport]) {
        family(
            "tributary_worker_up", "gauge",
            "1 if the worker delivered its metrics for this page; otherwise its gauges are missing"
                + " and its counters keep their last known values.")
        for report in workers {
            sample(
                "tributary_worker_up", [("worker", "\(report.worker)")], report.isUp ? "1" : "0")
        }
        family(
            "tributary_worker_heartbeat_age_seconds", "gauge",
            "Time for which the worker has not answered a heartbeat; 0 while it answers.")
        for report in workers {
            sample(
                "tributary_worker_heartbeat_age_seconds", [("worker", "\(report.worker)")],
                "\(report.heartbeatAge.inMilliseconds / 1000)")
        }
    }

    private mutating func spans(_ counts: SpanCounts) {
        family(
            "tributary_spans_exported_total", "counter", "Spans that the collector has accepted.")
        sample("tributary_spans_exported_total", [], "\(counts.exported)")
        family("tributary_spans_dropped_total", "counter", "Spans that were lost, by reason.")
        for loss in SpanCounts.Loss.allCases {
            sample(
                "tributary_spans_dropped_total", [("reason", loss.rawValue)], "\(counts[loss])")
        }
    }

    private mutating func connections(_ snapshots: [WorkerSnapshot]) {
        family("tributary_client_connections", "gauge", "Open client connections.")
        sample("tributary_client_connections", [], "\(snapshots.reduce(0) { $0 + $1.connections })")
        family(
            "tributary_requests_in_flight", "gauge",
            "Requests whose response has not been sent yet.")
        sample(
            "tributary_requests_in_flight", [], "\(snapshots.reduce(0) { $0 + $1.requests.count })")
    }

    private mutating func memory(_ snapshots: [WorkerSnapshot]) {
        family(
            "tributary_buffered_bytes", "gauge",
            "Memory in use for requests and connections, in bytes.")
        sample("tributary_buffered_bytes", [], "\(snapshots.reduce(0) { $0 + $1.bufferedBytes })")
    }

    /// The first two have the names that Prometheus' client libraries use in every process.
    private mutating func descriptors(_ process: Descriptors, _ snapshots: [WorkerSnapshot]) {
        if let open = process.open {
            family("process_open_fds", "gauge", "Open file descriptors.")
            sample("process_open_fds", [], "\(open)")
        }
        family("process_max_fds", "gauge", "Limit on open file descriptors.")
        sample("process_max_fds", [], "\(process.limit)")
        var shortages = DescriptorShortages()
        for snapshot in snapshots { shortages.add(snapshot.descriptorShortages) }
        let name = "tributary_file_descriptors_exhausted_total"
        family(
            name, "counter",
            "How often a lack of file descriptors paused accepting or prevented a connection.")
        sample(name, [("operation", "accept")], "\(shortages.accepts)")
        sample(name, [("operation", "connect")], "\(shortages.connects)")
    }

    private mutating func requests(_ snapshots: [WorkerSnapshot]) {
        var sum = WorkerMetrics(endpointNames: [])
        for snapshot in snapshots { sum.add(snapshot.meter) }
        let endpoints = sum.endpoints + [sum.elsewhere]
        family("tributary_requests_total", "counter", "Responses, by endpoint and status.")
        for endpoint in endpoints {
            for (code, count) in endpoint.statuses {
                sample(
                    "tributary_requests_total",
                    [("endpoint", endpoint.name), ("status", Self.label(ofStatus: code))],
                    "\(count)")
            }
        }
        family(
            "tributary_request_duration_seconds", "histogram",
            "Time from the head of a request to its response, in seconds.")
        for endpoint in endpoints where !endpoint.statuses.isEmpty {
            histogram("tributary_request_duration_seconds", endpoint)
        }
    }

    /// A request that the end of a drain cut off has no status.
    private static func label(ofStatus code: UInt16) -> String {
        code == ServerHooks.ExchangeEnd.cutOff ? "cut_off" : "\(code)"
    }

    private mutating func histogram(_ name: String, _ endpoint: WorkerMetrics.Endpoint) {
        var count = 0
        for (index, bound) in Histogram.bounds.enumerated() {
            count += endpoint.durations.counts[index]
            sample(
                name + "_bucket",
                [("endpoint", endpoint.name), ("le", "\(Double(bound) / 1_000_000)")], "\(count)")
        }
        count += endpoint.durations.counts[Histogram.bounds.count]
        sample(name + "_bucket", [("endpoint", endpoint.name), ("le", "+Inf")], "\(count)")
        sample(
            name + "_sum", [("endpoint", endpoint.name)],
            "\(Double(endpoint.durations.sum) / 1_000_000)")
        sample(name + "_count", [("endpoint", endpoint.name)], "\(count)")
    }

    private mutating func backends(_ snapshots: [WorkerSnapshot]) {
        let names = snapshots.first?.backends.map(\.name) ?? []
        func states(_ name: String) -> [BackendState] {
            snapshots.flatMap { $0.backends.filter { $0.name == name } }
        }
        family("tributary_calls_total", "counter", "Calls to backends, by outcome.")
        for name in names {
            var outcomes: [(name: String, count: Int)] = []
            for outcome in states(name).flatMap(\.outcomes) {
                if let index = outcomes.firstIndex(where: { $0.name == outcome.name }) {
                    outcomes[index].count += outcome.count
                } else {
                    outcomes.append(outcome)
                }
            }
            for outcome in outcomes {
                sample(
                    "tributary_calls_total", [("backend", name), ("outcome", outcome.name)],
                    "\(outcome.count)")
            }
        }
        gauge("tributary_backend_connections", "Open connections to backends.", names) {
            states($0).reduce(0) { $0 + $1.connections }
        }
        gauge(
            "tributary_calls_waiting",
            "Calls in the queue of the concurrency limit (bulkhead) of a backend.", names
        ) {
            states($0).reduce(0) { $0 + $1.waiting }
        }
        gauge(
            "tributary_breakers_open", "Workers whose circuit breaker for the backend is open.",
            names
        ) {
            states($0).count { $0.isOpen }
        }
        gauge(
            "tributary_hosts_left_out",
            "Hosts that are ejected (outlier detection) or unhealthy (health checks), summed over"
                + " workers.", names
        ) {
            states($0).reduce(0) { $0 + $1.unavailableHosts }
        }
    }

    private mutating func gauge(
        _ name: String, _ help: String, _ backends: [String], _ value: (String) -> Int
    ) {
        family(name, "gauge", help)
        for backend in backends { sample(name, [("backend", backend)], "\(value(backend))") }
    }

    private mutating func family(_ name: String, _ type: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    private mutating func sample(_ name: String, _ labels: [(String, String)], _ value: String) {
        let list = labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
        text += name + (list.isEmpty ? "" : "{\(list)}") + " \(value)\n"
    }

    /// Escapes backslashes, quotes and line ends.
    private static func escaped(_ value: String) -> String {
        var text = ""
        for character in value {
            switch character {
            case "\\": text += #"\\"#
            case "\"": text += #"\""#
            case "\n": text += #"\n"#
            default: text.append(character)
            }
        }
        return text
    }
}

/// The page of the metrics.
extension AdminPages {
    static func metrics(_ pages: AdminPages, _: Request, _ exchange: Exchange) -> LocalPromise<
        AdminResponse
    > {
        pages.process.monitor.reports().map { [process = pages.process] workers in
            let facts = process.facts
            return .text(
                .ok,
                MetricsPage.text(
                    version: facts.version, workers: workers, reloads: facts.reloads,
                    logLinesDropped: facts.logLinesDropped, descriptors: facts.descriptors,
                    spans: facts.spans))
        }
    }
}
