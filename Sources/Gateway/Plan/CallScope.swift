/// Resolves the names in a call's templates.
struct CallScope {
    let endpointPlanner: EndpointPlanner
    let uses: [Int]
    let waitsFor: [Int]
    /// The name of an element of the call's list.
    var element: String?

    var endpoint: Config.Endpoint { endpointPlanner.endpoint }
    var params: [ParamPlan] { endpointPlanner.params }
    /// Whether `{token.claim}` refers to a claim.
    var readsTokens: Bool { endpointPlanner.readsTokens }

    func param(named name: String) -> Int? { params.firstIndex { $0.name == name } }

    func call(named name: String) -> Int? {
        endpoint.calls.firstIndex { $0.name.value == name }
    }
}
