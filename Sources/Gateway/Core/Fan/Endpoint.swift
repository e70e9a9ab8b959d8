import Basics
import HTTP
import Promises
import Reactor

/// Handles the requests of one route:
///
///     parse -> validate -> rate limits -> any(calls, required) -> aggregate -> respond
///
/// The body, the padding and the deadline are filters around it (`Chain`).
final class Endpoint {
    let plan: EndpointPlan
    private let fanOut: FanOut
    private let aggregator: ResponseAggregator
    private let failureResponse: FailureResponse
    /// Charges the rate limits that need validated values; nil if there are none.
    private let checkLimits: ((CallValues, RequestContext) -> LimitCheckResult)?
    let loop: any Loop

    init(
        _ plan: EndpointPlan, _ calls: [EndpointCall], loop: any Loop,
        checkLimits: ((CallValues, RequestContext) -> LimitCheckResult)? = nil
    ) {
        self.plan = plan
        self.checkLimits = checkLimits
        self.loop = loop
        fanOut = FanOut(calls, graph: plan.graph)
        aggregator = ResponseAggregator(plan)
        failureResponse = FailureResponse(plan: plan)
    }

    /// The promise rejects only if it is cancelled, because every failure becomes a response.
    func handleRequest(_ request: Request, _ context: RequestContext) -> LocalPromise<Response> {
        let state: FanOutState
        do throws(RefusedRequest) {
            state = try parse(request, context)
        } catch {
            context.record.responseMade(at: loop.now)
            return context.local.value(error.response(to: context))
        }
        guard let checkLimits else { return runCalls(state) }
        return checkLimits(state, context).response(on: context.local) { [self] in
            runCalls(state)
        }
    }

    private func runCalls(_ state: FanOutState) -> LocalPromise<Response> {
        if plan.parts != nil, let response = sendParts(state) { return response }
        // The closure captures one object only, so that it needs no memory.
        return fanOut.runCalls(state).mapResult { try state.endpoint.response($0, state) }
    }

    /// The response part by part; nil if the client prefers a document.
    private func sendParts(_ state: FanOutState) -> LocalPromise<Response>? {
        guard let parts = plan.parts, let format = parts.format(for: state.head) else { return nil }
        return PartStream.run(parts, as: format, state, fanOut, aggregator) {
            try state.endpoint.response(to: $0, state)
        }
    }

    /// The response made of the parts. A failure of the calls, or of the aggregation, becomes a
    /// response, too.
    private func response(
        _ parts: Result<AnyResult<Int, Part>, any Error>, _ state: FanOutState
    ) throws -> Response {
        do {
            let response = try aggregator.response(from: parts.get(), state)
            state.recordResponse()
            return response
        } catch {
            return try self.response(to: error, state)
        }
    }

    private func response(to error: any Error, _ state: FanOutState) throws -> Response {
        if error is FailedCall { fanOut.recordSkippedCalls(state) }
        let response = try failureResponse.response(to: error, state)
        state.recordResponse()
        return response
    }

    /// Reads and checks parameters and body; throws every error of the client at once.
    private func parse(_ request: Request, _ context: RequestContext) throws(RefusedRequest)
        -> FanOutState
    {
        guard !request.head.opensWebSocket else { throw .malformed(.connectProtocol) }
        let (head, body) = (request.head, try RefusedRequest.body(of: request))
        return try plan.values(of: head, body: body) { params, checkedBody in
            FanOutState(
                head: head, params: params, body: body, checkedBody: checkedBody, of: self,
                context)
        }
    }
}
