import HTTP
import Promises

/// Passes each request to its endpoint, or responds with 404 or 405.
///
/// Built once per plan and worker. A class, so that a service that captures it holds one reference.
final class Routes {
    private let router: Router
    private let endpoints: [Service<Request, Response>]
    private let endpointNumbers: [Int]
    private let recorded: [RecordedEndpoint]

    /// - Parameters:
    ///   - recorded: the names for the records of each endpoint's requests
    ///   - endpoints: in the plan's order
    ///   - endpointNumbers: one for each endpoint, kept across reloads
    init(
        _ plan: Plan, recorded: [RecordedEndpoint], endpoints: [Service<Request, Response>],
        endpointNumbers: [Int]
    ) {
        self.recorded = recorded
        router = Router(plan.endpoints.map { (route: $0.route, index: $0.index) })
        self.endpoints = endpoints
        self.endpointNumbers = endpointNumbers
    }

    /// Finds the endpoint of a request and passes the request to it.
    func routeRequest(_ request: Request, _ exchange: Exchange) -> LocalPromise<Response> {
        switch router.match(request.head.method, request.head.target.path) {
        case .endpoint(let index):
            exchange.endpoint = endpointNumbers[index]
            exchange.record?.enter(recorded[index])
            return endpoints[index](request, exchange)
        case .notFound:
            return exchange.local.value(Problem(.notFound, instance: exchange.id).response())
        case .methodNotAllowed(let allow):
            return exchange.local.value(
                Problem(.methodNotAllowed, instance: exchange.id).response([.allow: allow]))
        }
    }
}
