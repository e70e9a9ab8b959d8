package import HTTP
package import Reactor

/// The compiled configuration: defaults resolved, names replaced by indices, templates and shapes
/// compiled. The chain is built from the plan only.
///
/// Each worker compiles its own plan, so that workers share no reference-counted memory. Numbers
/// that are configured per process are already divided among the workers.
package struct Plan {
    package private(set) var process: ProcessPlan
    /// Nil without `traces`.
    package let traces: TracePlan?
    /// Nil without `store`.
    package internal(set) var store: StorePlan?
    /// `limits:`; counts are the worker's share.
    package internal(set) var server: ServerSettings
    /// The proxies whose forwarding headers are trusted.
    package let proxies: TrustedProxies
    /// What applies before an endpoint is known.
    package internal(set) var entry: EntryPlan
    package let backends: [BackendPlan]
    package let endpoints: [EndpointPlan]
    /// `auth:`, in the order of the file.
    package let authenticators: [AuthenticatorPlan]
    /// `rate_limits:`, in the order of the file.
    package let limits: [LimitPlan]
    /// The numbers of the process that are divided among the workers.
    package let shares: [WorkerShares]

    /// The names of the endpoints in logs and metrics, by index.
    package var endpointNames: [String] { endpoints.map(\.name) }

    /// A copy with other TLS settings for the backends, or without TLS: for simulated backends,
    /// which have no cryptography.
    package func replacingSecurity(_ replace: (StreamSecurity) -> StreamSecurity?) -> Plan {
        Plan(
            process: process, traces: traces, store: store?.replacingSecurity(replace),
            server: server, proxies: proxies,
            entry: entry,
            backends: backends.map { $0.replacingSecurity(replace) }, endpoints: endpoints,
            authenticators: authenticators, limits: limits, shares: shares)
    }

    /// A copy that accepts the addresses of all clients and all hosts, and whose requests have no
    /// credentials but this caller: for requests that no client sent.
    package func acceptingAllClients(as caller: AssumedCaller) -> Plan {
        var plan = self
        plan.entry = entry.acceptingAll.assuming(caller)
        return plan
    }

    /// A copy for requests without a connection: they count as requests of this listener.
    func assuming(listener: String?) -> Plan {
        var plan = self
        plan.entry = entry.assuming(listener: listener)
        return plan
    }

    /// A copy whose listeners serve HTTP/1.1 without TLS, and redirect nothing: for simulated clients,
    /// which have no cryptography.
    package func servingPlainHTTP1() -> Plan {
        var plan = self
        plan.process.listeners = process.listeners.map { ListenPlan(socket: $0.socket) }
        return plan
    }

    /// Whether an endpoint pads its responses, so that its durations must not be published.
    package func isPadded(_ endpoint: Int) -> Bool { endpoints[endpoint].padding != nil }
}

/// The settings of the process as a whole.
package struct ProcessPlan: Sendable, Equatable {
    /// Where clients connect; at least one.
    package internal(set) var listeners: [ListenPlan]
    package let admin: AdminPlan?
    /// The number of workers.
    package let workers: Int
    package let log: LogPlan
    package let metrics: MetricsPlan
    package let drain: DrainPlan
    /// The backends without which the process is not ready.
    package let requiredBackends: [String]
}

/// `drain:`
package struct DrainPlan: Sendable, Equatable {
    /// The time between "not ready" on the admin page and the end of accepting.
    package let delay: Duration
    /// The time for requests in flight; those that still run then are cut off.
    package let timeout: Duration
}

extension ProcessPlan {
    /// The address of a listener by its name; nil if none has it.
    package func address(ofListener name: String) -> String? {
        listeners.first { $0.name == name }?.address.spelled
    }

    /// A copy with the settings that a reload applies; the others need a restart.
    package func applyingReload(of new: ProcessPlan) -> ProcessPlan {
        ProcessPlan(
            listeners: listeners.applyingReload(of: new.listeners), admin: admin,
            workers: workers,
            log: new.log.keeping(log.format), metrics: new.metrics,
            drain: new.drain, requiredBackends: new.requiredBackends)
    }
}
