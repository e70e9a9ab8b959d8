import HTTP
import Promises

/// `hosts`: the hosts that requests may name.
enum HostsFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(root: HostsKeys.root) }

    static func check(_ check: inout ConfigCheck) { check.checkHosts() }

    static func summary(of plan: Plan) -> [String] {
        plan.entry.hosts.map { ["hosts: \($0.text)"] } ?? []
    }

    /// Without a host, the request counts as one for a host that the gateway serves.
    static func entryResponse(to head: RequestHead, of plan: Plan) -> ExplainedEntryResponse? {
        guard let hosts = plan.entry.hosts,
            head.target.authority != nil || head.fields.contains(.host), !hosts.accepts(head)
        else { return nil }
        return .refusal("421: hosts has only \(hosts.text)")
    }

    static func refusedStatuses(_ endpoint: EndpointPlan, of plan: EntryPlan) -> [String] {
        plan.hosts == nil ? [] : ["421"]
    }
}

extension AllowedHosts {
    /// - Parameter refusal: responds to a request for another host
    func filter(refusal: Service<Request, Response>) -> Filter<Request, Response> {
        Filter { next in
            Service { [self] request, context in
                accepts(request.head) ? next(request, context) : refusal(request, context)
            }
        }
    }
}
