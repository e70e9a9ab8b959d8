import Rehearsal

/// The model of `require`: conditions on the head of a request and its caller. They are evaluated before
/// the parameters are validated; one that is not valid counts as missing.
struct HeadConditionModel: ConditionInput {
    let request: ScriptedRequest
    let config: DrawnConfig
    let endpoint: DrawnEndpoint
    let caller: DrawnCaller

    private var model: RequestModel { RequestModel(request: request, config: config) }

    func holds(_ condition: DrawnCondition) -> Bool { results(of: condition) == [true] }

    func wasSent(_ param: String) -> Bool { model.wasSent(param) && isValid(param) }

    func text(of param: String) -> String? {
        isValid(param) ? model.value(of: param) : declared(param)?.fallback
    }

    func values(of source: DrawnUse.Source) -> [Tree?]? {
        switch source {
        case .caller: [.text(caller.rawValue)]
        case .param(let name): [model.tree(ofParam: name, text(of: name))]
        case .header, .query, .client: [model.value(of: source).map { .text($0) }]
        // `require` must not use these.
        case .bodyField, .call: nil
        }
    }

    private func declared(_ param: String) -> DrawnParam? {
        endpoint.params.first { $0.name == param }
    }

    private func isValid(_ param: String) -> Bool {
        declared(param).map { model.isValid($0) } ?? false
    }
}
