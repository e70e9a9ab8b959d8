import HTTP

/// `auth` and `auth_failures`: which callers an endpoint accepts, and how they prove their identity.
enum AuthFeature: Feature {
    static var keys: FeatureKeys {
        FeatureKeys(
            root: AuthKeys.root, defaults: AuthKeys.defaults, endpoint: AuthKeys.endpoint)
    }

    static func check(_ check: inout ConfigCheck) { check.checkAuth() }

    static func checkUse(_ check: inout ConfigCheck) { check.checkEveryAuthenticatorIsUsed() }

    static func summary(of plan: Plan) -> [String] {
        plan.authenticators.map { "auth \($0.name): \($0.text)" }
    }

    static func conditions(
        _ endpoint: EndpointPlan, of plan: Plan, _ head: RequestHead
    ) -> [String] {
        endpoint.auth.map { ["auth      \($0.text); others get 401 or 403"] } ?? []
    }

    static func decisions(on request: Explanation, by endpoint: EndpointPlan) -> [String] {
        request.credential?.lines ?? []
    }

    static func refusedStatuses(_ endpoint: EndpointPlan, of plan: EntryPlan) -> [String] {
        guard let auth = endpoint.auth else { return [] }
        return ["401"] + (auth.mayForbid ? ["403"] : [])
            + (plan.authFailures == nil ? [] : ["429"])
    }
}
