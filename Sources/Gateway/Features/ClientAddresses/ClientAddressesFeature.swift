import HTTP

/// `clients`, of the gateway and of an endpoint: which client addresses are accepted.
enum ClientAddressesFeature: Feature {
    static var keys: FeatureKeys {
        FeatureKeys(root: ClientAddressesKeys.root, endpoint: ClientAddressesKeys.endpoint)
    }

    static func check(_ check: inout ConfigCheck) { check.checkClients() }

    static func summary(of plan: Plan) -> [String] {
        let all = plan.entry.clients.map { ["clients: \($0.text)"] } ?? []
        return all
            + plan.endpoints.compactMap { endpoint in
                endpoint.clients.map { "clients of \(endpoint.name): \($0.text)" }
            }
    }

    static func conditions(
        _ endpoint: EndpointPlan, of plan: Plan, _ head: RequestHead
    ) -> [String] {
        [plan.entry.clients, endpoint.clients].compactMap { rule in
            rule.map { "clients   \($0.consequences)" }
        }
    }

    static func refusedStatuses(_ endpoint: EndpointPlan, of plan: EntryPlan) -> [String] {
        plan.clients == nil && endpoint.clients == nil ? [] : ["403"]
    }
}
