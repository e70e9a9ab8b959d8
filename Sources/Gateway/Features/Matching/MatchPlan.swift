/// Which requests with its method and path an endpoint handles.
package struct MatchPlan {
    /// As in the configuration; empty for all.
    package let hosts: [String]
    /// The name of its listener; nil for all.
    package let listenerName: String?
    /// The address of its listener; nil for all.
    let listener: String?
    /// Nil if it handles all of them.
    package let condition: ConditionPlan?
    /// The index of the endpoint that gets the requests for which the condition does not hold.
    let next: Int?

    /// One of its hosts, as `Host` has it; nil without any.
    package var sampleHost: String? { hosts.first.map { HostSyntax.sample(of: $0) } }
}

extension EndpointPlanner {
    /// - Parameter index: of the endpoint in the plan
    func matching(ofEndpoint index: Int) throws(PlanError) -> MatchPlan {
        let keys = endpoint.matching
        var condition: ConditionPlan?
        if let when = keys.when {
            condition = try ConditionPlanner(scope: requestScope).plan(when)
        }
        let group = EndpointGroup(endpoint)
        return MatchPlan(
            hosts: keys.hosts.map(\.value), listenerName: keys.listener?.value,
            listener: config.listenerAddress(of: endpoint)?.spelled, condition: condition,
            next: condition == nil
                ? nil
                : config.endpoints.indices.dropFirst(index + 1).first {
                    EndpointGroup(config.endpoints[$0]) == group
                })
    }
}
