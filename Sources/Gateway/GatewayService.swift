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
    private let backends: [Backend]
    private let entryFilters: [Filter<Request, Response>]
    /// The routes behind the entry filters.
    private let service: Service<Request, Response>
    /// By endpoint number.
    private var states: [Int: EndpointState] = [:]

    /// - Parameters:
    ///   - endpointNumbers: one number for each endpoint, in the plan's order; it keeps its number
    ///     across reloads as long as its route stays the same
    ///   - former: the service before a reload, whose backends and endpoints pass on their state
    ///   - targets: records the targets of the calls of a request that `explain` runs
    package convenience init(
        _ plan: Plan, endpointNumbers: [Int], pools: ConnectionPools, loop: any Loop,
        replacing former: GatewayService? = nil, targets: SentTargets? = nil
    ) {
        self.init(
            plan, endpointNumbers: endpointNumbers, pools: pools, loop: loop, replacing: former,
            targets: targets,
            entryFilters: nil)
    }

    /// - Parameter entryFilters: the filters before the routes; nil for those of the chain
    init(
        _ plan: Plan, endpointNumbers: [Int], pools: ConnectionPools, loop: any Loop,
        replacing former: GatewayService? = nil, targets: SentTargets? = nil,
        entryFilters: [Filter<Request, Response>]?
    ) {
        self.plan = plan
        let backends = plan.backends.map { backend in
            Backend(
                backend, pools: pools, loop: loop,
                replacing: former?.backends.first { $0.plan.name == backend.name },
                runsHealthChecks: targets == nil)
        }
        self.backends = backends
        let chain = Chain(loop: loop, backends: backends, targets: targets)
        for number in endpointNumbers { states[number] = former?.states[number] ?? EndpointState() }
        let routes = Routes(
            plan, recorded: plan.endpoints.map(chain.recorded),
            endpoints: zip(plan.endpoints, endpointNumbers).map { [states] endpoint, number in
                chain.endpoint(endpoint, states[number] ?? EndpointState())
            },
            endpointNumbers: endpointNumbers)
        self.entryFilters = entryFilters ?? chain.entryFilters
        service = self.entryFilters.around(Service { routes.routeRequest($0, $1) })
    }

    /// Passes a request through the entry filters to its endpoint.
    package func handleRequest(_ request: Request, _ exchange: Exchange) -> LocalPromise<Response> {
        service(request, exchange)
    }

    /// Passes a response of the server itself through the entry filters.
    package func reject(
        with response: Response, _ request: Request, _ exchange: Exchange
    ) -> LocalPromise<Response> {
        let rejection = entryFilters.around(
            Service<Request, Response> { _, exchange in exchange.local.value(response) })
        return rejection(request, exchange)
    }

    /// Stops the health checks. Requests in flight continue.
    package func stopHealthChecks() {
        for backend in backends { backend.stopHealthChecks() }
    }

    /// The state of each backend and its hosts, for the admin pages.
    package var backendDetails: [BackendDetail] { backends.map(\.detail) }

    /// The state of each backend, for the admin page.
    package var backendStates: [BackendState] {
        backends.map { backend in
            BackendState(
                name: backend.plan.name, isOpen: backend.breaker?.isOpen ?? false,
                running: backend.concurrencyLimit?.load.running ?? 0,
                waiting: backend.concurrencyLimit?.load.waiting ?? 0,
                connections: backend.openConnections, unavailableHosts: backend.unavailableHosts,
                outcomes: backend.metrics.outcomes)
        }
    }
}

/// The state of a backend on one worker, as the admin page shows it.
package struct BackendState: Sendable {
    package let name: String
    /// Whether its circuit breaker is open or half open.
    package let isOpen: Bool
    package let running: Int
    package let waiting: Int
    /// Open connections, idle ones and those in use; not those being made.
    package let connections: Int
    /// Ejected or unhealthy hosts.
    package let unavailableHosts: Int
    /// How calls ended: `ok`, or the kind of failure.
    package let outcomes: [(name: String, count: Int)]

    /// The counters, with every gauge set to zero.
    package var countersOnly: BackendState {
        BackendState(
            name: name, isOpen: false, running: 0, waiting: 0, connections: 0, unavailableHosts: 0,
            outcomes: outcomes)
    }
}
