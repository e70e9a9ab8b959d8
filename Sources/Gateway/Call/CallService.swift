import Basics
import HTTP
import HTTPClient
import Promises

/// The request of one call, without the host, which the backend chooses last.
struct CallRequest {
    let method: Method
    /// Path and query, without the prefix of the host's URL.
    let target: Target
    /// What the requests of the call share, for each host of the backend.
    let templates: [RequestTemplate]
    /// The fields of the call and of the client's request; none of the templates has their names.
    let fields: Fields
    let body: Bytes
    /// When the response is no longer of use; the backend receives the time left.
    let deadline: Instant
    /// The index of the call in its endpoint.
    let call: Int
    /// Measured by the pool; nil if a filter measures it, and for a request that is passed through.
    var timeLimit: TimeLimit?
    /// What a request that is passed through has besides; nil for a call.
    var relayed: (any RelayedRequest)?
    /// Its place among the attempts of the exchange's record; nil if it is not recorded.
    var attempt: Int?
}

extension CallRequest {
    /// Whether it can be sent a second time after nothing of it was received.
    var isRepeatable: Bool { !(relayed?.hasStartedBody ?? false) }

    /// Whether it can be sent a second time although a backend may have received it.
    var mayBeLost: Bool { relayed?.hasNoBody ?? true }

    /// The same request as another attempt of its call.
    func repeated(
        _ cause: AttemptRecord.Cause, for exchange: Exchange, at now: Instant
    ) -> CallRequest {
        var repeated = self
        repeated.attempt = exchange.record.beginAttempt(of: call, cause, at: now)
        return repeated
    }

    /// Records that nothing was sent.
    func recordRefusal(_ kind: CallFailureKind, of exchange: Exchange, at now: Instant) {
        if let attempt { exchange.record.attemptFailed(attempt, kind, at: now) }
    }
}

/// Sends a call to its backend and promises the response. Rejects with a `CallFailure`, or with the
/// `ClientFailure` of the connection.
typealias CallService = Service<CallRequest, ClientResponse>

/// A filter of calls.
typealias CallFilter = Filter<CallRequest, ClientResponse>
