package import Gateway
package import Reactor

/// One core at one moment, as a value that may leave it.
package struct WorkerSnapshot: Sendable {
    package var meter: WorkerMetrics
    package var backends: [BackendState]
    package var connections: Int
    /// What is held in memory for requests and connections.
    package var bufferedBytes: Int
    package var descriptorShortages: DescriptorShortages
    package var requests: [RequestState]

    package init(
        meter: WorkerMetrics, backends: [BackendState], connections: Int, bufferedBytes: Int,
        descriptorShortages: DescriptorShortages = DescriptorShortages(), requests: [RequestState]
    ) {
        self.meter = meter
        self.backends = backends
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
    /// The endpoint pads its answers, so its times must not be told.
    package let hidesTiming: Bool

    package init(id: String, endpoint: String, age: Duration, hidesTiming: Bool) {
        self.id = id
        self.endpoint = endpoint
        self.age = age
        self.hidesTiming = hidesTiming
    }
}
