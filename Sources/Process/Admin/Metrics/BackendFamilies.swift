import Gateway

// Backends: connections, permits, breakers, hosts.
extension MetricsWriter {
    /// - Parameter workers: the backends of each worker
    mutating func writeBackends(_ workers: [[BackendState]]) {
        let backends = Self.byName(workers)
        writeConnections(backends)
        writePermits(backends)
        family(
            "tributary_breakers_open", .gauge,
            "Workers whose circuit breaker for the backend is open or half open.")
        for backend in backends { sample(backend.labels, backend.states.count { $0.isOpen }) }
        family(
            "tributary_host_usable", .gauge,
            "Share of the workers, from 0 to 1, for which the host is neither ejected nor unhealthy."
        )
        for backend in backends {
            for host in backend.hosts {
                sample(backend.labels.adding("host", host.name), host.share)
            }
        }
    }

    private mutating func writeConnections(_ backends: [Backend]) {
        family(
            "tributary_backend_connections", .gauge, "Open connections to backends, by state.")
        for backend in backends {
            let states: [(String, KeyPath<BackendConnections, Int>)] = [
                ("busy", \.busy), ("idle", \.idle), ("connecting", \.connecting),
            ]
            for (state, count) in states {
                sample(
                    backend.labels.adding("state", state),
                    backend.states.reduce(0) { $0 + $1.connections[keyPath: count] })
            }
        }
        family(
            "tributary_backend_connections_limit", .gauge,
            "Limit on tributary_backend_connections that are idle.")
        for backend in backends {
            sample(
                backend.labels.adding("state", "idle"),
                backend.states.reduce(0) { $0 + $1.connections.idleMax })
        }
    }

    /// Only for backends with `max_concurrent`: without it there are no permits and no queue.
    private mutating func writePermits(_ backends: [Backend]) {
        let limited = backends.filter { $0.states.contains { $0.runningMax != nil } }
        let families: [(String, String, (BackendState) -> Int)] = [
            (
                "tributary_permits_used", "Calls that hold a permit of max_concurrent.",
                { $0.running }
            ),
            (
                "tributary_permits_used_limit", "Limit on tributary_permits_used.",
                { $0.runningMax ?? 0 }
            ),
            (
                "tributary_calls_waiting",
                "Calls in the queue of the concurrency limit (bulkhead) of a backend.",
                { $0.waiting }
            ),
            (
                "tributary_calls_waiting_limit", "Limit on tributary_calls_waiting.",
                { $0.waitingMax ?? 0 }
            ),
        ]
        for (name, help, value) in families {
            family(name, .gauge, help)
            for backend in limited {
                sample(backend.labels, backend.states.reduce(0) { $0 + value($1) })
            }
        }
    }

    /// One backend on all workers.
    private struct Backend {
        let name: String
        /// One for each worker.
        var states: [BackendState]

        var labels: MetricLabels { MetricLabels("backend", name) }

        /// Two URLs of one host are one host.
        var hosts: [(name: String, share: Double)] {
            var hosts: [(name: String, usable: Int, all: Int)] = []
            for host in states.flatMap(\.hosts) {
                let usable = host.isUsable ? 1 : 0
                if let index = hosts.firstIndex(where: { $0.name == host.name }) {
                    hosts[index].usable += usable
                    hosts[index].all += 1
                } else {
                    hosts.append((host.name, usable, 1))
                }
            }
            return hosts.map { ($0.name, Double($0.usable) / Double($0.all)) }
        }
    }

    private static func byName(_ workers: [[BackendState]]) -> [Backend] {
        var backends: [Backend] = []
        var places: [String: Int] = [:]
        for state in workers.joined() {
            if let place = places[state.name] {
                backends[place].states.append(state)
            } else {
                places[state.name] = backends.count
                backends.append(Backend(name: state.name, states: [state]))
            }
        }
        return backends
    }
}
