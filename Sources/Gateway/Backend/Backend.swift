import Basics
import GatewayConfig
import HTTP
import HTTPClient
import Promises
import Reactor

/// One backend on one worker: its hosts with their pools, and the state that its calls share.
final class Backend {
    let plan: BackendPlan
    let concurrencyLimit: ConcurrencyLimit?
    let breaker: CircuitBreaker?
    let retryBudget: RetryBudget
    /// Which hosts may be called; nil without `eject` and `health`.
    fileprivate let hostStates: HostStates?
    private var checks: HealthChecks?
    private let hosts: [Host]
    private let firstHost: Host
    let loop: any Loop
    private let entropy: Entropy
    /// Where the next search for a host begins, so that equally busy hosts are called in turn.
    private var searchStart = 0

    /// One host of the backend, with the constant parts of every head sent to it.
    private final class Host {
        let pool: Pool
        /// For calls that switch to another protocol; nil if `pool` serves them.
        let upgradePool: Pool?
        /// Put before the path of every call; empty for most.
        let pathPrefix: Bytes
        /// The value of `Host`.
        let hostField: FieldValue

        init(pool: Pool, upgradePool: Pool?, pathPrefix: Bytes, hostField: FieldValue) {
            self.pool = pool
            self.upgradePool = upgradePool
            self.pathPrefix = pathPrefix
            self.hostField = hostField
        }

        /// The target of a call with the prefix.
        func target(_ target: Target) -> Target {
            guard !pathPrefix.isEmpty else { return target }
            // Two valid pieces of a path form a valid path; if they ever do not, the call's own
            // target is sent.
            return Target(Bytes(pathPrefix.array + target.text.array)) ?? target
        }

