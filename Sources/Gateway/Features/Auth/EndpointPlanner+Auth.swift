import JSONText

// Compiles `auth` of an endpoint.
extension EndpointPlanner {
    func auth() throws(PlanError) -> EndpointAuthPlan? {
        guard let rule = config.authRule(of: endpoint) else { return nil }
        return try EndpointAuthPlan(
            rule, of: config, requirements: try requirements(rule.require.map(\.value)),
            acceptsTokens: readsTokens, claims: claims)
    }

    /// Conditions on the head of a request: `require`.
    private func requirements(
        _ conditions: [Config.Condition]
    ) throws(PlanError) -> [ConditionPlan] {
        var plans: [ConditionPlan] = []
        for condition in conditions {
            plans.append(try ConditionPlanner(scope: requestScope).plan(condition))
        }
        return plans
    }

    /// The claims that the calls use, without those that only conditions test.
    private var claims: [JSONPath] {
        endpoint.calls.flatMap { endpoint.references(sentBy: $0) }.compactMap { reference in
            guard case .call("token", let steps) = reference.value.source else { return nil }
            return TemplatePlanner.path(steps)
        }
    }
}
