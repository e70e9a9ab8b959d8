import HTTP
import Promises

/// Passes each request to its endpoint, or responds with 404 or 405.
///
/// Built once per plan and worker. A class, so that a service that captures it holds one reference.
final class Routes {
    private let finder: EndpointFinder
    private let paths: PathRules
    private let via: ViaEntry
    private let endpoints: [Service<Request, Response>]
    private let endpointNumbers: [Int]
    private let recorded: [RecordedEndpoint]
    /// The headers of each endpoint's responses, where they differ from the server's.
    private let headers: [ResponseHeaders?]
    /// The headers of responses without an endpoint.
    private let otherHeaders: ResponseHeaders?

    /// - Parameters:
    ///   - via: the entry of this process in `Via`
    ///   - recorded: the names for the records of each endpoint's requests
    ///   - endpoints: in the plan's order
    ///   - endpointNumbers: one for each endpoint, kept across reloads
    init(
        _ plan: Plan, recorded: [RecordedEndpoint], endpoints: [Service<Request, Response>],
        endpointNumbers: [Int], via: ViaEntry
    ) {
        paths = PathRules(plan)
        self.via = via
        self.recorded = recorded
        finder = EndpointFinder(plan)
        self.endpoints = endpoints
        self.endpointNumbers = endpointNumbers
        headers = plan.endpoints.map(\.headers)
        otherHeaders = plan.entry.headers
    }

    /// Finds the endpoint of a request and passes the request to it.
    func routeRequest(_ request: Request, _ context: RequestContext) -> LocalPromise<Response> {
        switch finder.match(request.head.method, of: request.head, context) {
        case .endpoint(let index):
            enter(index, request.head, context)
            if let reason = refusal(of: request.head, at: index) {
                context.refusal = reason
                return context.local.value(Problem(reason, instance: context.id).response())
            }
            return endpoints[index](request, context)
        case .notFound:
            addOtherHeaders(request.head, context)
            return context.local.value(Problem(.notFound, instance: context.id).response())
        case .methodNotAllowed(let allow):
            addOtherHeaders(request.head, context)
            return context.local.value(
                Problem(.methodNotAllowed, instance: context.id).response([.allow: allow]))
        }
    }

    /// Above everything that an endpoint does: both are properties of the head alone.
    private func refusal(of head: RequestHead, at endpoint: Int) -> RefusalReason? {
        if paths.refuse(head, at: endpoint) { return .path }
        return head.hasVia && via.isNamed(in: head.fields) ? .loop : nil
    }

    private func enter(_ index: Int, _ head: RequestHead, _ context: RequestContext) {
        context.endpoint = endpointNumbers[index]
        context.record.enter(recorded[index])
        if let headers = headers[index] { context.responseFields = headers.fields(for: head) }
    }

    private func addOtherHeaders(_ head: RequestHead, _ context: RequestContext) {
        if let otherHeaders { context.responseFields = otherHeaders.fields(for: head) }
    }

    /// Finds the endpoint of a request that the server itself rejects, unless it has been routed: its
    /// response has the endpoint's headers, and the log and the metrics name it.
    func routeRejection(_ head: RequestHead, _ context: RequestContext) {
        guard context.endpoint == nil else { return }
        guard case .endpoint(let index) = finder.match(head.method, of: head, context) else {
            return addOtherHeaders(head, context)
        }
        enter(index, head, context)
    }
}
