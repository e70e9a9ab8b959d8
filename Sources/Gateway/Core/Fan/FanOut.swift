import HTTP
import Promises

/// Runs all calls of an endpoint in parallel: `any` over all of them, which waits for all and fails only
/// if all fail, or at once if a required one fails.
///
/// A call waits only for the calls whose responses its templates or its condition use, and for those
/// in its `after`.
struct FanOut {
    private let calls: [EndpointCall]
    /// Every call comes after those that it waits for; otherwise in file order.
    private let order: [Int]
    private let required: [Int]
    /// Whether the condition of a required call uses a response.
    private let hasLateRequired: Bool

    init(_ calls: [EndpointCall], graph: CallGraph) {
        self.calls = calls
        order = graph.order
        required = calls.indices.filter { calls[$0].plan.isRequired }
        hasLateRequired = required.contains { !calls[$0].plan.conditionCalls.isEmpty }
    }

    /// Fulfils when every call has settled and at least one succeeded. Rejects as soon as a
    /// required call fails, or when all have failed; the calls that still run are then cancelled,
    /// because no promise depends on them any more.
    func runCalls(_ state: FanOutState) -> LocalPromise<AnyResult<Int, Part>> {
        combine(startCalls(state), state)
    }

    /// The same, and calls a closure with the index and the outcome of each call that settles.
    func runCalls(
        _ state: FanOutState, observing observe: @escaping (Int, Result<Part, any Error>) -> Void
    ) -> LocalPromise<AnyResult<Int, Part>> {
        var parts = startCalls(state)
        parts.observe(observe)
        return combine(parts, state)
    }

    private func combine(
        _ parts: consuming StartedCalls, _ state: FanOutState
    ) -> LocalPromise<AnyResult<Int, Part>> {
        let local = state.context.local
        guard !required.isEmpty else { return local.any(parts.promises) }
        guard hasLateRequired else { return local.any(parts.promises, required: required) }
        // A required call that its condition disables is neither a success nor a failure.
        return local.any(parts.promises, required: required, ignoring: { $0 is DisabledCall })
    }

    /// Starts the calls; gives the promise of each call's part.
    ///
    /// Calls disabled by `when` are not counted: a disabled call is not a success for `any`. If
    /// every call is disabled, an empty part keeps `any` from failing. After the failure of a required
    /// call no other call starts.
    private func startCalls(_ state: FanOutState) -> StartedCalls {
        var parts = StartedCalls(of: calls, on: state.context.local)
        for index in order where state.requiredFailure == nil {
            let call = calls[index]
            let part: LocalPromise<Part>
            if call.startsAtOnce {
                part = call.startCall(state)
            } else if let condition = call.plan.condition {
                let settled = parts.settled(call.plan.conditionCalls)
                if !settled.isEmpty {
                    part = startCall(call, after: parts, state, if: condition, settled)
                } else if condition.holds(in: state) {
                    part = startEnabledCall(call, after: parts, state)
                } else {
                    state.recordDisabled(call.plan)
                    continue
                }
            } else {
                part = startEnabledCall(call, after: parts, state)
            }
            parts.append(part, of: index)
        }
        if parts.isEmpty { parts.append(state.context.local.value(.nothing), of: calls.count) }
        return parts
    }

    private func startEnabledCall(
        _ call: EndpointCall, after parts: StartedCalls, _ state: FanOutState
    ) -> LocalPromise<Part> {
        call.plan.needs.isEmpty
            ? call.startCall(state) : startDependentCall(call, after: parts, state)
    }

    /// Starts a call when the calls that it waits for have settled. A call that uses the value of a
    /// failed or disabled call is skipped.
    private func startDependentCall(
        _ call: EndpointCall, after parts: StartedCalls, _ state: FanOutState
    ) -> LocalPromise<Part> {
        // Before attaching: an unused consumer would keep an earlier call from being cancelled. A
        // disabled call fails those that use it, but does not delay those that have it in `after`.
        if let missing = call.plan.uses.first(where: { parts.part(of: $0) == nil }) {
            return state.context.local.error(call.failCall(parts.skipped(missing), state))
        }
        let earlier = parts.needed(by: call.plan)
        guard !earlier.isEmpty else { return call.startCall(state) }
        return state.context.local.all(earlier)
            .mapError { call.failCall($0, state) }
            .then { _ in try startUnlessOver(state) { call.startCall(state) } }
    }

    /// Starts a call unless a required one has failed: that failure cancels the other calls one after
    /// another, and this one may be ready before it is cancelled.
    private func startUnlessOver(
        _ state: FanOutState, _ start: () -> LocalPromise<Part>
    ) throws -> LocalPromise<Part> {
        // The same failure: it may reach `any` later than this error.
        if let failure = state.requiredFailure { throw failure }
        return start()
    }

    /// Records that the calls which wait for failed ones are not made. A required call that fails ends
    /// the request before they learn of it.
    func recordSkippedCalls(_ state: FanOutState) {
        state.recordSkipped(order.map { calls[$0].plan })
    }

    /// Starts a call if its condition holds once the calls that it uses have settled. What else it
    /// waits for matters only then.
    private func startCall(
        _ call: EndpointCall, after parts: StartedCalls, _ state: FanOutState,
        if condition: ConditionPlan, _ settled: [LocalPromise<Void>]
    ) -> LocalPromise<Part> {
        state.context.local.all(settled).then { _ in
            guard condition.holds(in: state) else {
                state.recordDisabled(call.plan)
                throw DisabledCall()
            }
            // Attached now: an unused consumer would keep an earlier call from being cancelled.
            return try startUnlessOver(state) { startEnabledCall(call, after: parts, state) }
        }
    }
}
