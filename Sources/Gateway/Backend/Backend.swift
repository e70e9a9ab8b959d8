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
    private let hosts: [Host]
    private let loop: any Loop
    /// Where the next search for the least busy host begins, so that equals take turns.
    private var turn = 0

    /// An address of the backend, with the constant parts of every head sent there.
    private struct Host {
        let pool: Pool
        let pathPrefix: Bytes
        let hostField: FieldValue
    }

    init(_ plan: BackendPlan, client: Client, loop: any Loop) {
        self.plan = plan
        self.loop = loop
        bulkhead = plan.bulkhead.map { Bulkhead($0, loop: loop) }
        breaker = plan.breaker.map { CircuitBreaker($0, loop: loop) }
        hosts = plan.hosts.map { host in
            Host(
                pool: client.pool(for: host.origin, settings: plan.pool),
                pathPrefix: Bytes(host.pathPrefix),
                hostField: host.origin.hostFieldValue)
        }
    }

    /// Sends a call to the host that suits best. A host that refuses the connection is passed over
    /// for the next one at once, since nothing was sent.
    func send(_ request: CallRequest, _ exchange: Exchange) -> Local<ClientResponse> {
        let first = nextHost()
        let answer = send(request, to: hosts[first])
        guard hosts.count > 1 else { return answer }
        return answer.recover { error in
            try self.sendElsewhere(request, after: error, tried: first, left: self.hosts.count - 1)
        }
    }

    private func sendElsewhere(
        _ request: CallRequest, after error: any Error, tried: Int, left: Int
    ) throws -> Local<ClientResponse> {
        guard left > 0, let failure = error as? ClientFailure, failure.isBeforeConnection else {
            throw error
        }
        let next = (tried + 1) % hosts.count
        return send(request, to: hosts[next]).recover { error in
            try self.sendElsewhere(request, after: error, tried: next, left: left - 1)
        }
    }

    private func nextHost() -> Int {
        guard hosts.count > 1 else { return 0 }
        turn = (turn + 1) % hosts.count
        guard plan.balance == .leastRequests else { return turn }
        var best = turn
        for step in 1..<hosts.count {
            let candidate = (turn + step) % hosts.count
            if hosts[candidate].pool.inFlight < hosts[best].pool.inFlight { best = candidate }
        }
        return best
    }

    private func send(_ request: CallRequest, to host: Host) -> Local<ClientResponse> {
        var head = HeadWriter(
            method: request.method, targetPrefix: host.pathPrefix, target: request.target,
            host: host.hostField)
        head.append(plan.fields)
        head.append(request.fields)
        let left = (request.deadline - loop.now).inNanoseconds / 1_000_000
        head.append(.gatewayDeadlineMs, decimal: UInt64(max(0, left)))
        return host.pool.send(
            ClientRequest(
                method: request.method, head: head.finish(bodyCount: request.body.count),
                body: request.body, answerBytesMax: request.answerMax))
    }
}
