import HTTP

/// `hosts`, `listener` and `when` of endpoints: which requests with its method and path an endpoint handles.
enum MatchingFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(endpoint: MatchingKeys.endpoint) }

    static func check(_ check: inout ConfigCheck) {
        check.checkRoutes()
        check.checkMatching()
    }

    static func conditions(
        _ endpoint: EndpointPlan, of plan: Plan, _ head: RequestHead
    ) -> [String] {
        let matching = endpoint.matching
        var lines: [String] = []
        if !matching.hosts.isEmpty {
            lines.append("hosts     \(matching.hosts.joined(separator: ", "))")
        }
        if let listener = matching.listenerName { lines.append("listener  \(listener)") }
        if let condition = matching.condition { lines.append("when      \(condition.text)") }
        return lines
    }
}
