/// Compiles the limits of an endpoint.
extension EndpointPlanner {
    func limits() throws(PlanError) -> [LimitUsePlan] {
        var plans: [LimitUsePlan] = []
        for use in config.rateLimits(of: endpoint) {
            guard let name = use.value.limit?.value,
                let limit = config.rateLimits.first(where: { $0.name.value == name }),
                let plan = limitPlans.first(where: { $0.name == name })
            else { throw PlanError("\(use.location): no such rate limit") }
            plans.append(
                LimitUsePlan(
                    plan, cost: try cost(of: use.value), key: try keyParts(of: limit),
                    planSource: try planSource(of: limit),
                    condition: try use.value.when.map { condition throws(PlanError) in
                        try ConditionPlanner(scope: requestScope).plan(condition)
                    },
                    spelledKey: limit.key.isEmpty
                        ? nil : limit.key.map(\.value.spelled).joined(separator: ", ")))
        }
        return plans
    }

    private func cost(of use: Config.LimitUse) throws(PlanError) -> LimitUsePlan.Cost {
        switch use.cost?.value ?? .fixed(1) {
        case .fixed(let cost): return .fixed(cost)
        case .count(let reference):
            let compiled = try TemplatePlanner(scope: requestScope).compile(
                reference, at: "\(use.location)")
            return .count(compiled.source, text: reference.text)
        }
    }

    private func keyParts(
        of limit: Config.RateLimit
    ) throws(PlanError) -> [LimitUsePlan.KeyPart] {
        var parts: [LimitUsePlan.KeyPart] = []
        for part in limit.key {
            switch part.value {
            case .address: parts.append(.address)
            case .caller: parts.append(.caller)
            case .reference(let template):
                let source = try source(of: template)
                let isTextual = TemplatePlanner(scope: requestScope).isTextual(source)
                parts.append(.value(source, isTextual: isTextual))
            }
        }
        return parts
    }

    private func planSource(
        of limit: Config.RateLimit
    ) throws(PlanError) -> LimitUsePlan.PlanSource {
        guard !limit.plans.isEmpty else { return .none }
        guard let plan = limit.plan else { return .caller }
        return .value(try source(of: plan))
    }

    /// The source of a template that is one reference.
    private func source(of template: LocatedTemplate) throws(PlanError) -> CompiledTemplate.Source {
        let compiled = try TemplatePlanner(scope: requestScope).field(template)
        guard case .reference(let reference, _)? = compiled.pieces.first else {
            throw PlanError("\(endpoint.location): a key without a reference")
        }
        return reference.source
    }
}
