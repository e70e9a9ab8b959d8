package import GatewayConfig
package import HTTP
package import Reactor

/// What the configuration means: every default resolved, every name an index, every template and
/// shape compiled. The chain is built from this and never looks at the configuration again.
///
/// Each core makes a plan of its own from the configuration's text, so that cores share no
/// reference-counted memory. Numbers that the operator gave per process are already divided here.
package struct Plan {
    package let process: ProcessPlan
    /// `limits:`, divided among the workers where they count things.
    package internal(set) var server: ServerSettings
    /// The proxies whose forwarding headers are trusted.
    package let proxies: TrustedProxies
    package let backends: [BackendPlan]
    package let endpoints: [EndpointPlan]
    /// Where a number of the process is another one for each worker.
    package let shares: [SharedNumbers]

    /// The names of the endpoints, by index: what logs and metrics call them.
    package var endpointNames: [String] { endpoints.map(\.name) }

    /// The same plan with other means of TLS towards the backends, or without TLS: for simulated
    /// backends, which have no cryptography.
    package func replacingSecurity(_ replace: (StreamSecurity) -> StreamSecurity?) -> Plan {
        Plan(
            process: process, server: server, proxies: proxies,
            backends: backends.map { $0.replacingSecurity(replace) }, endpoints: endpoints,
            shares: shares)
    }

    /// Whether an endpoint pads its answers, so that its times must not be told.
    package func isPadded(_ endpoint: Int) -> Bool { endpoints[endpoint].padding != nil }
}

/// What holds for the process as a whole.
package struct ProcessPlan: Sendable, Equatable {
    /// Where clients connect; at least one.
    package let listeners: [ListenPlan]
    package let admin: AdminPlan?
    /// Event loops.
    package let workers: Int
    package let log: LogPlan
    package let drain: DrainPlan
}

/// `log:`
package struct LogPlan: Sendable, Equatable {
    package let format: Config.Log.Format
    package let level: Config.Log.Level
    /// One line for every request.
    package let access: Bool
}

/// `drain:`
package struct DrainPlan: Sendable, Equatable {
    /// Between "not ready" on the admin page and the end of accepting.
    package let delay: Duration
    /// For the requests in flight; what still runs then is cut off.
    package let timeout: Duration
}

extension ProcessPlan {
    /// What a reload changes: the rest needs a restart.
    package func taking(over new: ProcessPlan) -> ProcessPlan {
        ProcessPlan(
            listeners: listeners, admin: admin, workers: workers,
            log: LogPlan(format: log.format, level: new.log.level, access: new.log.access),
            drain: new.drain)
    }
}
