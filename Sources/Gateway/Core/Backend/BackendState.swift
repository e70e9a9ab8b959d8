import HTTP
import HTTPClient

/// The state of a backend on one worker, as the admin pages show it. Limits are the worker's share.
package struct BackendState: Sendable {
    package let name: String
    /// Whether its circuit breaker is open or half open.
    package var isOpen = false
    /// Calls that hold a permit of `max_concurrent`.
    package var running = 0
    /// Nil without `max_concurrent`.
    package var runningMax: Int?
    /// Calls in progress: those that hold a permit; without `max_concurrent`, those that have a connection.
    /// Backends with one URL and the same settings share their connections.
    package var callsInProgress: Int { runningMax == nil ? connections.calls : running }
    package var waiting = 0
    package var waitingMax: Int?
    package var connections = BackendConnections()
    package var hosts: [Host] = []

    package struct Host: Sendable {
        /// Host and port.
        package let name: String
        /// Neither ejected nor unhealthy.
        package let isUsable: Bool

        package init(name: String, isUsable: Bool) {
            self.name = name
            self.isUsable = isUsable
        }
    }

    /// Ejected or unhealthy hosts.
    package var unavailableHosts: Int { hosts.count { !$0.isUsable } }

    package init(name: String) {
        self.name = name
    }
}

/// The connections of one worker to a backend.
package struct BackendConnections: Sendable, Equatable {
    /// They serve a call.
    package var busy = 0
    package var idle = 0
    package var connecting = 0
    /// Calls that have a connection; over HTTP/2 one connection serves several.
    package var calls = 0
    /// The most idle connections that are kept.
    package var idleMax = 0

    package init() {}

    package var count: Int { busy + idle + connecting }

    mutating func add(_ pool: Pool) {
        busy += pool.leased
        idle += pool.idle
        connecting += pool.connecting
        calls += pool.calls
        idleMax += pool.maxIdle
    }
}

extension Backend {
    var state: BackendState {
        var state = BackendState(name: plan.name)
        state.isOpen = breaker?.isOpen ?? false
        if let concurrencyLimit {
            (state.running, state.waiting) = concurrencyLimit.load
            state.runningMax = concurrencyLimit.limits.running
            state.waitingMax = concurrencyLimit.limits.waiting
        }
        state.connections = hosts.connections
        state.hosts = zip(hosts.fields, hosts.areUsable).map {
            BackendState.Host(name: $0.description, isUsable: $1)
        }
        return state
    }
}
