package import HTTP
import HTTPClient

/// What happens to the calls of one request, as far as the request alone decides it, for `explain`:
/// which calls are left out or skipped, and whether the request fails because of that.
///
/// Decides as `FanOut` does, without promises: a call that is sent counts as one that succeeds with
/// values that are not known.
package struct ForeseenCalls {
    package enum Fate {
        /// Its request is sent.
        case sent
        /// Its condition does not hold because of this part of it.
        case disabled(because: String)
        /// Its request cannot be built, because of this value if the reason names one.
        case skipped(CallFailure.SkipReason, CompiledTemplate.Reference?)
        /// It needs this call, which has no value.
        case skippedAfter(Int)
    }

    /// The failure of a request that no response of a backend can avert.
    package struct Failure {
        package let status: Status
        /// The index of the required call that is skipped; nil where all calls are.
        package let call: Int?
        /// Whether the response is made before a call is sent.
        package let isImmediate: Bool
    }

    /// Nil if the request can succeed.
    package private(set) var failure: Failure?

    private let endpoint: EndpointPlan
    private let backends: [BackendPlan]
    private let values: AssumedValues
    // By the index of the call:
    private var fates: [Fate]
    private var conditions: [ConditionResult]
    /// The lists of the client, as far as they are known.
    private var lists: [ForeseenList?]
    /// After how many other calls it settles. Nil if it waits for a response, its own or another.
    private var steps: [Int?]

    package init(_ endpoint: EndpointPlan, in plan: Plan, _ values: AssumedValues) {
        self.endpoint = endpoint
        self.values = values
        backends = plan.backends
        let count = endpoint.calls.count
        fates = Array(repeating: .sent, count: count)
        conditions = Array(repeating: .holds, count: count)
        lists = Array(repeating: nil, count: count)
        steps = Array(repeating: nil, count: count)
        for index in endpoint.graph.order { decide(endpoint.calls[index]) }
        failure = requiredFailure ?? commonFailure
    }

    // MARK: Calls

    package subscript(call: Int) -> Fate { fates[call] }

    /// Whether others wait for its response, or for the response of a call after which it is skipped.
    package func delaysOthers(_ call: Int) -> Bool {
        steps[call] == nil && !fates[call].isDisabled
    }

    /// The condition of a call, where it depends on values that are not known.
    package func openCondition(of call: CallPlan) -> String? {
        conditions[call.index] == .unknown ? call.condition?.text : nil
    }

    /// The elements of a call's list, where the client sends it and the request is known.
    func list(of call: CallPlan) -> ForeseenList? { lists[call.index] }

    private mutating func decide(_ call: CallPlan) {
        if let condition = call.condition {
            let known = KnownValues(values, missing: fates.map(\.isMissing))
            conditions[call.index] = condition.result(in: known)
            if conditions[call.index] == .fails {
                fates[call.index] = .disabled(because: condition.failing(in: known))
                steps[call.index] = step(after: call.conditionCalls)
                return
            }
        }
        if let missing = missingCall(of: call) {
            fates[call.index] = .skippedAfter(missing)
            steps[call.index] = step(after: call.conditionCalls + [missing])
        } else if let skipped = unbuilt(call) {
            fates[call.index] = skipped
            steps[call.index] = step(after: call.waitsFor)
        } else if lists[call.index]?.elements == 0 {
            values.storeEmptyList(of: call.index)
            steps[call.index] = step(after: call.waitsFor)
        }
    }

    private func step(after calls: [Int]) -> Int? {
        var next = 0
        for call in calls {
            guard let step = steps[call] else { return nil }
            next = max(next, step + 1)
        }
        return next
    }

    /// The call that it needs and that settles first without a value. One that is disabled has no
    /// value, but does not fail those that have it only in `after`.
    private func missingCall(of call: CallPlan) -> Int? {
        let missing = call.needs.filter { index in
            call.uses.contains(index) ? fates[index].isMissing : isSkipped(index)
        }
        return missing.min { settlesFirst($0, $1) }
    }

    /// Whether the call is certainly skipped: it is made, but not sent.
    private func isSkipped(_ call: Int) -> Bool {
        fates[call].isSkipped && conditions[call] == .holds
    }

    private func settlesFirst(_ left: Int, _ right: Int) -> Bool {
        (steps[left] ?? .max) < (steps[right] ?? .max)
    }

    /// Nil if the request of the call can be built.
    private mutating func unbuilt(_ call: CallPlan) -> Fate? {
        let kind = call.kind(
            in: endpoint, Self.template, backendFields: backends[call.backend].fields)
        let names = ValueNames(of: endpoint)
        do throws(CallFailure) {
            guard let list = call.list, list.isOfClient, !values.isAssumed(list.reference.source)
            else {
                _ = try kind.request(with: values)
                return nil
            }
            let foreseen = try ForeseenList(list, of: call, kind, names, values)
            lists[call.index] = foreseen
            guard let failure = foreseen.failure else { return nil }
            throw failure
        } catch {
            guard case .skipped(let reason) = error else { return nil }
            return .skipped(reason, reference(named: reason, of: call, names))
        }
    }

    private func reference(
        named reason: CallFailure.SkipReason, of call: CallPlan, _ names: ValueNames
    ) -> CompiledTemplate.Reference? {
        call.references.first { reference in
            // Each element has its own value.
            if case .element = reference.source { return false }
            return names.reason(naming: reference) == reason
        }
    }

    /// Of requests that are not sent.
    private static var template: RequestTemplate {
        RequestTemplate(host: "backend", responseBytesMax: 0)
    }

    // MARK: The request

    /// The failure of a required call; the first failure decides the status.
    private var requiredFailure: Failure? {
        let skipped = endpoint.calls.indices.filter {
            endpoint.calls[$0].isRequired && isSkipped($0)
        }
        guard let first = skipped.min(by: settlesFirst), let reason = callFailure(of: first) else {
            return nil
        }
        return Failure(
            status: OutcomeStatus.required(reason, of: endpoint.calls[first]), call: first,
            isImmediate: steps[first] != nil)
    }

    /// The failure of all calls that are made. A call whose condition is open is made or not, but not
    /// sent.
    private var commonFailure: Failure? {
        let made = endpoint.calls.indices.filter { !fates[$0].isDisabled }
        guard made.allSatisfy({ fates[$0].isSkipped }), made.contains(where: isSkipped) else {
            return nil
        }
        return Failure(
            status: OutcomeStatus.allFailed(made.compactMap { callFailure(of: $0) }), call: nil,
            isImmediate: true)
    }

    private func callFailure(of call: Int) -> CallFailure? {
        switch fates[call] {
        case .sent, .disabled: nil
        case .skipped(let reason, _): .skipped(reason)
        case .skippedAfter(let missing): .skipped(.call(endpoint.calls[missing].name))
        }
    }
}

extension ForeseenCalls.Fate {
    package var isDisabled: Bool { if case .disabled = self { true } else { false } }

    var isSkipped: Bool {
        switch self {
        case .skipped, .skippedAfter: true
        case .sent, .disabled: false
        }
    }

    /// Whether it certainly has no value.
    var isMissing: Bool { isDisabled || isSkipped }
}
