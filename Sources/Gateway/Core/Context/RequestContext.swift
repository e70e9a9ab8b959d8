package import Basics
package import HTTP
package import HTTPClient

/// What the gateway knows about one request, from its head to the last byte of its response: the exchange,
/// the client and the caller, the deadline, what rate limits have charged, and the record.
///
/// A subclass of the server's exchange instead of an object beside it: a request has one object less, and
/// the end of the exchange finds the context without a table. Confined to its worker.
package final class RequestContext: Exchange {
    package static let noDeadline = Instant(nanoseconds: .max)

    /// What happens to this request; complete at its end. Another request of the worker gets it after
    /// this context is released.
    package let record: RequestRecord
    private let records: RequestRecordPool?

    /// When the response must be ready; `noDeadline` until the endpoint's chain sets it.
    package var deadline = RequestContext.noDeadline

    /// The number of the matched endpoint; nil before and without a match.
    package var endpoint: Int?

    /// The client, as far as `clientAddress(of:_:)` has determined it.
    var client: ClientAddress?

    /// Who sent the request; nil for endpoints that are public.
    package internal(set) var caller: Caller?

    /// Why the request was refused; nil if it was not.
    package var refusal: RefusalReason?

    /// What exactly is wrong with the token of a refused request; nil for other refusals.
    package internal(set) var refusalCause: RefusalCause?

    /// The rate limits of this process that the request was charged to, as far as a later one may refuse
    /// it.
    var limitCharges: [LimitCharge] = []

    /// The same for the limits that replicas share.
    var sharedCharges: [SharedCharge] = []

    /// Sends close frames on an open WebSocket, and ends it; false if no frame may begin. Nil for other
    /// requests.
    package internal(set) var endWebSocket: (() -> Bool)?

    /// - Parameter records: provides the record, and takes it back; nil for a record of its own
    package init(_ start: consuming ExchangeStart, records: RequestRecordPool? = nil) {
        self.records = records
        let began = start.began
        record = records?.take(began: began) ?? RequestRecord(began: began)
        super.init(start)
    }

    deinit {
        // First: a permit that is released may start work that takes a record.
        end()
        records?.give(record)
    }
}

extension RequestContext: AttemptObserver {
    package func attemptSent(
        _ attempt: Int, _ version: HTTPVersion, bodyBytes: Int, reusingConnection: Bool,
        at now: Instant
    ) {
        record.attemptSent(
            attempt, version, bodyBytes: bodyBytes, reusingConnection: reusingConnection, at: now)
    }

    package func attemptAnswered(_ attempt: Int, status: UInt16, at now: Instant) {
        record.attemptAnswered(attempt, status: status, at: now)
    }

    package func attemptCompleted(_ attempt: Int, bodyBytes: Int, at now: Instant) {
        record.attemptCompleted(attempt, bodyBytes: bodyBytes, at: now)
    }

    package func attemptFailed(_ attempt: Int, _ failure: AttemptFailure, at now: Instant) {
        switch failure {
        case .connection(let failure):
            record.attemptFailed(
                attempt, CallFailureKind(failure.kind), detail: failure.detail, at: now)
        case .timedOut: record.attemptFailed(attempt, .responseTimeout, at: now)
        case .cancelled: record.attemptFailed(attempt, .cancelled, at: now)
        }
    }
}

extension RequestContext {
    /// When a wait before the calls must end: at the deadline, or, while the end of the body is not known,
    /// at the deadline of a request without a body.
    ///
    /// - Parameter duration: `deadline` of the endpoint
    func waitEnd(_ duration: Duration) -> Instant {
        deadline == Self.noDeadline ? began + duration : deadline
    }
}

extension Exchange {
    /// The same exchange, as the gateway knows it. Every server of the gateway makes contexts
    /// (`ServerHooks.makeExchange`).
    package var context: RequestContext {
        guard let context = self as? RequestContext else {
            preconditionFailure("the server made an exchange of its own")
        }
        return context
    }
}
