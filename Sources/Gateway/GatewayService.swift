package import HTTP
package import HTTPClient
package import Promises
package import Reactor

/// A plan at work on one core: the service that answers every client request.
///
/// Confined to its core. A reload makes a new one beside the old one; requests in flight keep the one
/// that they began with.
package final class GatewayService {
    package let plan: Plan
    private let backends: [Backend]
    private let door: [Filter<Request, Response>]
    /// The routes behind the door.
    private let service: Service<Request, Response>
    /// By the numbers of the endpoints, which an endpoint keeps as long as its route stays the same.
    private var states: [Int: EndpointState] = [:]

    /// - Parameters:
    ///   - slots: the number by which the embedder knows each endpoint, in the plan's order
    ///   - former: the plan at work before a reload, whose backends and endpoints pass on their state
    ///   - witness: watches the calls of a request that is explained
    package convenience init(
        _ plan: Plan, slots: [Int], client: Client, loop: any Loop,
        replacing former: GatewayService? = nil, witness: CallRecorder? = nil
    ) {
        self.init(
            plan, slots: slots, client: client, loop: loop, replacing: former, witness: witness,
            door: nil)
    }

    /// - Parameter door: the filters before the routes; nil for those of the chain
    init(
        _ plan: Plan, slots: [Int], client: Client, loop: any Loop,
        replacing former: GatewayService? = nil, witness: CallRecorder? = nil,
        door: [Filter<Request, Response>]?
    ) {
        self.plan = plan
        let backends = plan.backends.map { backend in
            Backend(
                backend, client: client, loop: loop,
                replacing: former?.backends.first { $0.plan.name == backend.name },
                asksHosts: witness == nil)
        }
        self.backends = backends
        let chain = Chain(loop: loop, backends: backends, witness: witness)
        for slot in slots { states[slot] = former?.states[slot] ?? EndpointState() }
        let routes = Routes(
            plan,
            endpoints: zip(plan.endpoints, slots).map { [states] endpoint, slot in
                chain.endpoint(endpoint, states[slot] ?? EndpointState())
            },
            slots: slots)
        self.door = door ?? chain.door
        service = self.door.around(Service { routes.answer($0, $1) })
    }

    /// Passes a request through the door to its endpoint.
    package func answer(_ request: Request, _ exchange: Exchange) -> LocalPromise<Response> {
        service(request, exchange)
    }

    /// Passes a response that the server gives itself through the door.
    package func reject(
        with response: Response, _ request: Request, _ exchange: Exchange
    ) -> LocalPromise<Response> {
        let rejection = door.around(
            Service<Request, Response> { _, exchange in exchange.local.value(response) })
        return rejection(request, exchange)
    }

    /// Does nothing of its own any more. Requests under way go on.
    package func stop() {
        for backend in backends { backend.stop() }
    }

    /// What the admin page tells of each backend.
    package var backendStates: [BackendState] {
        backends.map { backend in
            BackendState(
                name: backend.plan.name, isOpen: backend.breaker?.isOpen ?? false,
                running: backend.concurrencyLimit?.load.running ?? 0,
                waiting: backend.concurrencyLimit?.load.waiting ?? 0,
                connections: backend.connections, hostsLeftOut: backend.hostsLeftOut,
                outcomes: backend.meter.outcomes)
        }
    }
}

/// A backend as the admin page shows it, on one core.
package struct BackendState: Sendable {
    package let name: String
    /// Left alone by its breaker.
    package let isOpen: Bool
    package let running: Int
    package let waiting: Int
    /// Idle ones and those at work.
    package let connections: Int
    /// Ejected, or not well.
    package let hostsLeftOut: Int
    /// How calls ended: `ok`, or the kind of failure.
    package let outcomes: [(name: String, count: Int)]

    /// Without what was only true at its moment.
    package var countersOnly: BackendState {
        BackendState(
            name: name, isOpen: false, running: 0, waiting: 0, connections: 0, hostsLeftOut: 0,
            outcomes: outcomes)
    }
}
