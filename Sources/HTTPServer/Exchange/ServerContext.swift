import Basics
import HTTP
import Promises
import Reactor

/// What the connections and the exchanges of one server share: the settings, the service, the writers,
/// and the numbers that the limits of requests bound.
///
/// The server, its connections and their exchanges hold it. Confined to the loop's thread.
final class ServerContext {
    let loop: any Loop
    /// From the loop.
    private let entropy: Entropy
    let hooks: ServerHooks
    let service: (Request, Exchange) -> LocalPromise<Response>
    let budget: ByteBudget
    /// The connections and requests of each client, in all workers.
    let clients: ClientCounts
    /// Shared by all exchanges; has the budget.
    private let exchangeResources: ExchangeResources

    private(set) var settings: ServerSettings
    /// `settings.limits`, for the connections that are accepted from now on.
    private(set) var wireLimits: WireLimits
    private(set) var timeouts: ConnectionTimeouts
    /// `settings.responseFields`.
    private(set) var responseFields = Fields()

    var writer = ResponseWriter()
    var h2Writer = H2ResponseWriter()

    /// What was refused, and which connections were closed to keep others.
    var losses = ServerLosses()

    /// Requests in flight: those that the service handles. One whose body the service waits for
    /// counts when the body is complete.
    var requestsInFlight = 0 {
        didSet { assert(requestsInFlight >= 0, "fewer requests than none are in flight") }
    }

    /// Streamed responses whose heads were sent and whose bodies have not ended.
    var streams = 0 {
        didSet { assert(streams >= 0, "fewer streams than none are open") }
    }

    init(
        loop: any Loop, settings: ServerSettings, hooks: ServerHooks, clients: ClientCounts,
        service: @escaping (Request, Exchange) -> LocalPromise<Response>
    ) {
        self.loop = loop
        entropy = loop.entropy
        self.hooks = hooks
        self.service = service
        self.clients = clients
        self.settings = settings
        wireLimits = WireLimits(settings.limits)
        timeouts = ConnectionTimeouts(settings)
        responseFields = settings.responseFields
        budget = ByteBudget(limit: settings.bufferedBytes)
        exchangeResources = ExchangeResources(local: loop.local, budget: budget)
    }

    /// Ends exchanges that wait for their clients, because a limit is short.
    var makeRoom: (() -> Void)? {
        get { exchangeResources.makeRoom }
        set { exchangeResources.makeRoom = newValue }
    }

    /// Changes the settings; open connections keep their limits of the wire protocol.
    func adopt(_ settings: ServerSettings) {
        self.settings = settings
        wireLimits = WireLimits(settings.limits)
        timeouts = ConnectionTimeouts(settings)
        responseFields = settings.responseFields
        budget.limit = settings.bufferedBytes
    }

    /// A new exchange for a request, with the client's id if it is valid, and in the client's trace
    /// if there is one.
    func makeExchange(for head: RequestHead, from client: PeerAddress) -> Exchange {
        let id = head.fields[.requestID].flatMap { RequestID(client: $0.bytes.span) }
        return hooks.makeExchange(
            ExchangeStart(
                id: id ?? RequestID(from: entropy),
                trace: TraceContext(head.fields)
                    ?? TraceContext(from: entropy, sampledShare: settings.sampledShare),
                began: loop.now, peer: client, responseFields: responseFields,
                resources: exchangeResources))
    }

    /// The address of a connection's client, with its count of requests unless they are not limited: many
    /// clients share the address of a proxy.
    func peerAddress(
        of stream: any ByteStream, _ client: ClientCounts.Client?, _ facts: ConnectionFacts?
    ) -> PeerAddress {
        guard settings.requestsPerClient != nil, let client, let address = stream.peer,
            !hooks.isProxy(address)
        else { return PeerAddress(stream.peer, facts) }
        return PeerAddress(address, facts, requests: clients.requests(of: client))
    }
}
