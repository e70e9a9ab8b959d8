import Basics
import HTTP
import HTTPClient
import Promises
import Reactor

/// One backend on one worker: its hosts, and the state that its calls share.
final class Backend {
    let plan: BackendPlan
    let hosts: HostSet
    let concurrencyLimit: ConcurrencyLimit?
    let breaker: CircuitBreaker?
    let retryBudget: RetryBudget
    private var checks: HealthChecks?
    let loop: any Loop
    private let entropy: Entropy

    /// - Parameters:
    ///   - former: the backend of that name before a reload. Its retry budget is continued, and the
    ///     availability of each host that stays. If at least one stays, so is its concurrency limit,
    ///     which adopts new settings; if all do, so is its breaker, unless its settings changed
    ///   - runsHealthChecks: whether to run the health checks of the plan
    init(
        _ plan: BackendPlan, pools: ConnectionPools, loop: any Loop, replacing former: Backend?,
        runsHealthChecks: Bool = true
    ) {
        self.plan = plan
        self.loop = loop
        entropy = loop.entropy
        let reusable = former.flatMap { $0.plan.hasSameHosts(as: plan) ? $0 : nil }
        concurrencyLimit = plan.concurrencyLimit(replacing: former, loop: loop)
        breaker =
            reusable?.plan.breaker == plan.breaker
            ? reusable?.breaker : plan.breaker.map { CircuitBreaker($0, loop: loop) }
        retryBudget = former?.retryBudget ?? RetryBudget()
        hosts = HostSet(plan, pools: pools, loop: loop, replacing: former?.hosts)
        if runsHealthChecks { checks = plan.health.map(healthChecks) }
    }

    private func healthChecks(_ health: HealthPlan) -> HealthChecks {
        let requests = hosts.map { host in
            let request = ClientRequest(
                method: .get, target: host.target(health.target), host: host.field,
                constantFields: plan.fields.namingProduct(),
                responseBytesMax: HealthPlan.responseBytesMax)
            return (pool: host.pool, request: request)
        }
        return HealthChecks(health, of: requests, loop: loop) { [hosts] host, result in
            hosts.recordCheck(of: host, result)
        }
    }

    /// Calls in flight continue.
    func stopHealthChecks() {
        checks?.stop()
        checks = nil
    }

    /// Whether a call is one request, which waits for nothing but a connection.
    var sendsAtOnce: Bool { concurrencyLimit == nil && hosts.count == 1 }

    /// Sends a call to the host that the load balancing chooses. If nothing was sent to it because
    /// the connection failed, the next available host is tried at once.
    func send(_ request: CallRequest, _ context: RequestContext) -> LocalPromise<ClientResponse> {
        guard let first = hosts.next() else {
            request.recordRefusal(.destinationUnavailable, of: context, at: loop.now)
            return context.local.error(CallFailure.destinationUnavailable)
        }
        let response = send(request, to: first, context)
        guard hosts.count > 1 else { return response }
        return response.recover { error in
            try self.sendToNextHost(
                request, context, after: error,
                .init(host: first, remaining: self.hosts.count - 1))
        }
    }

    /// Sends a call to the host of a backend that has one. The request moves to the pool.
    func sendToOnlyHost(
        _ request: consuming ClientRequest, _ callContext: CallContext,
        within limit: consuming TimeLimit?, _ context: RequestContext
    ) -> LocalPromise<ClientResponse> {
        request.exchange = beginAttempt(
            callContext.attempt, at: 0,
            before: callContext.proxied == nil ? callContext.deadline : nil,
            context)
        return hosts.first.send(request, callContext.proxied, within: limit, holding: nil)
    }

    /// Sends a request of the gateway itself, which serves no client, through the breaker to the host
    /// that the load balancing chooses. No other host is tried.
    func sendOwn(
        _ target: Target, _ fields: Fields, responseBytesMax: Int
    ) -> LocalPromise<ClientResponse> {
        guard let breaker else {
            return sendOwnToHost(target, fields, responseBytesMax: responseBytesMax)
        }
        return breaker.sendOwn {
            sendOwnToHost(target, fields, responseBytesMax: responseBytesMax)
        }
    }