        /// Sends a request, which moves to the pool.
        func send(
            _ request: consuming ClientRequest, _ relayed: (any RelayedRequest)?,
            within limit: consuming TimeLimit?, holding permit: Permit?
        ) -> LocalPromise<ClientResponse> {
            if !pathPrefix.isEmpty { request.target = target(request.target) }
            guard let relayed else { return pool.send(request, within: limit, holding: permit) }
            if let name = relayed.host {
                request.template = request.template.replacingHost(name)
            }
            if relayed.upgrade != nil, let upgradePool {
                return upgradePool.sendStreaming(request, relayed, holding: permit)
            }
            return pool.sendStreaming(request, relayed, holding: permit)
        }
    }

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
        hostStates = plan.hostStates(replacing: former, at: loop.now)
        hosts = plan.hosts.map { host in
            Host(
                pool: pools.pool(for: host.origin, settings: host.pool(plan.pool)),
                upgradePool: host.poolForUpgrades(plan.pool).map {
                    pools.pool(for: host.origin, settings: $0)
                },
                pathPrefix: Bytes(host.pathPrefix),
                hostField: FieldValue(host.origin.hostField) ?? "localhost")
        }
        firstHost = hosts[0]
        if runsHealthChecks { checks = healthChecks() }
    }

    private func healthChecks() -> HealthChecks? {
        guard let health = plan.health, let hostStates else { return nil }
        let hosts = hosts.map { host in
            let request = ClientRequest(
                method: .get, target: host.target(health.target), host: host.hostField,
                constantFields: plan.fields.namingProduct(),
                responseBytesMax: HealthPlan.responseBytesMax)
            return (pool: host.pool, request: request)
        }
        return HealthChecks(health, of: hosts, loop: loop) { [loop] host, result in
            hostStates.recordCheck(of: host, result, at: loop.now)
        }
    }

    /// Calls in flight continue.
    func stopHealthChecks() {
        checks?.stop()
        checks = nil
    }

    /// Whether a call is one request, which waits for nothing but a connection.
    var sendsAtOnce: Bool { concurrencyLimit == nil && hosts.count == 1 }

    /// Host and port of each host, in the order of the plan.
    var hostFields: [FieldValue] { hosts.map(\.hostField) }

    /// The connections to all its hosts.
    var connections: BackendConnections {
        hosts.reduce(into: BackendConnections()) { sum, host in
            sum.add(host.pool)
            if let pool = host.upgradePool { sum.add(pool) }
        }
    }

    /// Whether each host may be called now, in the order of the plan.
    var usableHosts: [Bool] {
        guard let available = hostStates?.availability.availableHosts(at: loop.now) else {
            return hosts.map { _ in true }
        }
        return hosts.indices.map(available.contains)
    }

    /// Whether a call would be sent to one of its hosts.
    var hasUsableHost: Bool {
        hostStates.map { !$0.availability.availableHosts(at: loop.now).isEmpty } ?? true
    }

    /// The state of each host, in the order of the plan.
    var hostDetails: [BackendDetail.Host] {
        hosts.indices.map { index in
            BackendDetail.Host(
                name: "\(hosts[index].hostField)", usage: hosts[index].pool.usage,
                availability: hostStates?.availability.state(of: index, at: loop.now)
                    ?? .available,
                failedCheck: hostStates?.failedChecks[index], at: loop.now)
        }
    }

    /// Sends a call to the host that the load balancing chooses. If nothing was sent to it because
    /// the connection failed, the next available host is tried at once.
    func send(_ request: CallRequest, _ exchange: Exchange) -> LocalPromise<ClientResponse> {
        guard let first = nextHost() else {
            request.recordRefusal(.destinationUnavailable, of: exchange, at: loop.now)
            return exchange.local.error(CallFailure.destinationUnavailable)
        }
        let response = send(request, to: first, exchange)
        guard hosts.count > 1 else { return response }
        return response.recover { error in
            try self.sendToNextHost(
                request, exchange, after: error, tried: first, remaining: self.hosts.count - 1)
        }
    }

    /// Whether there is one host, and no rule that makes it unavailable.
    var needsNoHostChoice: Bool { hosts.count == 1 && hostStates == nil }

    /// Sends a call to the host of a backend that has one. The request moves to the pool.
    func sendToOnlyHost(
        _ request: consuming ClientRequest, _ context: CallContext,
        within limit: consuming TimeLimit?, _ exchange: Exchange
    ) -> LocalPromise<ClientResponse> {
        request.exchange = beginAttempt(
            context.attempt, at: 0, before: context.relayed == nil ? context.deadline : nil,
            exchange)
        return firstHost.send(request, context.relayed, within: limit, holding: nil)
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
        guard let index = nextHost() else {
            return loop.local.error(CallFailure.destinationUnavailable)
        }
        let host = hosts[index]
        let response = host.pool.send(
            ClientRequest(
                method: .get, target: host.target(target), host: host.hostField,
                constantFields: plan.fields.namingProduct(), fields: fields,
                responseBytesMax: responseBytesMax))
        if let hostStates, plan.eject != nil {
            response.whenSettled { [loop] result in
                hostStates.availability.recordCall(
                    to: index, .init(ofOwn: result), at: loop.now)
            }
        }
        return response
    }

    /// Sends a call to the next available host, if nothing of it was sent to the one that failed.
    ///
    /// - Parameters:
    ///   - tried: the host that failed
    ///   - remaining: the number of hosts after `tried`, in ring order, that are not considered yet
    private func sendToNextHost(
        _ request: CallRequest, _ exchange: Exchange, after error: any Error, tried: Int,
        remaining: Int
    ) throws -> LocalPromise<ClientResponse> {
        guard let failure = error as? ClientFailure, !failure.wasSent, !failure.isLocal,
            request.isRepeatable
        else { throw error }
        let available = hostStates?.availability.availableHosts(at: loop.now)
        let others = (0..<remaining).map { (step: $0, host: (tried + 1 + $0) % hosts.count) }
        guard let next = others.first(where: { available?.contains($0.host) ?? true }) else {
            throw error
        }
        let repeated = request.repeated(.otherHost, for: exchange, at: loop.now)
        return send(repeated, to: next.host, exchange).recover { error in
            try self.sendToNextHost(
                repeated, exchange, after: error, tried: next.host,
                remaining: remaining - 1 - next.step)
        }
    }

    /// Nil if no host is available.
    private func nextHost() -> Int? {
        let available = hostStates?.availability.availableHosts(at: loop.now)
        guard hosts.count > 1 || available != nil else { return 0 }
        let first = searchStart
        searchStart = (searchStart + 1) % hosts.count
        var best: Int?
        for step in 0..<hosts.count {
            let candidate = (first + step) % hosts.count
            guard available?.contains(candidate) ?? true else { continue }
            guard let chosen = best else {
                best = candidate
                if plan.balance == .roundRobin { break }
                continue
            }
            if hosts[candidate].pool.inFlight < hosts[chosen].pool.inFlight { best = candidate }
        }
        return best
    }

    private func send(
        _ request: CallRequest, to index: Int, _ exchange: Exchange
    ) -> LocalPromise<ClientResponse> {
        let fields = beginAttempt(
            request.attempt, at: index, before: request.relayed == nil ? request.deadline : nil,
            exchange)
        let response = hosts[index].send(
            request.sent(toHost: index, fields), request.relayed, within: request.timeLimit,
            holding: request.permit)
        if let hostStates, plan.eject != nil {
            // Before any repetition on another host, which is an attempt of its own.
            request.whenDecided(response, exchange) { [loop] sample in
                hostStates.availability.recordCall(to: index, sample, at: loop.now)
            }
        }
        return response
    }

    /// Records that an attempt is sent to a host; gives what the host receives about the exchange.
    ///
    /// - Parameter deadline: nil for a request that is passed through, which has none that the
    ///   backend could keep
    private func beginAttempt(
        _ attempt: Int?, at host: Int, before deadline: Instant?, _ exchange: Exchange
    ) -> ExchangeFields {
        let now = loop.now
        let fields = ExchangeFields(
            of: exchange, span: entropy.next(), left: deadline.map { $0 - now }, attempt: attempt)
        if let attempt {
            exchange.record.permitAttempt(attempt, host: host, spanID: fields.parentID, at: now)
        }
        return fields
    }

    /// What the requests of a call share, for each host.
    ///
    /// - Parameters:
    ///   - fields: those of the backend's configuration that the call does not replace
    ///   - statusesWithoutFields: the statuses for which the fields of a response are not used
    func templates(
        _ fields: Fields, responseBytesMax: Int, statusesWithoutFields: ClosedRange<Int>? = nil
    ) -> [RequestTemplate] {
        hosts.map { host in
            RequestTemplate(
                host: host.hostField, fields: fields, responseBytesMax: responseBytesMax,
                statusesWithoutFields: statusesWithoutFields)
        }
    }
}

