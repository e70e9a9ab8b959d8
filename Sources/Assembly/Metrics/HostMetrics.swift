import Gateway
import HTTP

/// The counts of the attempts that were handed to one host of a backend, on one worker.
package struct HostMetrics: Sendable {
    package let labels: HostLabels
    /// Complete responses with a status below 500.
    package private(set) var succeeded = 0
    /// Other responses, and failures.
    package private(set) var failed = 0
    /// Attempts whose end says nothing about the host.
    package private(set) var cancelled = 0
    /// Attempts that were the first request of their connection.
    package private(set) var connectionsOpened = 0
    /// Of response bodies.
    package private(set) var bytesReceived = 0
    /// Of request bodies.
    package private(set) var bytesSent = 0
    private var isShown = false

    package init(_ labels: HostLabels) {
        self.labels = labels
    }

    /// Whether an attempt was handed to the host, or the counts are shown nevertheless.
    package var isUsed: Bool { isShown || succeeded > 0 || failed > 0 || cancelled > 0 }

    /// Makes the counts visible before the first attempt.
    mutating func show() { isShown = true }

    mutating func count(_ attempt: AttemptRecord, received: Int, sent: Int) {
        switch attempt.finalSample {
        case .success: succeeded &+= 1
        case .failure: failed &+= 1
        case .none: cancelled &+= 1
        }
        guard attempt.sent.hasHappened else { return }
        if !attempt.reusedConnection { connectionsOpened &+= 1 }
        bytesReceived &+= received
        bytesSent &+= sent
    }

    /// Adds the counts of another worker, or of another host.
    package mutating func add(_ other: HostMetrics) {
        succeeded &+= other.succeeded
        failed &+= other.failed
        cancelled &+= other.cancelled
        connectionsOpened &+= other.connectionsOpened
        bytesReceived &+= other.bytesReceived
        bytesSent &+= other.bytesSent
    }
}

/// What attempts are counted by: the hosts of each backend, at most `namedMax` of them by name.
package struct HostLabels: Sendable, Hashable {
    /// With three outcomes at most 63 time series for each backend, whatever hosts reloads bring.
    package static let namedMax = 20
    /// The name that all further hosts of a backend share.
    package static let others = "other"

    package let backend: String
    package let host: String

    package init(backend: String, host: String) {
        self.backend = backend
        self.host = host
    }
}
