import Basics
import HTTP
import HTTPClient
import Promises
import Reactor

/// Handles the requests of one route with `proxy`:
///
///     target -> head -> call -> head of the response, with both bodies in pipes
///
/// A response that has arrived as a whole needs no pipe.
final class Proxy {
    private let endpoint: EndpointPlan
    let plan: ProxyPlan
    let head: ProxyHead
    let backend: Backend
    private let chain: CallChain
    private let failures: ProxyFailure
    /// Charges the rate limits that need validated values; nil if there are none.
    private let checkLimits: ((CallValues, RequestContext) -> LimitCheckResult)?
    let loop: any Loop
    private let template: RequestTemplate

    /// - Parameters:
    ///   - chain: the chain of the backend
    ///   - via: the entry of this process in `Via`
    ///   - checkLimits: charges the limits that need validated values
    init(
        _ plan: ProxyPlan, of endpoint: EndpointPlan, _ backend: Backend, _ chain: CallChain,
        via: ViaEntry, checkLimits: ((CallValues, RequestContext) -> LimitCheckResult)?,
        loop: any Loop
    ) {
        self.endpoint = endpoint
        self.plan = plan
        self.backend = backend
        self.chain = chain
        self.checkLimits = checkLimits
        self.loop = loop
        head = ProxyHead(plan, of: endpoint, via: via)
        template = chain.template
        failures = ProxyFailure(of: endpoint, loop: loop)
    }

    /// The promise rejects only if it is cancelled, because every failure becomes a response.
    func proxyRequest(_ request: Request, _ context: RequestContext) -> LocalPromise<Response> {
        let target: Target
        do throws(RefusedRequest) {
            target = try self.target(of: request.head)
            try checkBody(of: request)
            if let checkLimits {
                let values = try endpoint.values(
                    of: request.head, body: nil, context: context)
                return checkLimits(values, context).response(on: context.local) {
                    [self, target] in proxy(request, to: target, context)
                }
            }
            if !endpoint.params.isEmpty {
                _ = try endpoint.values(of: request.head, body: nil, context: context)
            }
        } catch {
            context.record.responseMade(at: loop.now)
            return context.local.value(error.response(to: context))
        }
        return proxy(request, to: target, context)
    }

    private func target(of head: RequestHead) throws(RefusedRequest) -> Target {
        guard let target = plan.path.target(of: head.target, plan.forward?.query) else {
            throw .malformed(.target)
        }
        // The backend's path can make it longer than the request's target.
        guard target.text.count <= Limits.fieldBytesMax else { throw .malformed(.targetTooLong) }
        guard !head.opensWebSocket || plan.acceptsWebSocket else {
            throw .malformed(.connectProtocol)
        }
        return target
    }

    private func checkBody(of request: Request) throws(RefusedRequest) {
        guard let most = plan.bodyMax else { return }
        switch request.body {
        case .bytes(let bytes) where bytes.count > most: throw .tooLarge
        case .stream(let source):
            if case .length(let length) = source.framing, length > most { throw .tooLarge }
        case .bytes, .described, .tunnel: break
        }
    }

    private func proxy(
        _ request: Request, to target: consuming Target, _ context: RequestContext
    ) -> LocalPromise<Response> {
        // Each use through the request would count a reference.
        let requestHead = request.head
        let handshake =
            requestHead.opensWebSocket ? WebSocketHandshake(from: loop.entropy) : nil
        let now = loop.now
        let transfer = ProxyTransfer(of: request, context, by: self, handshake, at: now)
        context.record.beginCall(0, at: loop.exactNow)
        var fields = head.requestFields(requestHead, context)
        handshake?.addKey(to: &fields)
        let callContext = CallContext(
            deadline: now + plan.timeout, call: 0,
            attempt: context.record.beginAttempt(of: 0, .first, at: now), proxied: transfer)
        return transfer.start(
            ClientRequest(
                method: requestHead.method, target: target, template: template, fields: fields,
                body: transfer.body),
            callContext)
    }

    /// Sends a request through the chain of the backend.
    func send(
        _ request: consuming ClientRequest, _ callContext: CallContext, _ context: RequestContext
    ) -> LocalPromise<ClientResponse> {
        chain.send(request, callContext, within: nil, context)
    }

    // MARK: The response

    /// The response to the client, when the head of the backend's response has arrived.
    ///
    /// - Parameter body: for the client
    func response(
        _ response: ClientResponse, with body: consuming Body, to context: RequestContext
    ) -> Response {
        let isStreamed =
            switch body {
            case .bytes, .described: false
            case .stream, .tunnel: true
            }
        if isStreamed {
            context.record.beginStream(of: 0, deciding: response.attempt, at: loop.now)
        } else {
            context.record.endCall(0, .succeeded, deciding: response.attempt, at: loop.now)
        }
        context.record.responseMade(at: loop.now, isStreamed: isStreamed)
        var proxied = Response(
            status: response.status, fields: head.responseFields(response.fields, context),
            body: body)
        proxied.isProxied = true
        return proxied
    }

    /// The response to a failed call. A cancellation is rethrown: the client no longer waits.
    func response(to error: any Error, _ context: RequestContext) throws -> Response {
        let response = try failures.response(to: error, context)
        let failure = CallFailure(error)
        context.record.endCall(
            0, .failed(failure.kind), detail: failure.ownDetail, at: loop.now)
        context.record.responseMade(at: loop.now)
        return response
    }
}
