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
}

extension EndpointPlanner {
    /// - Parameter index: of the endpoint in the plan
    func matching(ofEndpoint index: Int) throws(PlanError) -> MatchPlan {
        let keys = endpoint.matching
        let condition = try keys.when.map { when throws(PlanError) in
            try ConditionPlanner(scope: requestScope).plan(when)
        }
        let names = groups.namesInConditions(beside: endpoint)
        return MatchPlan(
            hosts: keys.hosts.map(\.value), listenerName: keys.listener?.value,
            listener: config.listenerAddress(of: endpoint)?.spelled, condition: condition,
            queryNames: names.queries.map { Bytes($0) },
            headerNames: names.headers.compactMap { FieldName($0) },
            next: condition == nil ? nil : groups.next(after: index))
    }
}
