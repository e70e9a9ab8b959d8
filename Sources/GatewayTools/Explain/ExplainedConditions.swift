import Basics
import Gateway
import GatewayConfig
import HTTP
import JSONText

/// What the conditions of an endpoint's calls say about one request, as far as it is known without
/// the responses of backends.
struct ExplainedConditions {
    /// By the index of the call.
    private var results: [ConditionResult]
    private let values: CallValues

    init(_ endpoint: EndpointPlan, _ values: CallValues) {
        self.values = values
        results = Array(repeating: .holds, count: endpoint.calls.count)
        for index in endpoint.graph.order {
            guard let condition = endpoint.calls[index].condition else { continue }
            results[index] = condition.result(in: known)
        }
    }

    private var known: KnownValues {
        KnownValues(values: values, disabled: results.map { $0 == .fails })
    }

    /// Whether the call is certainly not made.
    func isDisabled(_ call: Int) -> Bool { results[call] == .fails }

    /// The part of the call's condition that does not hold; nil if the call can be made.
    func failing(_ call: CallPlan) -> String? {
        isDisabled(call.index) ? call.condition?.failing(in: known) : nil
    }

    /// The condition of a call, where it depends on values that are not known.
    func open(_ call: CallPlan) -> String? {
        results[call.index] == .unknown ? call.condition?.text : nil
    }
}

/// The values of a request that no client sent and no backend responded to.
struct KnownValues: ConditionValues {
    let values: CallValues
    /// By the index of the call.
    let disabled: [Bool]

    func text(of source: CompiledTemplate.Source) -> Bytes? { values.text(of: source) }
    func json(of source: CompiledTemplate.Source) -> JSONSlice? { values.json(of: source) }
    func wasSent(param index: Int) -> Bool { values.wasSent(param: index) }

    /// The values of a disabled call are certainly missing.
    func isKnown(_ source: CompiledTemplate.Source) -> Bool {
        switch source {
        case .call(let index, _): disabled[index]
        case .requestClient: false
        case .requestCaller, .token: values.hasCaller
        case .requestBody: !values.body.isEmpty
        case .param, .requestHeader, .requestQuery: true
        }
    }
}
