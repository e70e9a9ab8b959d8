import Basics
import GatewayConfig
import HTTP
import Promises

/// Runs all calls of an endpoint in parallel: `any` over all of them, `all` over the required ones.
/// `all` fails with the first failure; `any` waits for all inputs and fails only if all fail.
///
/// A call waits only for the calls whose responses its templates use and for those in its `after`.
struct FanOut {
    private let calls: [EndpointCall]
    /// Every call comes after those that it waits for; otherwise in file order.
    private let order: [Int]
    private let required: [Int]

    init(_ calls: [EndpointCall], graph: CallGraph) {
        self.calls = calls
        order = graph.order
        required = calls.indices.filter { calls[$0].plan.isRequired }
    }

    /// Fulfils when every call has settled and at least one succeeded. Rejects as soon as a
    /// required call fails, or when all have failed; the calls that still run are then cancelled,
    /// because no promise depends on them any more.
    func runCalls(_ state: FanOutState) -> LocalPromise<AnyResult<Int, Part>> {
        let parts = startCalls(state)
        let local = state.exchange.local
        guard !required.isEmpty else { return local.any(parts) }
        // `requiredParts` is created before `settled`: if all calls fail and the last one is
        // required, its failure rejects both, and the one created first decides the result.
        let requiredParts = local.all(required.compactMap { parts.part(of: $0) })
        let settled = local.any(parts)
        return local.all([requiredParts.asVoid(), settled.asVoid()]).then { _ in settled }
    }

    /// Starts the calls; gives the promise of each call's part.
    ///
    /// Calls disabled by `when` are not counted: a disabled call is not a success for `any`. If
    /// every call is disabled, an empty part keeps `any` from failing.
    private func startCalls(_ state: FanOutState) -> Parts {
        var parts: Parts = []
        parts.reserveCapacity(calls.count)
        for index in order {
            let call = calls[index]
            guard call.plan.isEnabled(with: state.values.params) else { continue }
            let part =
                call.plan.waitsFor.isEmpty
                ? call.startCall(state) : startDependentCall(call, after: parts, state)
            parts.append((key: index, promise: part))
        }
        if parts.isEmpty {
            parts.append((key: calls.count, promise: state.exchange.local.value(.nothing)))
        }
        return parts
    }

    /// Starts a call when the calls that it waits for have settled. A call that uses the value of a
    /// failed or disabled call is skipped.
    private func startDependentCall(
        _ call: EndpointCall, after parts: Parts, _ state: FanOutState
    ) -> LocalPromise<Part> {
        func skipped(_ index: Int) -> CallFailure {
            .skipped(.call(calls[index].plan.name))
        }
        // Checked before attaching: each attached promise is a consumer, and an unused one would
        // keep the earlier call from being cancelled. A disabled call fails those that use it, but
        // does not delay those that have it only in `after`.
        if let missing = call.plan.uses.first(where: { parts.part(of: $0) == nil }) {
            return state.exchange.local.error(call.failCall(skipped(missing), state))
        }
        let earlier = call.plan.waitsFor.compactMap { index in
            parts.part(of: index)?.mapError { $0 is Cancelled ? $0 : skipped(index) }
        }
        guard !earlier.isEmpty else { return call.startCall(state) }
        return state.exchange.local.all(earlier)
            .mapError { call.failCall($0, state) }
            .then { _ in call.startCall(state) }
    }
}

/// The promised parts of a request, each with its call's index.
private typealias Parts = [(key: Int, promise: LocalPromise<Part>)]

extension Parts {
    /// The part of a call; nil where `when` disabled the call.
    fileprivate func part(of call: Int) -> LocalPromise<Part>? {
        for (key, promise) in self where key == call { return promise }
        return nil
    }
}

extension CallPlan {
    /// `when`: whether the parameter was sent, or has the expected value, sent or by default.
    package func isEnabled(with params: Params) -> Bool {
        guard let condition else { return true }
        guard let expected = condition.value else { return params.wasSent(condition.param) }
        return params[condition.param].map(String.init) == expected
    }
}
