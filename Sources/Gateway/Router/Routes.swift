import HTTP
import Promises

/// Where requests go behind the door: each to its endpoint, or to a 404 or 405.
///
/// Built once per plan and core; a class, so that a service made of it holds one reference.
final class Routes {
    private let router: Router
    private let endpoints: [Service<Request, Response>]
    private let slots: [Int]

    /// - Parameters:
    ///   - endpoints: in the plan's order
    ///   - slots: the number by which the embedder knows each endpoint
    init(_ plan: Plan, endpoints: [Service<Request, Response>], slots: [Int]) {
        router = Router(plan.endpoints.map { (route: $0.route, index: $0.index) })
        self.endpoints = endpoints
        self.slots = slots
    }

    /// Finds the endpoint of a request and lets it answer.
    func answer(_ request: Request, _ exchange: Exchange) -> LocalPromise<Response> {
        switch router.match(request.head.method, request.head.target.path) {
        case .endpoint(let index):
            exchange.endpoint = slots[index]
            return endpoints[index](request, exchange)
        case .notFound:
            return exchange.local.value(Problem(.notFound, instance: exchange.id).response())
        case .methodNotAllowed(let allow):
            return exchange.local.value(
                Problem(.methodNotAllowed, instance: exchange.id).response([.allow: allow]))
        }
    }
}
