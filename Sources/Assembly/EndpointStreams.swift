package import Gateway
package import HTTP

/// The streamed responses and tunnels of one endpoint at one moment.
package struct EndpointStreams: Sendable, Equatable {
    package let endpoint: String
    private var responses = 0
    private var tunnels = 0

    package init(endpoint: String) {
        self.endpoint = endpoint
    }

    package subscript(kind: StreamKind) -> Int {
        switch kind {
        case .response: responses
        case .tunnel: tunnels
        }
    }

    package mutating func count(_ kind: StreamKind) {
        switch kind {
        case .response: responses += 1
        case .tunnel: tunnels += 1
        }
    }

    mutating func add(_ other: EndpointStreams) {
        responses += other.responses
        tunnels += other.tunnels
    }
}

extension [EndpointStreams] {
    /// None yet, for every endpoint that passes requests through.
    package init(_ plan: Plan) {
        self = plan.endpoints.filter { $0.proxy != nil }.map { EndpointStreams(endpoint: $0.name) }
    }

    /// Counts the streams among these exchanges, also the streams of endpoints that a reload has removed.
    mutating func count(_ exchanges: [RequestContext], names: [String]) {
        var counts: [Int: EndpointStreams] = [:]
        for context in exchanges {
            guard let kind = context.stream, let number = context.endpoint else { continue }
            counts[number, default: EndpointStreams(endpoint: names[number])].count(kind)
        }
        for (_, streams) in counts.sorted(by: { $0.key < $1.key }) { add(streams) }
    }

    package mutating func add(_ streams: EndpointStreams) {
        if let index = firstIndex(where: { $0.endpoint == streams.endpoint }) {
            self[index].add(streams)
        } else {
            append(streams)
        }
    }
}
