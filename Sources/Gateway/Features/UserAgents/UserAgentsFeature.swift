import HTTP
import Promises

/// `user_agents`: which clients are refused by the `User-Agent` that they state.
enum UserAgentsFeature: Feature {
    static var keys: FeatureKeys { FeatureKeys(root: UserAgentsKeys.root) }

    static func summary(of plan: Plan) -> [String] {
        plan.entry.userAgents.map { ["user agents: \($0.text)"] } ?? []
    }

    /// Without a `User-Agent`, the request counts as one of a client that is accepted.
    static func entryResponse(to head: RequestHead, of plan: Plan) -> ExplainedEntryResponse? {
        guard let rule = plan.entry.userAgents, head.fields.contains(.userAgent),
            !rule.accepts(head)
        else { return nil }
        return .refusal("403: user_agents denies the User-Agent")
    }

    static func refusedStatuses(_ endpoint: EndpointPlan, of plan: EntryPlan) -> [String] {
        plan.userAgents == nil ? [] : ["403"]
    }
}

extension UserAgentRule {
    /// - Parameter refusal: responds to a client that is denied
    func filter(refusal: Service<Request, Response>) -> Filter<Request, Response> {
        Filter { next in
            Service { [self] request, context in
                accepts(request.head) ? next(request, context) : refusal(request, context)
            }
        }
    }
}