    private func sendOwnToHost(
        _ target: Target, _ fields: Fields, responseBytesMax: Int
    ) -> LocalPromise<ClientResponse> {
        guard let index = hosts.next() else {
            return loop.local.error(CallFailure.destinationUnavailable)
        }
        let host = hosts[index]
        let response = host.pool.send(
            ClientRequest(
                method: .get, target: host.target(target), host: host.field,
                constantFields: plan.fields.namingProduct(), fields: fields,
                responseBytesMax: responseBytesMax))
        if hosts.recordsCalls {
            response.whenSettled { [hosts] in hosts.recordCall(to: index, .init(ofOwn: $0)) }
        }
        return response
    }

    /// Sends a call to the next available host, if nothing of it was sent to the one that failed. The failure of
    /// another call may have ended the request before.
    private func sendToNextHost(
        _ request: CallRequest, _ context: RequestContext, after error: any Error,
        _ search: HostSet.Search
    ) throws -> LocalPromise<ClientResponse> {
        guard let failure = error as? ClientFailure, !failure.wasSent, !failure.isLocal,
            request.isRepeatable, context.record.call(request.call)?.isInFlight ?? true,
            let next = hosts.next(after: search)
        else { throw error }
        let repeated = request.repeated(.otherHost, for: context, at: loop.now)
        return send(repeated, to: next.host, context).recover { error in
            try self.sendToNextHost(repeated, context, after: error, next)
        }
    }

    private func send(
        _ request: CallRequest, to index: Int, _ context: RequestContext
    ) -> LocalPromise<ClientResponse> {
        assert(checks?.isScheduled != false, "no further health check is scheduled")
        let fields = beginAttempt(
            request.attempt, at: index, before: request.proxied == nil ? request.deadline : nil,
            context)
        let response = hosts[index].send(
            request.sent(toHost: index, fields), request.proxied, within: request.timeLimit,
            holding: request.permit)
        if hosts.recordsCalls {
            // Before any repetition on another host, which is an attempt of its own.
            request.whenDecided(response, context) { [hosts] in hosts.recordCall(to: index, $0) }
        }
        return response
    }

    /// Records that an attempt is sent to a host; gives what the host receives about the exchange.
    ///
    /// - Parameter deadline: nil for a request that is passed through, which has none that the
    ///   backend could keep
    private func beginAttempt(
        _ attempt: Int?, at host: Int, before deadline: Instant?, _ context: RequestContext
    ) -> ExchangeFields {
        let now = loop.now
        let fields = ExchangeFields(
            of: context, span: entropy.next(), left: deadline.map { $0 - now }, attempt: attempt)
        if let attempt {
            context.record.permitAttempt(attempt, host: host, spanID: fields.parentID, at: now)
        }
        return fields
    }

    /// What the requests of a call share, for each host.
    ///
    /// - Parameters:
    ///   - fields: the fields of the backend's configuration that the call does not replace
    ///   - statusesWithoutFields: the statuses for which the fields of a response are not used
    func templates(
        _ fields: Fields, responseBytesMax: Int, statusesWithoutFields: ClosedRange<Int>? = nil
    ) -> [RequestTemplate] {
        hosts.map { host in
            RequestTemplate(
                host: host.field, fields: fields, responseBytesMax: responseBytesMax,
                statusesWithoutFields: statusesWithoutFields)
        }
    }
}

extension BackendPlan {
    /// The limit of `max_concurrent`; nil without one.
    ///
    /// - Parameter former: the backend before a reload. Its limit is continued, so that its calls in
    ///   progress still count, unless none of its hosts is left: they do not load the new ones.
    fileprivate func concurrencyLimit(
        replacing former: Backend?, loop: any Loop
    ) -> ConcurrencyLimit? {
        guard let concurrency else { return nil }
        guard let former, let limit = former.concurrencyLimit,
            !Set(hosts.map(\.origin)).isDisjoint(with: former.plan.hosts.map(\.origin))
        else { return ConcurrencyLimit(concurrency, loop: loop) }
        limit.adopt(concurrency)
        return limit
    }
}
