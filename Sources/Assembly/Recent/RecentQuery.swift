package import Gateway
import HTTP

/// What an admin page requests of a worker about requests that have ended.
package struct RecentQuery: Sendable {
    package enum Content: Sendable {
        /// The requests with a higher sequence number.
        ///
        /// - max: the newest so many; retained ones come first
        /// - withSample: also those that nothing is remarkable about, which the worker records only
        ///   while they are requested
        case requests(after: UInt64, max: Int, withSample: Bool)
        /// What happened at the endpoints and the backends.
        case overview
    }

    /// Identifies the query in its answer.
    package let number: UInt64
    package let content: Content

    package init(number: UInt64, _ content: Content) {
        self.number = number
        self.content = content
    }
}

/// A worker's answer to a query.
package struct RecentAnswer: Sendable {
    package enum Content: Sendable {
        case requests(RecentRequestList)
        case overview(WorkerOverview)
    }

    /// The number of the query.
    package let number: UInt64
    package let content: Content

    package init(number: UInt64, _ content: Content) {
        self.number = number
        self.content = content
    }
}

/// Requests that one worker recorded, the oldest first.
package struct RecentRequestList: Sendable {
    /// Entries, one after the other; `RecentEntry` reads them.
    package var words: [UInt32] = []
    /// The names that the entries refer to, by the number of the endpoint.
    package var endpoints: [UInt32: RecordedEndpoint] = [:]
    /// The newest sequence number of the worker.
    package var newest: UInt64 = 0
    /// How many newer ones than the query's were left out, because there were more than its `max`.
    package var skipped = 0
    /// The sample has one in so many requests.
    package var sampleOneIn = 1
    /// The two clocks at one moment: nanoseconds of the loop, and since 1970.
    package var now: Int64 = 0
    package var unixTime: Int64 = 0

    package init() {}
}

/// What happened on one worker.
package struct WorkerOverview: Sendable {
    /// In the order of the configuration.
    package var endpoints: [EndpointOverview] = []
    /// Requests that no route matched, and input that never became a request.
    package var elsewhere: EndpointOverview
    package var backends: [BackendActivity] = []
    package var connections = 0
    package var requestsInFlight = 0
}

/// What happened at one endpoint of one worker.
package struct EndpointOverview: Sendable {
    package let names: RecordedEndpoint
    package let totals: ActivityTotals
    /// Requests that were not retained, because there were too many, by the bit of `RetentionReason`.
    package let excess: SIMD8<UInt32>
    /// The words of a `TimeWindow`; empty without a request.
    package let window: [UInt32]
    /// How long its counts go back, in nanoseconds.
    package let windowSpan: Int64

    /// The rows of the window before the rows of the calls: duration and own time.
    package static let requestRows = 2
    /// The rows of each call: when it began and ended, and its duration.
    package static let callRows = 3
    /// The counters of each call: made, failed, retried, hedged, cancelled.
    package static let callCounters = 5
    /// The counters of the requests, after the counters of the calls: all, failed, partial, rejected, client gone.
    package static let requestCounters = 5
}

/// The state of a backend on one worker, and how its calls ended.
package struct BackendActivity: Sendable {
    package let state: BackendState
    /// Since the start of the process: `ok`, or the kind of failure.
    package let outcomes: [CallMetrics.Outcome]
}
