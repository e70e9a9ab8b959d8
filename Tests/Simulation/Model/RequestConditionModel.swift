import Rehearsal

/// The model of conditions on a request without its calls: `require`, and `when` of a limit or an endpoint. They may
/// be evaluated before the parameters are validated. One that is not valid counts as missing, but meets no condition of
/// an endpoint.
struct RequestConditionModel: ConditionInput {
    let request: ScriptedRequest
    let config: DrawnConfig
    let endpoint: DrawnEndpoint
    /// Nil before the caller is known, and on public endpoints.
    let caller: DrawnCaller?
    /// It selects the endpoint.
    var selects = false

    private var model: RequestModel {
        RequestModel(request: request, config: config, given: endpoint)
    }

    /// Whether it certainly holds: a condition of `require` must not depend on an ambiguous value.
    func holds(_ condition: DrawnCondition) -> Bool { results(of: condition) == [true] }

    /// Whether it can hold: a client must not avoid a limit with an ambiguous value.
    func mayHold(_ condition: DrawnCondition) -> Bool { results(of: condition).contains(true) }

    func isKnown(_ param: String) -> Bool { !selects || isValid(param) }

    func wasSent(_ param: String) -> Bool { model.wasSent(param) && isValid(param) }

    func text(of param: String) -> String? {
        isValid(param) ? model.value(of: param) : declared(param)?.fallback
    }

    func values(of source: DrawnUse.Source) -> [Tree?]? {
        if model.isAmbiguous(source) { return nil }
        if case .param(let name) = source, !isKnown(name) { return nil }
        return switch source {
        case .caller: [caller.map { .text($0.rawValue) }]
        case .param(let name): [model.tree(ofParam: name, text(of: name))]
        case .header, .query, .client: [model.value(of: source).map { .text($0) }]
        case .bodyField(let name): [model.body?[name]?.ifPresent]
        // These conditions must not use it.
        case .call: nil
        }
    }

    private func declared(_ param: String) -> DrawnParam? {
        endpoint.params.first { $0.name == param }
    }

    private func isValid(_ param: String) -> Bool {
        declared(param).map { model.isValid($0) } ?? false
    }
}
