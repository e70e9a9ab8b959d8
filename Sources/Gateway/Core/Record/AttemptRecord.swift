package import HTTP
import HTTPClient

/// One attempt of a call: one request to one host of its backend, with the phases that it went
/// through. A plain value in its `RequestRecord`, in the order in which attempts began.
///
/// Its outcome is decided once, at its end: for a streamed response, the end of the body. Circuit
/// breaker, ejection, log, metrics, page and spans read it; none of them looks at a head, a status or
/// an error itself.
///
/// Phases: `began` - wait for a permit - `permitted` - wait for a connection - `sent` - wait for the
/// response - `firstByte` - receive - `lastByte` - `ended`. A phase that the attempt did not reach is
/// `never`.
package struct AttemptRecord: Sendable, Equatable {
    /// Why the attempt was made.
    package enum Cause: UInt8, Sendable {
        /// The first one of its call.
        case first
        /// Another one had failed.
        case retry
        /// The first one had not answered in time.
        case hedge
        /// Nothing was sent to the host before, which could not be reached.
        case otherHost
    }

    package enum Outcome: Sendable, Equatable {
        /// It still runs.
        case none
        /// A complete response came, of whatever status.
        case answered
        case failed(CallFailureKind)
        /// Its response was streamed until the client left, or until a limit of this side ended it.
        case withdrawn
    }

    /// The index of the call.
    package let call: UInt16
    /// The attempt whose host could not be reached, as its place in the record; nil but for
    /// `otherHost`.
    package let replaced: UInt16?
    package let cause: Cause
    package private(set) var outcome = Outcome.none
    /// The connection had served another request before.
    package private(set) var reusedConnection = false
    /// The version of HTTP that the request was sent with.
    package private(set) var version = HTTPVersion.http11
    /// The request was sent again, because a reused connection had ended before a response.
    package private(set) var wasResent = false
    /// Among the hosts of the call's backend; nil if none was chosen.
    package private(set) var host: UInt16?
    /// Of the response; 0 if none came.
    package private(set) var status: UInt16 = 0
    /// Its response was no value for the elements of a list that it was made for.
    package internal(set) var failsElements = false
    package let began: Moment
    /// It was handed to the connection pool, after any wait for a permit; `never` for one that the
    /// gateway refused, so that nothing was sent.
    package private(set) var permitted = Moment.never
    /// The request was written to a connection.
    package private(set) var sent = Moment.never
    /// The head of the response was complete.
    package private(set) var firstByte = Moment.never
    package private(set) var lastByte = Moment.never
    package private(set) var ended = Moment.never
    /// Of the body of the response, in bytes.
    package private(set) var bodyBytes: UInt32 = 0
    /// Of the body of the request, in bytes; 0 for one that is passed through.
    package private(set) var requestBytes: UInt32 = 0
    /// The parent id that the backend received in `traceparent`; 0 if nothing was sent.
    package private(set) var spanID: UInt64 = 0

    init(call: UInt16, cause: Cause, replacing replaced: UInt16?, began: Moment) {
        self.call = call
        self.replaced = replaced
        self.cause = cause
        self.began = began
    }

    /// It has its permit, and a host.
    mutating func permit(_ host: UInt16, _ spanID: UInt64, at now: Moment) {
        self.host = host
        self.spanID = spanID
        permitted = now
    }

    mutating func send(
        _ version: HTTPVersion, bodyBytes: UInt32, reusingConnection: Bool, at now: Moment
    ) {
        self.version = version
        requestBytes = bodyBytes
        wasResent = sent.hasHappened
        reusedConnection = reusingConnection
        sent = now
    }

    /// The head of its response is there.
    mutating func answer(_ status: UInt16, at now: Moment) {
        self.status = status
        firstByte = now
    }

    /// Its response is complete.
    mutating func complete(_ bodyBytes: UInt32, at now: Moment) {
        self.bodyBytes = bodyBytes
        outcome = .answered
        lastByte = now
        ended = now
    }

    mutating func fail(_ kind: CallFailureKind, at now: Moment) {
        end(.failed(kind), at: now)
    }

    mutating func end(_ outcome: Outcome, at now: Moment) {
        self.outcome = outcome
        ended = now
    }
}

extension AttemptRecord {
    /// Whether it failed by itself, or its response was no value for an element of a list.
    package var hasFailed: Bool {
        if case .failed(let kind) = outcome { return kind != .cancelled }
        return failsElements
    }
}
