package import Basics
package import Gateway
import HTTP
package import HTTPServer
package import Reactor

/// The state of one worker at one moment, as a value that may cross threads.
package struct WorkerSnapshot: Sendable {
    package var meter: WorkerMetrics
    package var backends: [BackendState]
    /// The backends of the present plan with their hosts.
    package var backendDetails: [BackendDetail]
    package var connections: Int
    /// By the address of the listener as configured.
    package var listeners: [ListenerUsage] = []
    /// Bytes buffered for requests and connections.
    package var bufferedBytes: Int
    package var descriptorShortages: DescriptorShortages
    package var requests: [RequestState]
    /// Requests that count for `limits.requests_in_flight`.
    package var requestsInFlight = 0
    /// Streamed responses and tunnels, by endpoint.
    package var streams: [EndpointStreams] = []
    package var limits = ServerLimits()
    package var losses = ServerLosses()
    package var endpointLoads: [EndpointLoad] = []
    /// The decisions of the authenticators of the present plan.
    package var authResults: [AuthResults] = []
    package var limitUsages: [LimitUsage] = []
    package var loopIterations = Histogram(.loopIterations)
    /// Nil without `store`.
    package var store: StoreState?
    /// Nil without a listener with TLS.
    package var tls: TLSState?

    package init(
        meter: WorkerMetrics, backends: [BackendState], backendDetails: [BackendDetail] = [],
        connections: Int, bufferedBytes: Int,
        descriptorShortages: DescriptorShortages = DescriptorShortages(), requests: [RequestState]
    ) {
        self.meter = meter
        self.backends = backends
        self.backendDetails = backendDetails
        self.connections = connections
        self.bufferedBytes = bufferedBytes
        self.descriptorShortages = descriptorShortages
        self.requests = requests
    }
}

/// The connections of one listener.
package struct ListenerUsage: Sendable {
    package let name: String
    package var connections: ListenerConnections

    package init(name: String, _ connections: ListenerConnections = ListenerConnections()) {
        self.name = name
        self.connections = connections
    }

    /// Without the open connections.
    package var countersOnly: ListenerUsage {
        ListenerUsage(name: name, ListenerConnections(accepted: connections.accepted))
    }
}

extension [ListenerUsage] {
    package init(_ listeners: [ListenPlan], _ connections: [ListenerConnections] = []) {
        self = listeners.indices.map {
            ListenerUsage(
                name: listeners[$0].address.spelled,
                connections.indices.contains($0) ? connections[$0] : ListenerConnections())
        }
    }
}

/// The worker's share of `limits`, next to what it uses of them.
package struct ServerLimits: Sendable, Equatable {
    package var connections = 0
    package var requestsInFlight = 0
    package var bufferedBytes = 0
    package var streams = 0

    package init() {}

    init(_ settings: ServerSettings) {
        connections = settings.connections
        requestsInFlight = settings.requestsInFlight
        bufferedBytes = settings.bufferedBytes
        streams = settings.streams
    }

    package mutating func add(_ other: ServerLimits) {
        connections = connections.saturatingSum(other.connections)
        requestsInFlight = requestsInFlight.saturatingSum(other.requestsInFlight)
        bufferedBytes = bufferedBytes.saturatingSum(other.bufferedBytes)
        streams = streams.saturatingSum(other.streams)
    }
}

extension Int {
    /// Limits may be as large as a number can be.
    fileprivate func saturatingSum(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

/// A client request in flight, for the admin page.
package struct RequestState: Sendable {
    package let id: String
    package let endpoint: String
    package let age: Duration
    /// Whether the endpoint pads its responses, so that its durations must not be published.
    package let hidesTiming: Bool
    /// Nil where the endpoint hides its timing.
    package let wait: RequestWait?

    package init(
        id: String, endpoint: String, age: Duration, hidesTiming: Bool, wait: RequestWait? = nil
    ) {
        self.id = id
        self.endpoint = endpoint
        self.age = age
        self.hidesTiming = hidesTiming
        self.wait = hidesTiming ? nil : wait
    }
}
