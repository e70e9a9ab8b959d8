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
    /// The headers of each endpoint's responses, where they are not those of the server.
    private let headers: [ResponseHeaders?]
    /// Those of responses without an endpoint.
    private let otherHeaders: ResponseHeaders?
    private let hasHeaders: Bool

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
        headers = plan.endpoints.map(\.headers)
        otherHeaders = plan.entry.headers
        hasHeaders = otherHeaders != nil || headers.contains { $0 != nil }
    }

    /// Finds the endpoint of a request and passes the request to it.
    func routeRequest(_ request: Request, _ exchange: Exchange) -> LocalPromise<Response> {
        switch router.match(request.head.method, request.head.target.path) {
        case .endpoint(let index):
            exchange.endpoint = endpointNumbers[index]
            exchange.record.enter(recorded[index])
            if let headers = headers[index] {
                exchange.responseFields = headers.fields(for: request.head)
            }
            return endpoints[index](request, exchange)
        case .notFound:
            addOtherHeaders(request.head, exchange)
            return exchange.local.value(Problem(.notFound, instance: exchange.id).response())
        case .methodNotAllowed(let allow):
            addOtherHeaders(request.head, exchange)
            return exchange.local.value(
                Problem(.methodNotAllowed, instance: exchange.id).response([.allow: allow]))
        }
    }

    private func addOtherHeaders(_ head: RequestHead, _ exchange: Exchange) {
        if let otherHeaders { exchange.responseFields = otherHeaders.fields(for: head) }
    }

    /// Chooses the headers of a response of the server itself, whose request may not have been
    /// routed.
    func addHeaders(to exchange: Exchange, _ head: RequestHead) {
        guard hasHeaders, exchange.endpoint == nil else { return }
        guard case .endpoint(let index) = router.match(head.method, head.target.path) else {
            return addOtherHeaders(head, exchange)
        }
        if let headers = headers[index] { exchange.responseFields = headers.fields(for: head) }
    }
}
