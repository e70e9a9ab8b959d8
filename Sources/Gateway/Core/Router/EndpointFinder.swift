import Basics
import HTTP

/// Finds the endpoint of a request: the router by host, listener, method and path, then the conditions
/// of the endpoints that have one route.
struct EndpointFinder {
    private let router: Router
    private let usesPlaces: Bool
    /// The listener of requests without a connection.
    var assumedListener: String?
    /// By endpoint; empty if none has a condition.
    private let choices: [EndpointChoice?]

    /// An endpoint with a condition.
    private struct EndpointChoice {
        let condition: HeadConditions
        /// The endpoint that gets the request if the condition does not hold.
        let next: Int
    }

    init(_ plan: Plan) {
        router = Router(plan.endpoints.map { Router.Entry($0) })
        usesPlaces = router.usesPlaces
        assumedListener = plan.entry.assumedListener
        let choices = plan.endpoints.map { endpoint -> EndpointChoice? in
            guard let condition = endpoint.matching.condition, let next = endpoint.matching.next
            else { return nil }
            return EndpointChoice(
                condition: HeadConditions([condition], of: endpoint), next: next)
        }
        self.choices = choices.allSatisfy { $0 == nil } ? [] : choices
    }

    /// The endpoint for a request, as it is or with another method.
    ///
    /// - Parameters:
    ///   - context: nil where `explain` sends nothing
    ///   - isPreflight: whether the request has none of the headers that conditions test, so that the last
    ///     endpoint of a route counts
    func match(
        _ method: Method, of head: RequestHead, _ context: RequestContext?,
        isPreflight: Bool = false
    ) -> Router.Match {
        let path = head.target.path
        let match =
            usesPlaces
            ? router.match(
                method, path,
                at: RequestPlace(
                    authority: head.authority,
                    listener: context?.peer.facts?.listener ?? assumedListener))
            : router.match(method, path)
        return choices.isEmpty ? match : choose(match, head, context, isPreflight: isPreflight)
    }

    /// The first endpoint whose condition holds; the last one of a route has none.
    private func choose(
        _ match: Router.Match, _ head: RequestHead, _ context: RequestContext?, isPreflight: Bool
    ) -> Router.Match {
        guard case .endpoint(var index) = match else { return match }
        while let choice = choices[index],
            isPreflight || !choice.condition.selects(head, context)
        {
            index = choice.next
        }
        return .endpoint(index)
    }
}

extension Router.Entry {
    /// - Parameter route: of the endpoint, or a form of it
    init(_ endpoint: EndpointPlan, route: Config.Route? = nil) {
        self.init(
            route ?? endpoint.route, endpoint.index, hosts: endpoint.matching.hosts,
            listener: endpoint.matching.listener)
    }
}
