import Basics
import HTTP
import HTTPClient

/// What only a request that is passed through has, and no request of a call. Confined to its worker; one for
/// each client request, whatever the number of attempts.
protocol ProxiedRequest: StreamedCall {
    /// The body that the backend gets.
    var body: Body { get }
    /// The value of `Host`; nil for the host of the backend's URL.
    var host: FieldValue? { get }
    /// Whether a part of a streamed body was requested from the client, so that the request cannot be
    /// sent again.
    var hasStartedBody: Bool { get }
    /// Of the backend's concurrency limit, for the last attempt; the exchange holds it once the
    /// response has a head.
    var permit: Permit? { get set }

    /// Calls this once the outcome of the present attempt, which has a response, is decided: at the
    /// end of its body.
    func whenAttemptEnds(_ body: @escaping () -> Void)

    /// The present attempt has ended, and another one follows.
    func endAttempt()
}

extension ProxiedRequest {
    /// Whether there is no body. A body is sent once, whatever the method.
    var hasNoBody: Bool { if case .described = body { true } else { false } }
}
