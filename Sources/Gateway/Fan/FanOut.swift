import Basics
import GatewayConfig
import HTTP
import Promises

/// All calls of an endpoint, side by side: `any` over them, with the required ones watched.
///
/// A call waits for the calls whose answers its templates use and for those in its `after`, and for
/// nothing else.
struct FanOut {
    private let calls: [Call]
    /// Every call comes after those that it waits for; file order where nothing speaks against it.
    private let order: [Int]
    private let required: [Int]

    init(_ calls: [Call], graph: CallGraph) {
        self.calls = calls
        order = graph.order
        required = calls.indices.filter { calls[$0].plan.isRequired }
    }

    /// Fulfils when every call has settled and at least one is fine. Rejects as soon as a required
    /// call fails, or when all have failed; what still runs then is cancelled, because nobody waits
    /// for it any more.
    func any(_ run: FanOutState) -> LocalPromise<AnyResult<Int, Part>> {
        let parts = start(run)
        let local = run.exchange.local
        guard !required.isEmpty else { return local.any(parts) }
        // In this order, so that a required call's own failure is heard first where it is the last
        // one that `any` waited for.
        let demanded = local.all(required.compactMap { parts.part(of: $0) })
        let settled = local.any(parts)
        return local.all([demanded.asVoid(), settled.asVoid()]).then { _ in settled }
    }

    /// The promise of each call's part.
    ///
    /// A call that its condition leaves out is no member, so that it cannot make a failed request
    /// look fine; unless all were, and there is nothing to fail: then nobody's empty part stands for
    /// them.
    private func start(_ run: FanOutState) -> Parts {
        var parts: Parts = []
        parts.reserveCapacity(calls.count)
        for index in order {
            let call = calls[index]
            guard call.plan.isWanted(run.values.params) else { continue }
            let part = call.plan.waitsFor.isEmpty ? call.start(run) : start(call, after: parts, run)
            parts.append((key: index, promise: part))
        }
        if parts.isEmpty {
            parts.append((key: calls.count, promise: run.exchange.local.value(.nothing)))
        }
        return parts
    }

    private func start(_ call: Call, after parts: Parts, _ run: FanOutState) -> LocalPromise<Part> {
        func skipped(_ index: Int) -> CallFailure {
            .skipped(.call(calls[index].plan.name))
        }
        // Before anything is attached: who waits for a call and is forgotten keeps it from being
        // cancelled. A call that was left out has no value to use; for `after` it has settled.
        if let missing = call.plan.uses.first(where: { parts.part(of: $0) == nil }) {
            return run.exchange.local.error(call.noted(skipped(missing), run))
        }
        let earlier = call.plan.waitsFor.compactMap { index in
            parts.part(of: index)?.mapError { $0 is Cancelled ? $0 : skipped(index) }
        }
        guard !earlier.isEmpty else { return call.start(run) }
        return run.exchange.local.all(earlier)
            .mapError { call.noted($0, run) }
            .then { _ in call.start(run) }
    }
}

/// The parts of a request that are on their way, each with its call's index.
private typealias Parts = [(key: Int, promise: LocalPromise<Part>)]

extension Parts {
    /// The part of a call; nil where the call was left out.
    fileprivate func part(of call: Int) -> LocalPromise<Part>? {
        for (key, promise) in self where key == call { return promise }
        return nil
    }
}

extension CallPlan {
    /// `when`: made only if the parameter was sent, or has the value, be it by default.
    package func isWanted(_ params: Params) -> Bool {
        guard let condition else { return true }
        guard let expected = condition.value else { return params.wasSent(condition.param) }
        return params[condition.param].map(String.init) == expected
    }
}
