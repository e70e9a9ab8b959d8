import HTTP

/// `content_types` of an endpoint: the media types that the body of a request may have.
enum ContentTypesFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(endpoint: ContentTypesKeys.endpoint) }

    static func check(_ check: inout ConfigCheck) {
        for endpoint in check.config.endpoints { check.checkContentTypes(of: endpoint) }
    }

    static func conditions(
        _ endpoint: EndpointPlan, of plan: Plan, _ head: RequestHead
    ) -> [String] {
        endpoint.contentTypes.map { ["bodies    \($0.text); others get 415"] } ?? []
    }

    static func refusal(of request: Explanation, by endpoint: EndpointPlan) -> String? {
        guard let types = endpoint.contentTypes, request.mayHaveBody, !types.accepts(request.head)
        else { return nil }
        return "refused   415: content_types has only \(types.text)"
    }

    static func refusedStatuses(_ endpoint: EndpointPlan, of plan: EntryPlan) -> [String] {
        endpoint.contentTypes == nil ? [] : ["415"]
    }
}
