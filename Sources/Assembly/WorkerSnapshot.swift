package import Gateway
package import Reactor

/// The state of one worker at one moment, as a value that may cross threads.
package struct WorkerSnapshot: Sendable {
    package var meter: WorkerMetrics
    package var backends: [BackendState]
    /// The backends of the present plan with their hosts.
    package var backendDetails: [BackendDetail]
    package var connections: Int
    /// Bytes buffered for requests and connections.
    package var bufferedBytes: Int
    package var descriptorShortages: DescriptorShortages
    package var requests: [RequestState]

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
