import Basics
import HTTP
import HTTPClient
import Promises
import Reactor

/// Handles the requests of one route with `proxy`:
///
///     target -> head -> call -> head of the response, with both bodies in pipes
final class Relay {
    private let endpoint: EndpointPlan
    private let plan: RelayPlan
    private let head: RelayHead
    private let backend: Backend
    private let service: CallService
    private let failures: RelayFailure
    /// Charges the rate limits that need validated values; nil if there are none.
    private let checkLimits: ((CallValues, Exchange) -> LimitCheckResult)?
    private let loop: any Loop
    /// For each host of the backend.
    private let templates: [RequestTemplate]

    /// - Parameters:
    ///   - service: the chain of the backend
    ///   - checkLimits: charges the limits that need validated values
    init(
        _ plan: RelayPlan, of endpoint: EndpointPlan, _ backend: Backend, _ service: CallService,
        checkLimits: ((CallValues, Exchange) -> LimitCheckResult)?, loop: any Loop
    ) {
        self.endpoint = endpoint
        self.plan = plan
        self.backend = backend
        self.service = service
        self.checkLimits = checkLimits
        self.loop = loop
        head = RelayHead(plan, of: endpoint)
        templates = backend.templates(backend.plan.fields, responseBytesMax: 0)
        failures = RelayFailure(of: endpoint, loop: loop)
    }

    /// The promise rejects only if it is cancelled, because every failure becomes a response.
    func relayRequest(_ request: Request, _ exchange: Exchange) -> LocalPromise<Response> {
        let target: Target
        do throws(RefusedRequest) {
            target = try self.target(of: request.head)
            try checkBody(of: request)
            if let checkLimits {
                let values = try endpoint.values(
                    of: request.head, body: nil, exchange: exchange)
                return charge(checkLimits(values, exchange), request, target, exchange)
            }
            if !endpoint.params.isEmpty {
                _ = try endpoint.values(of: request.head, body: nil, exchange: exchange)
            }
        } catch {
            exchange.record.responseMade(at: loop.now)
            return exchange.local.value(error.response(to: exchange))
        }
        return relay(request, to: target, exchange)
    }

    private func charge(
        _ result: LimitCheckResult, _ request: Request, _ target: Target, _ exchange: Exchange
    ) -> LocalPromise<Response> {
        switch result {
        case .granted: return relay(request, to: target, exchange)
        case .refused(let refusal): return exchange.local.value(refusal)
        case .later(let refusal):
            return refusal.then { [self] refusal in
                refusal.map { exchange.local.value($0) } ?? relay(request, to: target, exchange)
            }
        }
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

    private func relay(
        _ request: Request, to target: Target, _ exchange: Exchange
    ) -> LocalPromise<Response> {
        // Each use through the request would count a reference.
        let requestHead = request.head
        let transfer = RelayTransfer(
            head, request, exchange, host: head.host(requestHead),
            upgrade: head.upgrade(request), breaker: backend.breaker, loop: loop)
        exchange.record.beginCall(0, at: loop.exactNow)
        var fields = head.requestFields(requestHead, exchange)
        guard !requestHead.opensWebSocket else {
            let handshake = WebSocketHandshake(from: loop.entropy)
            handshake.addKey(to: &fields)
            let call = callRequest(
                requestHead, to: target, consume fields, transfer, exchange)
            return respond(
                with: transfer.start(service, call).map { try handshake.response(to: $0) },
                to: exchange)
        }
        let call = callRequest(requestHead, to: target, consume fields, transfer, exchange)
        return respond(with: transfer.start(service, call), to: exchange)
    }

    private func respond(
        with received: LocalPromise<ClientResponse>, to exchange: Exchange
    ) -> LocalPromise<Response> {
        received
            .map { [self] response in
                exchange.record.endCall(0, .succeeded, at: loop.now)
                exchange.record.responseMade(
                    at: loop.now, isStreamed: response.body.source != nil)
                return self.response(response, exchange)
            }
            .recover { [self] error in
                let response = try failures.response(to: error, exchange)
                exchange.record.endCall(0, .failed(CallFailure(error).kind), at: loop.now)
                exchange.record.responseMade(at: loop.now)
                return exchange.local.value(response)
            }
    }

    private func callRequest(
        _ requestHead: RequestHead, to target: Target, _ fields: consuming Fields,
        _ transfer: RelayTransfer, _ exchange: Exchange
    ) -> CallRequest {
        var call = CallRequest(
            method: requestHead.method, target: target, templates: templates, fields: fields,
            body: Bytes(), deadline: loop.now + plan.timeout, call: 0)
        call.relayed = transfer.relayed
        call.attempt = exchange.record.beginAttempt(of: 0, .first, at: loop.now)
        return call
    }

    private func response(_ response: ClientResponse, _ exchange: Exchange) -> Response {
        let fields = head.responseFields(response.fields, exchange)
        switch response.body {
        case .stream, .described, .tunnel:
            return Response(status: response.status, fields: fields, body: response.body)
        // A response without content, which keeps the backend's date.
        case .bytes:
            return Response(status: response.status, fields: fields, body: .described(length: 0))
        }
    }
}
