import Basics
import GatewayConfig
import HTTP
import HTTPClient
import Promises
import Reactor

/// One backend on one core: its hosts with their pools, and the state that its calls share.
final class Backend {
    let plan: BackendPlan
    let concurrencyLimit: ConcurrencyLimit?
    let breaker: CircuitBreaker?
    let meter: CallMeter
    let retryBudget: RetryBudget
    /// Which hosts may be asked; nil where all of them always may.
    fileprivate let states: HostStates?
    private var checks: HealthChecks?
    private let hosts: [Host]
    private let loop: any Loop
    /// Where the next search for the least busy host begins, so that equals take turns.
    private var turn = 0

    /// An address of the backend, with the constant parts of every head sent there.
    private final class Host {
        let pool: Pool
        /// Put before the path of every call; empty for most.
        let pathPrefix: Bytes
        let field: FieldValue

        init(pool: Pool, pathPrefix: Bytes, field: FieldValue) {
            self.pool = pool
            self.pathPrefix = pathPrefix
            self.field = field
        }

        func target(_ target: Target) -> Target {
            guard !pathPrefix.isEmpty else { return target }
            // Two sane pieces of a path make a sane one; should they not, the call's own is sent.
            return Target(Bytes(pathPrefix.array + target.text.array)) ?? target
        }
    }

    /// - Parameters:
    ///   - former: the backend of that name before a reload. Its numbers go on; and as long as the
    ///     same is asked of the same hosts, so do its breaker, its concurrency limit, and what is
    ///     known of the hosts
    ///   - asksHosts: how they are, where the plan says so
    init(
        _ plan: BackendPlan, client: Client, loop: any Loop, replacing former: Backend?,
        asksHosts: Bool = true
    ) {
        self.plan = plan
        self.loop = loop
        meter = former?.meter ?? CallMeter()
        let heir = former.flatMap { $0.plan.isOfSameHosts(as: plan) ? $0 : nil }
        concurrencyLimit =
            heir?.plan.concurrency == plan.concurrency
            ? heir?.concurrencyLimit
            : plan.concurrency.map { ConcurrencyLimit($0, loop: loop) }
        breaker =
            heir?.plan.breaker == plan.breaker
            ? heir?.breaker : plan.breaker.map { CircuitBreaker($0, loop: loop) }
        retryBudget = former?.retryBudget ?? RetryBudget()
        states = plan.hostStates(after: heir)
        hosts = plan.hosts.map { host in
            Host(
                pool: client.pool(for: host.origin, settings: host.pool(plan.pool)),
                pathPrefix: Bytes(host.pathPrefix),
                field: FieldValue(host.origin.hostField) ?? "localhost")
        }
        if asksHosts { checks = healthChecks() }
    }

    private func healthChecks() -> HealthChecks? {
        guard let health = plan.health, let states else { return nil }
        let hosts = hosts.map { host in
            let request = ClientRequest(
                method: .get, target: host.target(health.target), host: host.field,
                constantFields: plan.fields, responseBytesMax: HealthPlan.answerBytesMax)
            return (pool: host.pool, request: request)
        }
        return HealthChecks(health, of: hosts, loop: loop) { host, isGood in
            states.board.checked(host, isGood: isGood)
        }
    }

    /// Asks no host any more how it is. Calls under way go on.
    func stop() {
        checks?.stop()
        checks = nil
    }

    /// Hosts that are not asked now.
    var hostsLeftOut: Int { states?.board.leftOut(at: loop.now) ?? 0 }

    /// Connections to all its hosts, idle ones and those at work.
    var connections: Int { hosts.reduce(0) { $0 + $1.pool.inFlight + $1.pool.idle } }

    /// Sends a call to the host that suits best. A host to which nothing was sent, because it refuses
    /// the connection or spoils it, is passed over for the next one at once.
    func send(_ request: CallRequest, _ exchange: Exchange) -> LocalPromise<ClientResponse> {
        guard let first = nextHost() else {
            return exchange.local.error(CallFailure.destinationUnavailable)
        }
        let answer = send(request, to: first, exchange)
        guard hosts.count > 1 else { return answer }
        return answer.recover { error in
            try self.sendElsewhere(
                request, exchange, after: error, tried: first, left: self.hosts.count - 1)
        }
    }

    private func sendElsewhere(
        _ request: CallRequest, _ exchange: Exchange, after error: any Error, tried: Int, left: Int
    ) throws -> LocalPromise<ClientResponse> {
        guard let failure = error as? ClientFailure, !failure.wasSent, !failure.isLocal else {
            throw error
        }
        let usable = states?.board.usable(at: loop.now)
        let others = (0..<left).map { (step: $0, host: (tried + 1 + $0) % hosts.count) }
        guard let next = others.first(where: { usable?.contains($0.host) ?? true }) else {
            throw error
        }
        return send(request, to: next.host, exchange).recover { error in
            try self.sendElsewhere(
                request, exchange, after: error, tried: next.host, left: left - 1 - next.step)
        }
    }

    /// Nil if no host may be asked.
    private func nextHost() -> Int? {
        let usable = states?.board.usable(at: loop.now)
        guard hosts.count > 1 || usable != nil else { return 0 }
        let first = turn
        turn = (turn + 1) % hosts.count
        var best: Int?
        for step in 0..<hosts.count {
            let candidate = (first + step) % hosts.count
            guard usable?.contains(candidate) ?? true else { continue }
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
        let host = hosts[index]
        request.askedHost?.name = host.field
        let answer = host.pool.send(
            ClientRequest(
                method: request.method, target: host.target(request.target), host: host.field,
                constantFields: request.constantFields, fields: request.fields,
                exchange: ExchangeFields(
                    of: exchange, span: loop.entropy.next(), left: request.deadline - loop.now),
                body: .bytes(request.body), responseBytesMax: request.answerMax))
        if let states, plan.eject != nil {
            answer.whenSettled { [loop] result in
                states.board.ended(index, CircuitBreaker.sample(of: result), at: loop.now)
            }
        }
        return answer
    }
}

extension BackendPlan {
    /// The same are asked, and believed for the same reasons.
    fileprivate func isOfSameHosts(as other: BackendPlan) -> Bool {
        hosts.map(\.url) == other.hosts.map(\.url)
            && hosts.map(\.security) == other.hosts.map(\.security)
    }

    /// What is known of the hosts, where it matters; a backend that takes over from one with the same
    /// hosts takes over what was known.
    fileprivate func hostStates(after heir: Backend?) -> HostStates? {
        guard eject != nil || health != nil else { return nil }
        if let heir, heir.plan.eject == eject, (heir.plan.health == nil) == (health == nil) {
            return heir.states
        }
        return HostStates(HostAvailability(hosts: hosts.count, eject: eject))
    }
}
