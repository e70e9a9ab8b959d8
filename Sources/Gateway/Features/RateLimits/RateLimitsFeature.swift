/// `rate_limits` and `store`: how many requests of one client, or of all, an endpoint accepts.
enum RateLimitsFeature: Feature {
    static var keys: FeatureKeys {
        FeatureKeys(
            root: RateLimitsKeys.root + StoreKeys.root, defaults: LimitUseKeys.defaults,
            endpoint: LimitUseKeys.endpoint)
    }

    static func check(_ check: inout ConfigCheck) {
        check.checkRateLimits()
        check.checkStore()
    }

    static func checkUse(_ check: inout ConfigCheck) { check.checkEveryRateLimitIsUsed() }

    static func summary(of plan: Plan) -> [String] {
        (plan.store.map { ["store: \($0.url)"] } ?? []) + uses(of: plan)
    }

    /// One line for each use of a limit, with the endpoints that have it.
    private static func uses(of plan: Plan) -> [String] {
        var uses: [(text: String, endpoints: [String])] = []
        for endpoint in plan.endpoints {
            for use in endpoint.limits {
                var text = use.summary + use.costText
                if let condition = use.condition { text += "; if \(condition.text)" }
                if let index = uses.firstIndex(where: { $0.text == text }) {
                    uses[index].endpoints.append(endpoint.name)
                } else {
                    uses.append((text, [endpoint.name]))
                }
            }
        }
        return uses.map { text, endpoints in
            let isAll = endpoints.count == plan.endpoints.count
            return "rate limit of \(isAll ? "all endpoints" : endpoints.joined(separator: ", ")):"
                + " \(text)"
        }
    }

    static func decisions(on request: Explanation, by endpoint: EndpointPlan) -> [String] {
        ExplainedLimits(endpoint, try? request.values(of: endpoint)).lines
    }

    static func refusedStatuses(_ endpoint: EndpointPlan, of plan: EntryPlan) -> [String] {
        endpoint.limits.contains { !$0.key.isEmpty } ? ["429"] : []
    }

    static func responseHeaders(_ endpoint: EndpointPlan) -> [String] {
        endpoint.limits.contains { $0.limit.announce == .always }
            ? OpenAPIComponents.quotaHeaders : []
    }
}
