import HTTP
import HTTPClient
import Promises

/// One call of an endpoint, ready to be started: request builder, chain, decoder.
final class EndpointCall {
    let plan: CallPlan
    let builder: RequestBuilder
    let service: CallService
    /// The limit that the pool measures; nil if the chain has it.
    private let timeout: CallTimeout?
    let decoder: Decoder
    /// Whether it has neither a condition nor calls to wait for.
    let startsAtOnce: Bool

    init(
        plan: CallPlan, builder: RequestBuilder, service: CallService, timeout: CallTimeout?,
        decoder: Decoder
    ) {
        self.plan = plan
        self.builder = builder
        self.service = service
        self.timeout = timeout
        self.decoder = decoder
        startsAtOnce = plan.condition == nil && plan.needs.isEmpty
    }

    /// Sends the call's request and decodes the response to a part. Rejects with a `FailedCall`, which
    /// is recorded in `state`.
    func startCall(_ state: FanOutState) -> LocalPromise<Part> {
        sendRequest(state).mapResult { [self] result in try part(of: result, state) }
    }

    /// Builds the request and sends it through the call's chain.
    func sendRequest(_ state: FanOutState) -> LocalPromise<ClientResponse> {
        do throws(CallFailure) {
            var request = try builder.request(with: state, deadline: state.deadline)
            request.attempt = state.recordStart(of: plan)
            if let timeout {
                guard let limit = timeout.limit(of: request) else {
                    return state.exchange.local.error(timeout.deadlineError)
                }
                request.timeLimit = limit
            }
            return service(request, state.exchange)
        } catch {
            return state.exchange.local.error(error)
        }
    }

    /// The part that a response contains.
    func part(
        of result: Result<ClientResponse, any Error>, _ state: FanOutState
    ) throws(FailedCall) -> Part {
        do {
            let part = try decoder.part(of: result.get())
            state.recordPart(part, of: plan)
            return part
        } catch {
            throw failCall(error, state)
        }
    }

    /// Records that the call failed or could not be started; gives the error of its promise.
    func failCall(_ error: any Error, _ state: FanOutState) -> FailedCall {
        state.recordFailure(error, of: plan)
    }
}
