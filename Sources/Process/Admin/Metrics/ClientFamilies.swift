import Assembly
import Gateway
import HTTP
import HTTPServer
import Reactor

// The side of the clients: what is in use of each limit, and what was refused or dropped.
extension MetricsWriter {
    /// - Parameter endpoints: the endpoints that requests have used
    mutating func writeClients(_ snapshots: [WorkerSnapshot], endpoints: Set<String>) {
        var limits = ServerLimits()
        for snapshot in snapshots { limits.add(snapshot.limits) }
        usage(
            "tributary_client_connections", "Open client connections.",
            snapshots.reduce(0) { $0 + $1.connections }, limits.connections)
        writeListeners(snapshots)
        usage(
            "tributary_requests_in_flight",
            "Requests whose body is complete and whose response is not.",
            snapshots.reduce(0) { $0 + $1.requestsInFlight }, limits.requestsInFlight)
        usage(
            "tributary_buffered_bytes", "Memory in use for requests and connections, in bytes.",
            snapshots.reduce(0) { $0 + $1.bufferedBytes }, limits.bufferedBytes)
        writeStreams(snapshots, endpoints, limit: limits.streams)
    }

    private mutating func writeListeners(_ snapshots: [WorkerSnapshot]) {
        var sums: [ListenerUsage] = []
        sums.merge(snapshots.flatMap(\.listeners), by: \.name) {
            $0.connections.add($1.connections)
        }
        let listeners = sums.map { (MetricLabels("listener", $0.name), $0.connections) }
        family(
            "tributary_listener_connections", .gauge, "Open client connections, by listener.")
        for (labels, connections) in listeners { sample(labels, connections.open) }
        family(
            "tributary_listener_connections_accepted_total", .counter,
            "Client connections that were accepted, by listener.")
        for (labels, connections) in listeners { sample(labels, connections.accepted) }
    }

    mutating func writeVersions(_ counts: WorkerMetrics) {
        family(
            "tributary_client_requests_total", .counter, "Requests of clients, by version of HTTP.")
        for version in HTTPVersion.allCases {
            sample(MetricLabels("version", "\(version.text)"), counts[version])
        }
    }

    private mutating func writeStreams(
        _ snapshots: [WorkerSnapshot], _ endpoints: Set<String>, limit: Int
    ) {
        var sums: [EndpointStreams] = []
        for streams in snapshots.flatMap(\.streams) { sums.add(streams) }
        sums.removeAll { streams in
            !endpoints.contains(streams.endpoint)
                && StreamKind.allCases.allSatisfy { streams[$0] == 0 }
        }
        family(
            "tributary_streams", .gauge,
            "Responses that are streamed, behind their heads, and tunnels, by endpoint.")
        for streams in sums {
            for kind in StreamKind.allCases {
                sample(
                    MetricLabels("endpoint", streams.endpoint).adding("kind", kind.name),
                    streams[kind])
            }
        }
        family("tributary_streams_limit", .gauge, "Limit on the sum of tributary_streams.")
        sample(limit)
    }

    /// A resource and its limit, over all workers.
    mutating func usage(_ name: String, _ help: String, _ used: Int, _ limit: Int) {
        family(name, .gauge, help)
        sample(used)
        family("\(name)_limit", .gauge, "Limit on \(name).")
        sample(limit)
    }

    mutating func writeLosses(_ snapshots: [WorkerSnapshot]) {
        var losses = ServerLosses()
        for snapshot in snapshots { losses.add(snapshot.losses) }
        family(
            "tributary_refused_total", .counter,
            "Requests, and input that did not become one, that were refused, by reason.")
        for refusal in ServerLosses.Refusal.allCases {
            sample(MetricLabels("reason", "\(refusal.name)"), losses[refusal])
        }
        sample(
            MetricLabels("reason", "max_in_flight"),
            snapshots.reduce(0) { $0 + $1.endpointLoads.reduce(0) { $0 + $1.refusals } })
        // `tributary_auth_total` counts refused credentials.
        for reason in RefusalReason.allCases where !reason.concernsCredential {
            sample(
                MetricLabels("reason", "\(reason.name)"),
                snapshots.reduce(0) { $0 + $1.meter.refusals[reason] })
        }
        family(
            "tributary_connections_shed_total", .counter,
            "Client connections that were closed to keep others, by reason.")
        for shedding in ServerLosses.Shedding.allCases {
            sample(MetricLabels("reason", shedding.name), losses[shedding])
        }
        var shortages = DescriptorShortages()
        for snapshot in snapshots { shortages.add(snapshot.descriptorShortages) }
        family(
            "tributary_file_descriptors_exhausted_total", .counter,
            "How often a lack of file descriptors paused accepting or prevented a connection.")
        sample(MetricLabels("operation", "accept"), shortages.accepts)
        sample(MetricLabels("operation", "connect"), shortages.connects)
    }
}

extension StreamKind {
    fileprivate var name: String {
        switch self {
        case .response: "response"
        case .tunnel: "tunnel"
        }
    }
}

extension ServerLosses.Shedding {
    fileprivate var name: String {
        switch self {
        case .idle: "idle"
        case .unread: "unread"
        case .waiting: "waiting"
        case .flood: "flood"
        }
    }
}
