import Assembly
import Gateway

// Attempts by host, and what was sent to each backend and received from it.
extension MetricsWriter {
    mutating func writeHosts(_ hosts: [HostMetrics]) {
        family(
            "tributary_attempts_total", .counter,
            "Attempts of calls that were handed to a host, by host and outcome.")
        for host in hosts {
            let labels = MetricLabels("backend", host.labels.backend)
                .adding("host", host.labels.host)
            sample(labels.adding("outcome", "ok"), host.succeeded)
            sample(labels.adding("outcome", "failed"), host.failed)
            sample(labels.adding("outcome", "cancelled"), host.cancelled)
        }
        // In the order of the hosts.
        var backends: [HostMetrics] = []
        backends.merge(hosts, by: \.labels.backend) { $0.add($1) }
        let families: [(String, String, KeyPath<HostMetrics, Int>)] = [
            (
                "tributary_backend_connections_opened_total",
                "Connections to backends that got their first request.", \.connectionsOpened
            ),
            (
                "tributary_backend_received_bytes_total",
                "Bodies of responses of backends, in bytes.", \.bytesReceived
            ),
            (
                "tributary_backend_sent_bytes_total",
                "Bodies of requests to backends, in bytes.", \.bytesSent
            ),
        ]
        for (name, help, count) in families {
            family(name, .counter, help)
            for sum in backends {
                sample(MetricLabels("backend", sum.labels.backend), sum[keyPath: count])
            }
        }
    }
}
