import Basics
import HTTP
import HTTPClient

/// What the numbers of a configuration come to when several replicas serve it: each replica has limits
/// of its own, so a backend sees their sum.
///
/// Computed from the plan of one worker: each of its shares is multiplied, so that what was rounded
/// up when a number was divided among the workers is included.
package struct ReplicaReport {
    private let plan: Plan
    private let replicas: Int

    /// More replicas than any service has, and far from where numbers overflow.
    package static let replicas = 1...10_000

    package init(_ plan: Plan, replicas: Int) {
        self.plan = plan
        self.replicas = replicas
    }

    package var lines: [String] {
        let heading = ["limit", "one replica", "\(replicas) replicas"]
        let columns: [TextTable.Column] = [
            .left(gap: 3), .right(gap: 3), .right(gap: 0),
        ]
        return TextTable([heading] + limits.map(row), columns).lines + counters
    }

    // MARK: Limits

    private struct Limit {
        let name: String
        let replica: Int
        var isBytes = false
        /// One number for all replicas.
        var isShared = false
    }

    private func row(_ limit: Limit) -> [String] {
        let all = limit.isShared ? limit.replica : product(limit.replica, replicas)
        let text = { (number: Int) in
            limit.isBytes ? Quantity.spelled(bytes: number) : "\(number)"
        }
        return [limit.name, text(limit.replica), text(all)]
    }

    private var limits: [Limit] {
        let server = plan.server
        var limits = [Limit(name: "limits.connections", replica: ofWorkers(server.connections))]
        // Counted over all workers of a replica.
        if let most = server.connectionsPerClient {
            limits.append(Limit(name: "limits.connections_per_client", replica: most))
        }
        limits += [
            Limit(name: "limits.requests_in_flight", replica: ofWorkers(server.requestsInFlight)),
            Limit(
                name: "limits.buffered_bytes", replica: ofWorkers(server.bufferedBytes),
                isBytes: true),
            Limit(name: "limits.handshakes", replica: ofWorkers(server.handshakes)),
            Limit(name: "limits.streams", replica: ofWorkers(server.streams)),
        ]
        limits += plan.backends.flatMap(limits(of:)) + plan.endpoints.compactMap(limit(of:))
        return limits + plan.limits.flatMap(limits(of:))
    }

    private func limits(of backend: BackendPlan) -> [Limit] {
        var limits: [Limit] = []
        if let concurrency = backend.concurrency {
            let name = "\(backend.name).max_concurrent"
            limits.append(Limit(name: name, replica: ofWorkers(concurrency.concurrentMax)))
            if concurrency.queueMax > 0 {
                let name = "\(backend.name).queue.size"
                limits.append(Limit(name: name, replica: ofWorkers(concurrency.queueMax)))
            }
        }
        let name = "\(backend.name).keepalive.max_idle, each host"
        limits.append(Limit(name: name, replica: ofWorkers(backend.pool.maxIdle)))
        return limits
    }

    /// Counted over all workers of a replica, and over several replicas only in a store.
    private func limits(of limit: LimitPlan) -> [Limit] {
        limit.rates.map { rate in
            let plan = rate.plan.map { ", plan \(String($0))" } ?? ""
            return Limit(
                name: "rate_limits.\(limit.name)\(plan), each key per \(rate.unit.rawValue)",
                replica: rate.bucket.count, isShared: limit.isShared)
        }
    }

    private func limit(of endpoint: EndpointPlan) -> Limit? {
        endpoint.inFlightMax.map {
            Limit(name: "\(endpoint.name).max_in_flight", replica: ofWorkers($0))
        }
    }

    private func ofWorkers(_ share: Int) -> Int { product(share, plan.process.workers) }

    private func product(_ number: Int, _ factor: Int) -> Int {
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow ? .max : product
    }

    // MARK: Counters

    /// What each worker counts or does independently: the number stays the same, once for each
    /// worker.
    private var counters: [String] {
        let workers = product(plan.process.workers, replicas)
        var lines = plan.backends.flatMap { backend -> [String] in
            var lines: [String] = []
            if let breaker = backend.breaker {
                lines.append("\(backend.name).breaker: min_requests \(breaker.requestsMin)")
            }
            if let eject = backend.eject {
                lines.append("\(backend.name).eject: after \(eject.after) failures")
            }
            if let health = backend.health {
                lines.append(
                    "\(backend.name).health: \(workers) checks of each host in \(health.every.spelled)"
                )
            }
            return lines
        }
        if plan.store != nil { lines.append("store: 1 connection, \(workers) in all") }
        return lines.isEmpty
            ? [] : ["each of \(workers) workers by itself:"] + lines.map { "  " + $0 }
    }
}