extension BackendPlan {
    /// Whether both have the same hosts with the same TLS settings.
    fileprivate func hasSameHosts(as other: BackendPlan) -> Bool {
        hosts.elementsEqual(other.hosts) { $0.isSame(as: $1) }
    }

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

    /// The availability of the hosts; nil if the plan neither ejects nor checks them.
    ///
    /// - Parameter former: the backend before a reload; the availability of hosts that stay is
    ///   continued
    fileprivate func hostStates(replacing former: Backend?, at now: Instant) -> HostStates? {
        guard eject != nil || health != nil else { return nil }
        guard let former, let states = former.hostStates else {
            return HostStates(HostAvailability(hosts: hosts.count, eject: eject))
        }
        // One object for both, so that calls in flight are recorded, too.
        if hasSameHosts(as: former.plan), former.plan.eject == eject,
            (former.plan.health == nil) == (health == nil)
        {
            return states
        }
        return states.continued(
            for: hosts.map { host in former.plan.hosts.firstIndex { $0.isSame(as: host) } },
            eject: eject, isChecked: health != nil, at: now)
    }
}

extension BackendPlan.Host {
    /// Whether both have the same URL and the same TLS settings.
    fileprivate func isSame(as other: BackendPlan.Host) -> Bool {
        url == other.url && security == other.security
    }
}
