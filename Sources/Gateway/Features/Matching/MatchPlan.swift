import Basics
import HTTP

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
    /// The query parameters and headers that the conditions of its route use, also the conditions of the other
    /// endpoints.
    let queryNames: [Bytes]
    let headerNames: [FieldName]
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
        let others = config.endpoints.indices.filter {
            EndpointGroup(config.endpoints[$0]) == group
        }
        let names = config.namesInConditions(beside: endpoint)
        return MatchPlan(
            hosts: keys.hosts.map(\.value), listenerName: keys.listener?.value,
            listener: config.listenerAddress(of: endpoint)?.spelled, condition: condition,
            queryNames: names.queries.map { Bytes($0) },
            headerNames: names.headers.compactMap { FieldName($0) },
            next: condition == nil ? nil : others.first { $0 > index })
    }
}
