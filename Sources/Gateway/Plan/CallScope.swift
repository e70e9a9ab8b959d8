import GatewayConfig

/// Resolves the names in a call's templates.
final class CallScope {
    let endpoint: Config.Endpoint
    let params: [ParamPlan]
    let uses: [Int]
    let waitsFor: [Int]
    /// Whether `{token.claim}` refers to a claim.
    let readsTokens: Bool

    init(
        endpoint: Config.Endpoint, params: [ParamPlan], uses: [Int], waitsFor: [Int],
        readsTokens: Bool
    ) {
        self.endpoint = endpoint
        self.params = params
        self.uses = uses
        self.waitsFor = waitsFor
        self.readsTokens = readsTokens
    }

    func param(named name: String) -> Int? { params.firstIndex { $0.name == name } }

    func call(named name: String) -> Int? {
        endpoint.calls.firstIndex { $0.name.value == name }
    }
}
