package import Basics
package import Gateway
package import HTTP
import HTTPServer
import Reactor

/// A sampled request that has ended: what its spans need of it. A value that goes from its worker to
/// the control loop.
package struct TracedRequest: Sendable {
    package let id: RequestID
    package let trace: TraceContext
    package let method: Method
    /// The beginning of the path, without the query, which may contain what must not be published.
    package let path: Bytes
    package let version: HTTPVersion
    package let client: TracedClient
    package let endpoint: RecordedEndpoint?
    package let outcome: RequestOutcome
    /// As it stands in logs: 499 if the client disconnected, 0 at the end of a drain.
    package let status: UInt16
    /// In nanoseconds since 1970.
    package let began: Int64
    package let ended: Moment
    /// Empty for a padded endpoint, whose times must not be published.
    package let calls: [CallRecord]
    package let attempts: [AttemptRecord]
    package let details: [FailureDetail]

    /// Longer than usual paths; a client must not fill the memory with spans.
    private static let pathBytesMax = 512

    /// - Parameter proxies: the proxies that may name the client
    init(_ end: RequestEnd, _ loop: any Loop, proxies: TrustedProxies? = nil) {
        let record = end.context.record
        id = end.context.id
        trace = end.context.trace
        method = end.request.method
        // With memory of its own: the target shares the memory of the whole head.
        path = Bytes(Array(end.request.target.path.array.prefix(Self.pathBytesMax)))
        version = end.request.version
        client = TracedClient(end, proxies)
        endpoint = record.endpoint
        outcome = end.outcome
        status = end.status
        began = loop.unixTime - (loop.exactNow - record.began).inNanoseconds
        ended = record.ended
        let isPadded = record.endpoint?.isPadded ?? false
        // These, too: the record keeps its own for the next request.
        calls = isPadded ? [] : record.calls.map { $0 }
        attempts = isPadded ? [] : record.attempts.map { $0 }
        details = isPadded ? [] : record.details
    }

    /// The number of spans of a request, without a copy of it.
    static func spanCount(of record: RequestRecord) -> Int {
        guard record.endpoint?.isPadded != true else { return 1 }
        return 1 + record.calls.count { $0.hasSpan } + record.attempts.spanCount
    }

    /// One for the request, each call and each attempt.
    package var spanCount: Int {
        1 + calls.count { $0.hasSpan } + attempts.spanCount
    }
}

extension [AttemptRecord] {
    /// More than the retries and hedges of a call without `each`.
    private static var spansMax: Int { 20 }

    /// The places of the attempts that have a span: of each call the first twenty, and all that failed.
    package var placesWithSpans: [Int] {
        var counts: [UInt16: Int] = [:]
        return indices.filter { place in
            let attempt = self[place]
            guard attempt.hasSpan else { return false }
            counts[attempt.call, default: 0] += 1
            return attempt.hasFailed || counts[attempt.call, default: 0] <= Self.spansMax
        }
    }

    fileprivate var spanCount: Int {
        count > Self.spansMax ? placesWithSpans.count : count { $0.hasSpan }
    }
}

extension CallRecord {
    /// Whether it was made, or failed without being made; a call that `when` leaves out was not.
    package var hasSpan: Bool { outcome != .none }
}

extension AttemptRecord {
    /// Whether it was handed to a host; one that the gateway refused was not.
    package var hasSpan: Bool { permitted.hasHappened }
}
