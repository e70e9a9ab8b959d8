import HTTP
import HTTPClient
import Promises

/// One call of an endpoint, ready to be started: its kind and its chain.
final class EndpointCall {
    let plan: CallPlan
    let kind: any CallKind
    private let chain: CallChain
    /// The limit of the call; nil if the chain has it.
    private let timeout: CallTimeout?
    /// Whether the pool measures the limit.
    private let isTimedByPool: Bool
    /// Whether it has neither a condition nor calls to wait for.
    let startsAtOnce: Bool
    private let relaysCacheControl: Bool

    init(
        plan: CallPlan, kind: any CallKind, chain: CallChain, timeout: CallTimeout?,
        isTimedByPool: Bool
    ) {
        self.plan = plan
        self.kind = kind
        self.chain = chain
        self.timeout = timeout
        self.isTimedByPool = isTimedByPool
        relaysCacheControl = plan.relayHeaders.contains(.cacheControl)
        startsAtOnce = plan.condition == nil && plan.needs.isEmpty
    }

    /// Sends the call's request and makes a part of the response. Rejects with a `FailedCall`, which
    /// is recorded in `state`.
    func startCall(_ state: FanOutState) -> LocalPromise<Part> {
        if let list = plan.list { return startList(list, state) }
        let response: LocalPromise<ClientResponse>
        do throws(CallFailure) {
            response = try sendRequest(state)
        } catch {
            return state.context.local.error(failCall(error, state))
        }
        return response.mapResult { [self] result in try part(of: result, state) }
    }

    /// Builds the request and sends it through the call's chain.
    private func sendRequest(
        _ state: FanOutState
    ) throws(CallFailure) -> LocalPromise<ClientResponse> {
        let request = try kind.request(with: state)
        // A call that cannot be built is skipped, one without time left begins and fails.
        let callContext = beginCall(state)
        return chain.send(
            request, callContext, within: try timeout?.limit(before: state.deadline), state.context)
    }

    /// The time of all requests of a list together. Throws if no time is left.
    func wholeLimit(_ state: FanOutState) throws(CallFailure) -> TimeLimit {
        guard let timeout else { preconditionFailure("a call with a list has its limit") }
        return try timeout.limit(before: state.deadline)
    }

    /// Sends one request of a list.
    func send(
        _ request: ClientRequest, _ context: CallContext, within limit: TimeLimit,
        _ state: FanOutState
    ) -> LocalPromise<ClientResponse> {
        if isTimedByPool { return chain.send(request, context, within: limit, state.context) }
        return chain.send(request, context, within: nil, state.context)
            .timeout(limit.duration, error: limit.error)
    }

    /// Records that the call is sent now.
    private func beginCall(_ state: FanOutState) -> CallContext {
        CallContext(
            deadline: state.deadline, call: plan.index, attempt: state.recordStart(of: plan),
            proxied: nil)
    }

    /// The part that a response contains.
    private func part(
        of result: Result<ClientResponse, any Error>, _ state: FanOutState
    ) throws(FailedCall) -> Part {
        var attempt: Int?
        do {
            let response = try result.get()
            attempt = response.attempt
            var droppedKeys: [String] = []
            let part = try kind.part(of: response, on: state.loop, reporting: &droppedKeys)
            state.recordPart(part, of: plan, from: attempt)
            if !droppedKeys.isEmpty { state.recordDropped(droppedKeys, of: plan) }
            if !response.fields.isEmpty, !relaysCacheControl {
                state.recordStoringLimits(response.fields)
            }
            return part
        } catch {
            throw state.recordFailure(error, of: plan, from: attempt)
        }
    }

    /// Records that the call failed or could not be started; gives the error of its promise.
    func failCall(_ error: any Error, _ state: FanOutState) -> FailedCall {
        state.recordFailure(error, of: plan)
    }
}
