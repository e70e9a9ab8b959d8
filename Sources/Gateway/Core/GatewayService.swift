package import Basics
package import HTTP
package import HTTPClient
package import Promises
package import Reactor

/// The service that handles every client request by one plan, on one worker.
///
/// Confined to its worker. A reload creates a new service; requests in flight finish on the one
/// that they began with.
package final class GatewayService {
    package let plan: Plan
    private let endpointNumbers: [Int]
    private let backends: [Backend]
    private let authenticators: [Authenticator]
    /// The routes behind the entry filters.
    private let service: Service<Request, Response>
    /// The redirect of a listener without TLS, behind the entry filters.
    private let redirect: Service<Request, Response>
    private let routes: Routes
    /// Nil if no response has a field that needs TLS.
    private let transport: SecureTransport?
    /// By endpoint number.
    private var states: [Int: EndpointState] = [:]
    /// The paddings of the endpoints that have one, by endpoint number.
    private var paddings: [Int: Filter<Request, Response>] = [:]
    /// By the limit's name.
    private var limitCounts: [String: LimitCounts] = [:]

    /// - Parameters:
    ///   - endpointNumbers: one number for each endpoint, in the plan's order; it keeps its number
    ///     across reloads as long as its route stays the same
    ///   - callNumbers: the numbers of each endpoint's calls and hosts; empty if they are not counted
    ///   - former: the service before a reload, whose backends and endpoints pass on their state
    ///   - store: decides about the limits that replicas share; nil without one
    ///   - targets: records the targets of the calls of a request that `explain` runs
    ///   - limits: the limits of the process
    ///   - log: receives what happens in the background; nil for none
    package convenience init(
        _ plan: Plan, endpointNumbers: [Int], callNumbers: [RecordedEndpoint.Slots] = [],
        pools: ConnectionPools, store: LimitStore? = nil, loop: any Loop,
        replacing former: GatewayService? = nil,
        targets: SentTargets? = nil,
        limits: LimitTable = LimitTable(hashKey: KeyedHash.Key(0, 0)), log: Log? = nil
    ) {
        self.init(
            plan, endpointNumbers: endpointNumbers, callNumbers: callNumbers, pools: pools,
            store: store, loop: loop, replacing: former, targets: targets, limits: limits,
            log: log, entryFilters: nil)
    }

    /// - Parameter entryFilters: the filters before the routes; nil for the filters of the chain
    init(
        _ plan: Plan, endpointNumbers: [Int], callNumbers: [RecordedEndpoint.Slots] = [],
        pools: ConnectionPools, store: LimitStore? = nil, loop: any Loop,
        replacing former: GatewayService? = nil,
        targets: SentTargets? = nil,
        limits: LimitTable = LimitTable(hashKey: KeyedHash.Key(0, 0)), log: Log? = nil,
        entryFilters: [Filter<Request, Response>]?
    ) {
        self.plan = plan
        transport = SecureTransport(plan)
        self.endpointNumbers = endpointNumbers
        let backends = plan.backends.map { backend in
            Backend(
                backend, pools: pools, loop: loop,
                replacing: former?.backends.first { $0.plan.name == backend.name },
                runsHealthChecks: targets == nil)
        }
        self.backends = backends
        let surroundings = AuthSurroundings(
            backends: backends, pools: pools, loop: loop, log: log,
            keyFetching: plan.entry.assumedCaller != nil
                ? .never : targets == nil ? .always : .whenNeeded)
        let authenticators = plan.authenticators.map { authenticator in
            Authenticator(
                authenticator, surroundings,
                replacing: former?.authenticators.first { $0.plan.name == authenticator.name })
        }
        self.authenticators = authenticators
        for limit in plan.limits {
            limitCounts[limit.name] = former?.limitCounts[limit.name] ?? LimitCounts()
        }
        let via = ViaEntry(limits.hashKey)
        let chain = Chain(
            loop: loop, backends: backends,
            entry: targets == nil ? plan.entry : plan.entry.acceptingAll,
            authenticators: authenticators, proxies: plan.proxies, limits: limits,
            store: store, limitCounts: limitCounts, via: via, targets: targets)
        for number in endpointNumbers { states[number] = former?.states[number] ?? EndpointState() }
        for (endpoint, number) in zip(plan.endpoints, endpointNumbers) {
            paddings[number] = endpoint.padding.map { Padding.filter($0, loop: loop) }
        }
        let routes = Routes(
            plan,
            recorded: plan.endpoints.map { endpoint in
                chain.recorded(
                    endpoint,
                    slots: callNumbers.indices.contains(endpoint.index)
                        ? callNumbers[endpoint.index] : RecordedEndpoint.Slots())
            },
            endpoints: zip(plan.endpoints, endpointNumbers).map { [states] endpoint, slot in
                chain.endpoint(endpoint, states[slot] ?? EndpointState())
            },
            endpointNumbers: endpointNumbers, via: via)
        self.routes = routes
        service =
            (entryFilters ?? chain.entryFilters(plan.entry.hasPreflights ? Preflight(plan) : nil))
            .around(Service { routes.routeRequest($0, $1) })
        redirect = (entryFilters ?? chain.entryFilters(nil)).around(RedirectToHTTPS.service)
    }

    /// Passes a request through the entry filters to its endpoint, or redirects it if its listener
    /// serves none.
    package func handleRequest(_ request: Request, _ context: RequestContext) -> LocalPromise<
        Response
    > {
        let response =
            context.peer.facts?.redirect == nil
            ? service(request, context) : redirect(request, context)
        guard let transport, !transport.isSecure(request.head, context) else { return response }
        return response.map { response in
            transport.removeFields(context)
            return response
        }
    }

    /// Gives a response of the server itself the headers that the endpoint of its request has, and
    /// records the endpoint. A 417 is padded like the responses of the endpoint.
    package func reject(
        with response: Response, _ request: Request, _ context: RequestContext
    ) -> LocalPromise<Response> {
        // A listener that redirects serves no endpoint.
        if context.peer.facts?.redirect == nil { routes.routeRejection(request.head, context) }
        if let transport, !transport.isSecure(request.head, context) {
            transport.removeFields(context)
        }
        let rejection = context.local.value(response)
        guard response.status == .expectationFailed,
            let padding = context.endpoint.flatMap({ paddings[$0] })
        else { return rejection }
        return padding.around(Service { _, _ in rejection })(request, context)
    }

    /// Stops the health checks and the refreshes of keys. Requests in flight continue.
    package func stopBackgroundWork() {
        for backend in backends { backend.stopHealthChecks() }
        for authenticator in authenticators { authenticator.check.stop() }
    }

    /// The state of each backend and its hosts, for the admin pages.
    package var backendDetails: [BackendDetail] { backends.map(\.detail) }

    /// The state of each backend, for the admin page.
    package var backendStates: [BackendState] { backends.map(\.state) }

    /// The decisions of each authenticator, for the metrics.
    package var authResults: [AuthResults] { authenticators.map(\.results) }

    /// How often each rate limit granted and refused requests, for the metrics.
    package var limitUsages: [LimitUsage] {
        plan.limits.map { limit in
            let counts = limitCounts[limit.name] ?? LimitCounts()
            return LimitUsage(
                name: limit.name, granted: counts.granted, refused: counts.refused,
                refunded: counts.refunded)
        }
    }

    /// The load of each endpoint, for the metrics.
    package var endpointLoads: [EndpointLoad] {
        zip(plan.endpoints, endpointNumbers).map { endpoint, number in
            EndpointLoad(endpoint, states[number] ?? EndpointState())
        }
    }
}
