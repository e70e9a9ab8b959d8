import Basics
import HTTP
import HTTPClient
import Promises
import Reactor

/// One backend on one core: its hosts with their pools, and the state that its calls share.
final class Backend {
    let plan: BackendPlan
    let bulkhead: Bulkhead?
    let breaker: CircuitBreaker?
    let meter: CallMeter
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

    /// - Parameter former: the backend of that name before a reload. Its numbers go on; and as long
    ///   as the same is asked of the same hosts, so do its breaker, and its slots and their line.
    init(_ plan: BackendPlan, client: Client, loop: any Loop, replacing former: Backend?) {
        self.plan = plan
        self.loop = loop
        meter = former?.meter ?? CallMeter()
        let heir = former?.plan.hosts.map(\.url) == plan.hosts.map(\.url) ? former : nil
        bulkhead =
            heir?.plan.bulkhead == plan.bulkhead
            ? heir?.bulkhead : plan.bulkhead.map { Bulkhead($0) }
        breaker =
            heir?.plan.breaker == plan.breaker
            ? heir?.breaker : plan.breaker.map { CircuitBreaker($0, loop: loop) }
        hosts = plan.hosts.map { host in
            Host(
                pool: client.pool(for: host.origin, settings: plan.pool),
                pathPrefix: Bytes(host.pathPrefix),
                field: FieldValue(host.origin.hostField) ?? "localhost")
        }
    }

    /// Connections to all its hosts, idle ones and those at work.
    var connections: Int { hosts.reduce(0) { $0 + $1.pool.inFlight + $1.pool.idle } }

    /// Sends a call to the host that suits best. A host that refuses the connection is passed over
    /// for the next one at once, since nothing was sent.
    func send(_ request: CallRequest, _ exchange: Exchange) -> Local<ClientResponse> {
        let first = nextHost()
        let answer = send(request, to: hosts[first], exchange)
        guard hosts.count > 1 else { return answer }
        return answer.recover { error in
            try self.sendElsewhere(
                request, exchange, after: error, tried: first, left: self.hosts.count - 1)
        }
    }

    private func sendElsewhere(
        _ request: CallRequest, _ exchange: Exchange, after error: any Error, tried: Int, left: Int
    ) throws -> Local<ClientResponse> {
        guard left > 0, let failure = error as? ClientFailure, failure.isBeforeConnection else {
            throw error
        }
        let next = (tried + 1) % hosts.count
        return send(request, to: hosts[next], exchange).recover { error in
            try self.sendElsewhere(request, exchange, after: error, tried: next, left: left - 1)
        }
    }

    private func nextHost() -> Int {
        guard hosts.count > 1 else { return 0 }
        let first = turn
        turn = (turn + 1) % hosts.count
        guard plan.balance == .leastRequests else { return first }
        var best = first
        for step in 1..<hosts.count {
            let candidate = (first + step) % hosts.count
            if hosts[candidate].pool.inFlight < hosts[best].pool.inFlight { best = candidate }
        }
        return best
    }

    private func send(
        _ request: CallRequest, to host: Host, _ exchange: Exchange
    ) -> Local<ClientResponse> {
        request.askedHost?.name = host.field
        var head: [UInt8] = []
        head.reserveCapacity(256 + request.fields.wireText.count)
        head.append(requestLine: request.method, host.target(request.target), host: host.field)
        head.append(plan.fields)
        head.append(request.fields)
        head.append(
            exchange, span: loop.entropy.next(), left: request.deadline - loop.now)
        if !request.body.isEmpty || request.method.anticipatesBody {
            head.append(contentLength: request.body.count)
        }
        head.appendEndOfHead()
        return host.pool.send(
            ClientRequest(
                method: request.method, head: Bytes(head), body: request.body,
                answerBytesMax: request.answerMax, holder: exchange))
    }
}

extension [UInt8] {
    /// Appends the lines that go along with every call: the request's id, its trace with a parent id
    /// of the call's own, and the time left. All three are sane by their types.
    fileprivate mutating func append(_ exchange: Exchange, span: UInt64, left: Duration) {
        append(exchange.callLines)
        append(hex: span == 0 ? 1 : span)
        append(
            literal: exchange.trace.isSampled
                ? "-01\r\nGateway-Deadline-Ms: " : "-00\r\nGateway-Deadline-Ms: ")
        append(decimal: UInt64(Swift.max(0, left.inNanoseconds / 1_000_000)))
        append(literal: "\r\n")
    }
}
