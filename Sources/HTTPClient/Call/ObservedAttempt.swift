package import Basics
package import HTTP

/// Receives what happens to the attempts of an exchange's calls, each identified by its number: the
/// embedder's subclass of `Exchange`. Called on the worker, in the order of the events.
package protocol AttemptObserver: AnyObject {
    /// The request is written to a connection; called again if it is sent on another one.
    ///
    /// - Parameter bodyBytes: of its body; 0 for a stream
    func attemptSent(
        _ attempt: Int, _ version: HTTPVersion, bodyBytes: Int, reusingConnection: Bool,
        at now: Instant)
    /// The head of the response is there.
    func attemptAnswered(_ attempt: Int, status: UInt16, at now: Instant)
    /// The response is complete.
    func attemptCompleted(_ attempt: Int, bodyBytes: Int, at now: Instant)
    /// The attempt got no complete response.
    func attemptFailed(_ attempt: Int, _ failure: AttemptFailure, at now: Instant)
}

/// Why an attempt got no complete response.
package enum AttemptFailure {
    case connection(ClientFailure)
    /// The time limit of the call has passed.
    case timedOut
    case cancelled
}

/// An attempt and its observer.
///
/// Not copyable, so that the calls below need no reference count.
struct ObservedAttempt: ~Copyable {
    private let observer: any AttemptObserver
    private let number: Int

    func place() -> Int { number }

    /// Nil for a request whose attempt is not observed.
    init?(of request: borrowing ClientRequest) {
        guard let exchange = request.exchange, let attempt = exchange.attempt else { return nil }
        observer = exchange.exchange
        number = attempt
    }

    /// The request is written to a connection.
    func sent(
        _ version: HTTPVersion, bodyBytes: Int, reusingConnection: Bool, at now: Instant
    ) {
        observer.attemptSent(
            number, version, bodyBytes: bodyBytes, reusingConnection: reusingConnection, at: now)
    }

    /// The head of the response is there.
    func answered(_ status: Status, at now: Instant) {
        observer.attemptAnswered(number, status: status.code, at: now)
    }

    /// The response is complete.
    func completed(bodyBytes: Int, at now: Instant) {
        observer.attemptCompleted(number, bodyBytes: bodyBytes, at: now)
    }

    /// The attempt got no complete response.
    func failed(_ failure: AttemptFailure, at now: Instant) {
        observer.attemptFailed(number, failure, at: now)
    }
}
