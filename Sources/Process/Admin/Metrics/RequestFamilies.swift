import Assembly
import Basics
import Gateway
import HTTPServer

// Requests by endpoint: rate, errors, durations, the gateway's own time, limits.
extension MetricsWriter {
    mutating func writeRequests(_ endpoints: [EndpointMetrics]) {
        let endpoints = endpoints.map { (labels: MetricLabels("endpoint", $0.name), counts: $0) }
        family("tributary_requests_total", .counter, "Responses, by endpoint and status.")
        for (labels, counts) in endpoints {
            for (code, count) in counts.statuses {
                sample(labels.adding("status", Self.label(ofStatus: code)), count)
            }
        }
        family(
            "tributary_requests_partial_total", .counter,
            "Responses that lack parts of calls that failed.")
        for (labels, counts) in endpoints { sample(labels, counts.partial) }
        family(
            "tributary_endpoint_received_bytes_total", .counter,
            "Bodies of requests, in bytes, by endpoint.")
        for (labels, counts) in endpoints { sample(labels, counts.bytesReceived) }
        family(
            "tributary_endpoint_sent_bytes_total", .counter,
            "Bodies of responses, in bytes, by endpoint.")
        for (labels, counts) in endpoints { sample(labels, counts.bytesSent) }
        family(
            "tributary_request_duration_seconds", .histogram,
            "Time from the head of a request to the last byte of its response, in seconds.")
        for (labels, counts) in endpoints { histogram(labels, counts.durations) }
        family(
            "tributary_request_own_seconds", .histogram,
            "The gateway's own time for a request, in seconds: no call was in progress, and nothing"
                + " was awaited.")
        for (labels, counts) in endpoints { histogram(labels, counts.ownTimes) }
        family(
            "tributary_request_first_part_seconds", .histogram,
            "Time from the head of a request to the head of its response, in seconds, of responses"
                + " that are sent in parts.")
        for (labels, counts) in endpoints {
            if let times = counts.firstParts { histogram(labels, times) }
        }
    }

    /// A request that the end of a drain cut off has no status.
    private static func label(ofStatus code: UInt16) -> String {
        code == ServerHooks.ExchangeEnd.cutOff ? "cut_off" : "\(code)"
    }

    /// - Parameters:
    ///   - workers: the endpoints of each worker
    ///   - used: the names of the endpoints that requests have used
    mutating func writeEndpoints(_ workers: [[EndpointLoad]], used: Set<String>) {
        let endpoints = workers.reduce(into: [EndpointLoad]()) { sum, loads in
            if sum.isEmpty {
                sum = loads
            } else {
                // The workers have the same plan, except for a moment during a reload.
                let added = Dictionary(
                    loads.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
                sum = sum.map { load in added[load.name].map(load.adding) ?? load }
            }
        }
        .filter { used.contains($0.name) || $0.inFlight > 0 || $0.refusals > 0 }
        family(
            "tributary_endpoint_deadline_seconds", .gauge, "The endpoint's deadline, in seconds.")
        for load in endpoints {
            if let deadline = load.deadline { sample(load.labels, deadline.inMilliseconds / 1000) }
        }
        family(
            "tributary_endpoint_requests_in_flight", .gauge,
            "Requests that count for the endpoint's max_in_flight.")
        for load in endpoints where load.inFlightMax != nil { sample(load.labels, load.inFlight) }
        family(
            "tributary_endpoint_requests_in_flight_limit", .gauge,
            "Limit on tributary_endpoint_requests_in_flight.")
        for load in endpoints {
            if let limit = load.inFlightMax { sample(load.labels, limit) }
        }
    }
}

extension EndpointLoad {
    fileprivate var labels: MetricLabels { MetricLabels("endpoint", name) }

    /// The sum of two workers.
    fileprivate func adding(_ other: EndpointLoad) -> EndpointLoad {
        let limits = [inFlightMax, other.inFlightMax].compactMap { $0 }
        return EndpointLoad(
            name: name, deadline: deadline, inFlight: inFlight + other.inFlight,
            inFlightMax: limits.isEmpty ? nil : limits.reduce(0, +),
            refusals: refusals + other.refusals)
    }
}
