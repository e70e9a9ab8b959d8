import Basics
import HTTP
import JSONText

/// Computes the parts of an `EndpointPlan`; `CallPlanner` does the same for each of its calls.
final class EndpointPlanner {
    let endpoint: Config.Endpoint
    let route: Config.Route
    let params: [ParamPlan]
    let graph: CallGraph
    /// Whether an authenticator of the endpoint reads tokens, so that `{token.claim}` is a claim.
    let readsTokens: Bool
    private let planner: Planner

    init(_ endpoint: Config.Endpoint, _ planner: Planner) throws(PlanError) {
        guard let route = endpoint.route?.value else {
            throw PlanError("\(endpoint.location): no route")
        }
        self.endpoint = endpoint
        self.planner = planner
        self.route = route
        do {
            params = try ParamPlan.all(of: endpoint.params, route: route)
        } catch {
            throw PlanError("\(endpoint.location): params: \(error)")
        }
        graph = endpoint.callGraph
        readsTokens = !planner.config.tokenAuthenticators(of: endpoint).isEmpty
    }

    var config: Config { planner.config }
    var groups: EndpointGroups { planner.groups }
    var proxies: TrustedProxies { planner.proxies }
    var limitPlans: [LimitPlan] { planner.limitPlans }
    var addressMask: AddressMask {
        AddressMask(prefix: config.clients?.ipv6Prefix?.value ?? PlanDefaults.ipv6Prefix)
    }

    func name(ofEndpoint index: Int) -> String { planner.endpointNames[index] }

    /// The rule for paths that servers read in different ways; nil where none is refused.
    func paths(ofEndpoint index: Int) -> PathRulePlan? {
        let bypassed = planner.bypassedEndpoints[index]
        switch config.paths(of: endpoint)?.value ?? (bypassed.isEmpty ? .lenient : .strict) {
        case .strict: return PathRulePlan(bypassed: bypassed)
        case .lenient: return nil
        }
    }

    /// One worker's share of a number for the whole process.
    func share(_ count: Int) -> Int { planner.share(count) }

    func calls() throws(PlanError) -> [CallPlan] {
        var calls: [CallPlan] = []
        for (index, call) in endpoint.calls.enumerated() {
            let scope = CallScope(
                endpointPlanner: self, uses: graph.uses[index], waitsFor: graph.waitsFor[index],
                element: call.each?.name?.value)
            calls.append(try CallPlan(index, CallPlanner(call, scope, planner)))
        }
        return calls
    }

    /// The names that a value of the request can use, without the names of calls.
    var requestScope: CallScope {
        CallScope(endpointPlanner: self, uses: [], waitsFor: [])
    }

    /// Nil for an endpoint with calls.
    func proxy() throws(PlanError) -> ProxyPlan? {
        guard let proxy = endpoint.proxy else { return nil }
        return try ProxyPlan(ProxyPlanner(proxy, requestScope, route, planner))
    }

    /// Where the authenticators of the endpoint read credentials.
    var credentialSources: [CredentialSource] {
        guard let rule = planner.config.authRule(of: endpoint) else { return [] }
        return rule.any.compactMap { name in
            planner.config.authenticators.first { $0.name.value == name.value }
                .flatMap { try? AuthenticatorPlan($0, planner).source }
        }
    }

    func headers() throws(PlanError) -> ResponseHeaders? { try planner.headers(of: endpoint) }

    /// The headers that all its responses have.
    func fixedFields() throws(PlanError) -> Fields { try planner.fixedFields(for: endpoint) }

    func fieldName(_ name: Located<String>) throws(PlanError) -> FieldName {
        try planner.fieldName(name)
    }

    /// The query parameters that `require`, rate limits and the conditions of its route use.
    func decidingQueryNames() throws(PlanError) -> [Bytes] {
        let names = try auth()?.queryNames ?? []
        let conditions = groups.namesInConditions(beside: endpoint).queries.map { Bytes($0) }
        return names + conditions + (try limits().flatMap(\.queryNames))
    }

    func body() throws(PlanError) -> BodyPlan? {
        guard let body = endpoint.body else { return nil }
        do {
            return try BodyPlan(body)
        } catch {
            throw PlanError("\(body.location): \(error)")
        }
    }

    var refusesUnknownQuery: Bool {
        (endpoint.unknownQuery?.value ?? PlanDefaults.unknownQuery) == .refuse
    }

    /// By default `required` if a call is required, else `any`.
    var success: SuccessRule {
        switch endpoint.succeedWhen?.value {
        case .any: .any
        case .all: .all
        case .required: .required
        case nil: endpoint.calls.contains { $0.required?.value == true } ? .required : .any
        }
    }
}
