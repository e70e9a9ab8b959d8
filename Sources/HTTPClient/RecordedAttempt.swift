import Basics
import HTTP

/// An attempt in the record of its exchange: receives what happens to it.
///
/// Not copyable, so that the calls below need no reference count.
struct RecordedAttempt: ~Copyable {
    private let record: RequestRecord
    private let number: Int

    /// The place of the attempt in the record.
    func place() -> Int { number }

    /// Nil for a request whose attempt is not recorded.
    init?(of request: borrowing ClientRequest) {
        guard let exchange = request.exchange, let attempt = exchange.attempt else { return nil }
        record = exchange.exchange.record
        number = attempt
    }

    /// The request is written to a connection.
    func sent(_ version: HTTPVersion, reusingConnection: Bool, at now: Instant) {
        record.attemptSent(number, version, reusingConnection: reusingConnection, at: now)
    }

    /// The head of the response is there.
    func answered(_ status: Status, at now: Instant) {
        record.attemptAnswered(number, status: status.code, at: now)
    }

    /// The response is complete.
    func completed(bodyBytes: Int, at now: Instant) {
        record.attemptCompleted(number, bodyBytes: bodyBytes, at: now)
    }

    /// - Parameter failure: of the connection; nil for other reasons
    func failed(_ kind: CallFailureKind, _ failure: ClientFailure?, at now: Instant) {
        record.attemptFailed(number, kind, detail: failure?.detail, at: now)
    }
}
