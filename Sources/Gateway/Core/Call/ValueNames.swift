/// The names of the values that the calls of an endpoint use, for reports about missing values.
struct ValueNames {
    private let params: [ParamPlan]
    private let calls: [String]

    init(of endpoint: EndpointPlan) {
        params = endpoint.params
        calls = endpoint.calls.map(\.name)
    }

    /// The reason for which a call is skipped where this value is missing.
    func reason(naming reference: CompiledTemplate.Reference) -> CallFailure.SkipReason {
        switch reference.source {
        case .call(let index, _): .call(calls[index])
        case .param(let index): .client("params.\(params[index].name)")
        case .token: .claim(reference.name)
        case .element: .element(reference.name)
        case .requestHeader, .requestQuery, .requestClient, .requestCaller, .requestBody:
            .client(reference.name)
        }
    }
}
