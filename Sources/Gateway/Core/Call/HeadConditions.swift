import HTTP
import Patterns

/// Conditions on the head of a request: `require`, and `when` of an endpoint.
struct HeadConditions {
    private let conditions: [ConditionPlan]
    private let params: [ParamPlan]
    /// The parameters that the conditions use, by index.
    private let isUsed: [Bool]
    private let proxies: TrustedProxies

    init(_ conditions: [ConditionPlan], of endpoint: EndpointPlan) {
        self.conditions = conditions
        params = endpoint.params
        proxies = endpoint.proxies
        let used = Set(conditions.flatMap(\.params))
        isUsed = endpoint.params.indices.map(used.contains)
    }

    /// Whether all conditions hold. One that needs an ambiguous value does not.
    func hold(for head: RequestHead, _ context: RequestContext) -> Bool {
        guard !conditions.isEmpty else { return true }
        let values = UnambiguousValues(values: values(of: head, context))
        return conditions.allSatisfy { $0.holds(in: values) }
    }

    /// The same for conditions that select an endpoint: a parameter that is invalid or was sent several times
    /// has no known value, because another endpoint may accept it.
    ///
    /// - Parameter context: nil where `explain` sends nothing: the client is not known
    func selects(_ head: RequestHead, _ context: RequestContext?) -> Bool {
        let values = SelectingValues(
            values: values(of: head, context), params: params, head: head,
            knowsClient: context != nil)
        return conditions.allSatisfy { $0.holds(in: values) }
    }

    /// The values that the conditions test. Parameters and claims are read once for all of them,
    /// within one budget for patterns.
    func values(of head: RequestHead, _ context: RequestContext?) -> CallValues {
        var work = PatternWork()
        return CallValues(
            ofHead: head, Params(params, where: isUsed, of: head, &work), context, proxies)
    }
}

/// The values of a request for conditions that select an endpoint.
private struct SelectingValues: RestrictedValues {
    let values: CallValues
    let params: [ParamPlan]
    let head: RequestHead
    let knowsClient: Bool

    func isKnown(_ source: CompiledTemplate.Source) -> Bool {
        switch source {
        case .param(let index):
            var work = PatternWork()
            if case .refused = params[index].read(head, &work) { return false }
            return true
        case .requestClient: return knowsClient
        default: return !values.isAmbiguous(source)
        }
    }
}
