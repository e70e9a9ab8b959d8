package import Basics
package import Gateway
package import HTTP

/// A copy of an ended request's record, with the ids of its exchange, for use after the hook. A
/// value that may leave the worker.
package struct RecordedRequest: Sendable {
    package let id: RequestID
    package let trace: TraceContext
    package let endpoint: RecordedEndpoint?
    package let outcome: RequestOutcome
    /// As it stands in logs: 499 if the client disconnected, 0 at the end of a drain.
    package let status: UInt16
    package let began: Instant
    /// When the response was made, before it was held back.
    package let answered: Moment
    package let ended: Moment
    package let times: RequestTimes
    package let calls: [CallRecord]
    package let attempts: [AttemptRecord]

    package init(_ context: RequestContext, status: UInt16, _ outcome: RequestOutcome) {
        let record = context.record
        id = context.id
        trace = context.trace
        endpoint = record.endpoint
        self.outcome = outcome
        self.status = status
        began = record.began
        answered = record.answered
        ended = record.ended
        times = record.times
        // With memory of their own: the record keeps its own for the next request.
        calls = record.calls.map { $0 }
        attempts = record.attempts.map { $0 }
    }
}
