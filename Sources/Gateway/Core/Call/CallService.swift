import Basics
import HTTP
import HTTPClient
import Promises

/// What the filters and the backend know of a call, except its request.
struct CallContext {
    /// When the response is no longer of use; the backend receives the time left.
    let deadline: Instant
    /// The index of the call in its endpoint.
    let call: Int
    /// The place of the first attempt in the exchange's record; nil if it is not recorded.
    let attempt: Int?
    /// What only a request that is passed through has; nil for a call.
    let proxied: (any ProxiedRequest)?
}

/// One attempt of a call on its way through the filters, which may send it again. All attempts share
/// their request.
struct CallRequest {
    private let shared: SharedRequest
    /// Its place among the attempts of the exchange's record; nil if it is not recorded.
    private(set) var attempt: Int?
    /// Of the concurrency limit; nil without one.
    var permit: Permit?

    /// - Parameters:
    ///   - request: without the prefix of a host's URL in its target, and without `exchange`
    ///   - templates: for each host of the backend
    init(
        _ request: consuming ClientRequest, _ callContext: CallContext, within limit: TimeLimit?,
        templates: [RequestTemplate]
    ) {
        shared = SharedRequest(request, callContext, limit, templates)
        attempt = callContext.attempt
    }

    private final class SharedRequest {
        let request: ClientRequest
        let callContext: CallContext
        let timeLimit: TimeLimit?
        let templates: [RequestTemplate]

        init(
            _ request: consuming ClientRequest, _ callContext: CallContext, _ limit: TimeLimit?,
            _ templates: [RequestTemplate]
        ) {
            self.request = request
            self.callContext = callContext
            timeLimit = limit
            self.templates = templates
        }
    }
}

extension CallRequest {
    var method: Method { shared.request.method }
    var target: Target { shared.request.target }
    var deadline: Instant { shared.callContext.deadline }
    /// The index of the call in its endpoint.
    var call: Int { shared.callContext.call }
    /// Measured by the pool; nil if a filter measures it, and for a request that is passed through.
    var timeLimit: TimeLimit? { shared.timeLimit }
    /// What only a request that is passed through has; nil for a call.
    var proxied: (any ProxiedRequest)? { shared.callContext.proxied }

    /// What is sent to a host of the backend. Made of the parts: a copy of the whole request that is
    /// changed would be copied again.
    func sent(toHost index: Int, _ exchange: consuming ExchangeFields) -> ClientRequest {
        ClientRequest(
            method: method, target: target, template: shared.templates[index],
            fields: shared.request.fields, exchange: exchange, body: shared.request.body)
    }
}

extension CallRequest {
    /// Whether it can be sent a second time after nothing of it was received.
    var isRepeatable: Bool { !(proxied?.hasStartedBody ?? false) }

    /// Whether it can be sent a second time although a backend may have received it.
    var mayBeLost: Bool { proxied?.hasNoBody ?? true }

    /// The same request as another attempt of its call.
    func repeated(
        _ cause: AttemptRecord.Cause, for context: RequestContext, at now: Instant
    ) -> CallRequest {
        assert(proxied?.hasStartedBody != true, "a body that was begun is sent again")
        var repeated = self
        repeated.attempt = context.record.beginAttempt(
            of: call, cause, replacing: cause == .otherHost ? attempt : nil, at: now)
        return repeated
    }

    /// Another attempt follows: the response of this one is not used.
    func drop(_ response: ClientResponse, of context: RequestContext, at now: Instant) {
        if let attempt = response.attempt {
            context.record.attemptCompleted(attempt, bodyBytes: 0, at: now)
        }
        response.body.source?.cancel()
        proxied?.endAttempt()
        proxied?.permit.take()?.release()
    }

    /// Passes on what the attempt shows about its backend, as soon as its outcome is decided: with
    /// its response or failure, or at the end of a streamed body.
    ///
    /// - Parameters:
    ///   - response: of this attempt
    ///   - headReceived: receives what the status alone shows, when the body of a response is still
    ///     streamed
    func whenDecided(
        _ response: LocalPromise<ClientResponse>, _ context: RequestContext,
        headReceived: @escaping (AttemptSample) -> Void = { _ in },
        _ body: @escaping (AttemptSample) -> Void
    ) {
        guard let attempt else { return }
        response.whenSettled { [proxied] result in
            guard let proxied, case .success(let response) = result else {
                return body(context.record.sample(of: attempt))
            }
            headReceived(.init(status: response.status.code))
            proxied.whenAttemptEnds { body(context.record.sample(of: attempt)) }
        }
    }

    /// Records that nothing was sent.
    func recordRefusal(_ kind: CallFailureKind, of context: RequestContext, at now: Instant) {
        if let attempt { context.record.attemptFailed(attempt, kind, at: now) }
    }
}

/// Sends a call to its backend and promises the response. Rejects with a `CallFailure`, or with the
/// `ClientFailure` of the connection.
typealias CallService = Service<CallRequest, ClientResponse>

/// A filter of calls.
typealias CallFilter = Filter<CallRequest, ClientResponse>
