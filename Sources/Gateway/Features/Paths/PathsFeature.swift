import HTTP

/// `paths` of endpoints and `defaults`: what happens to paths that servers read in different ways.
enum PathsFeature: Feature {
    static var keys: FeatureKeys {
        FeatureKeys(defaults: PathsKeys.defaults, endpoint: PathsKeys.endpoint)
    }

    static func check(_ check: inout ConfigCheck) {
        check.checkPaths()
        check.checkConditionalProtection()
    }

    static func entryResponse(to head: RequestHead, of plan: Plan) -> ExplainedEntryResponse? {
        guard let endpoint = plan.endpoint(for: head),
            PathRules(plan).refuse(head, at: endpoint.index)
        else { return nil }
        return .refusal(
            "400: paths: servers read this path in different ways",
            after: ExplainedRequest(endpoint, head).routeLines)
    }
}
