import Reactor

/// Input that the server refused, and connections that it closed to keep others, by reason. Plain
/// numbers of one worker.
package struct ServerLosses: Sendable, Equatable {
    /// Why a request, or input that did not become one, was refused.
    package enum Refusal: Int, Sendable, CaseIterable {
        /// Not HTTP, or a body that broke off.
        case malformed
        /// A head or a body took too long.
        case tooSlow
        /// `limits.connections`
        case connections
        /// `limits.connections_per_client`
        case connectionsPerClient
        /// `limits.requests_in_flight`
        case requestsInFlight
        /// `limits.requests_per_client`
        case requestsPerClient
        /// `limits.buffered_bytes`
        case bufferedBytes
        /// `limits.streams`
        case streams

        /// The label of the metric, and the reason in the access log.
        package var name: StaticString {
            switch self {
            case .malformed: "malformed"
            case .tooSlow: "too_slow"
            case .connections: "connections"
            case .connectionsPerClient: "connections_per_client"
            case .requestsInFlight: "requests_in_flight"
            case .requestsPerClient: "requests_per_client"
            case .bufferedBytes: "buffered_bytes"
            case .streams: "streams"
            }
        }
    }

    /// Why an open connection was closed, or a request was ended.
    package enum Shedding: Int, Sendable, CaseIterable {
        /// It was idle, and a new connection needed its place.
        case idle
        /// Its client did not read, and memory was short.
        case unread
        /// The request waited for its client, and a limit was short.
        case waiting
        /// Its client sent too many HTTP/2 frames, or TLS records without data, that only cost work.
        case flood
    }

    private var refusals = [Int](repeating: 0, count: Refusal.allCases.count)
    private var shed = [Int](repeating: 0, count: Shedding.allCases.count)

    package init() {}

    package subscript(refusal: Refusal) -> Int { refusals[refusal.rawValue] }
    package subscript(shedding: Shedding) -> Int { shed[shedding.rawValue] }

    package mutating func count(_ refusal: Refusal) { refusals[refusal.rawValue] &+= 1 }
    package mutating func count(_ shedding: Shedding) { shed[shedding.rawValue] &+= 1 }

    /// A client's connection has failed; counts the failures by which its stream refuses the client.
    mutating func count(_ failure: IOFailure) {
        switch failure {
        case .outOfMemory: count(.bufferedBytes)
        case .recordFlood: count(.flood)
        default: break
        }
    }

    /// Adds the losses of another worker.
    package mutating func add(_ other: ServerLosses) {
        for index in refusals.indices { refusals[index] &+= other.refusals[index] }
        for index in shed.indices { shed[index] &+= other.shed[index] }
    }
}
