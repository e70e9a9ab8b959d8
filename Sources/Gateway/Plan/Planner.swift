import Basics
import HTTP
import HTTPClient
package import TLS

/// Compiles a checked configuration to a plan: inheritance, defaults, shares per worker, names to
/// indices, texts to compiled forms.
///
/// The configuration has passed every check, so a failure here is an internal error. It is thrown,
/// so that it ends the start or the reload and not the process.
///
/// This planner and the planners of endpoints, calls and proxies are classes: a copy of a configuration
/// costs hundreds of reference counts.
package final class Planner {
    let config: Config
    let workers: Int
    /// The TLS contexts that the check of the configuration created.
    let contexts: TLSContexts
    /// `defaults.cors`: one object for all endpoints that inherit it.
    let defaultCORS: CORSRules?
    /// `rate_limits`: one object each for all endpoints that use it.
    let limitPlans: [LimitPlan]
    /// For each endpoint, those that its paths could bypass.
    let bypassedEndpoints: [[Int]]
    let groups: EndpointGroups
    let endpointNames: [String]

    private init(_ config: Config, workers: Int, contexts: TLSContexts) throws(PlanError) {
        self.config = config
        self.workers = workers
        self.contexts = contexts
        defaultCORS = config.defaults?.cors.map { CORSRules($0) }
        var limits: [LimitPlan] = []
        for limit in config.rateLimits { limits.append(try LimitPlan(limit)) }
        limitPlans = limits
        bypassedEndpoints = config.bypassedEndpoints
        groups = EndpointGroups(config.endpoints)
        endpointNames = config.endpointNames
    }

    /// The plan for one worker.
    ///
    /// - Parameters:
    ///   - workers: the number of workers if they run already; nil for the configured number
    ///   - contexts: those that `ConfigLoader` filled; a missing context is created
    package static func plan(
        _ config: Config, processors: Int, workers: Int? = nil,
        contexts: TLSContexts = TLSContexts()
    ) throws(PlanError) -> Plan {
        let configured: Int =
            switch config.workers?.value ?? PlanDefaults.workers {
            case .auto: max(1, processors)
            case .count(let count): count
            }
        return try Planner(config, workers: workers ?? configured, contexts: contexts).plan()
    }

    private func plan() throws(PlanError) -> Plan {
        var endpoints: [EndpointPlan] = []
        for (index, endpoint) in config.endpoints.enumerated() {
            endpoints.append(try EndpointPlan(index, EndpointPlanner(endpoint, self)))
        }
        var backends: [BackendPlan] = []
        for (index, backend) in config.backends.enumerated() {
            backends.append(try plan(backend, index))
        }
        return Plan(
            process: try process, traces: try traces, store: try store, server: try server,
            proxies: proxies, entry: try entry(endpoints), backends: backends,
            endpoints: endpoints,
            authenticators: try authenticators, limits: limitPlans, shares: shares)
    }

    var proxies: TrustedProxies {
        guard let clients = config.clients else { return .none }
        let entries = clients.trustedProxies.map(\.value)
        return TrustedProxies(
            networks: entries.compactMap {
                if case .network(let network) = $0 { network } else { nil }
            },
            includesUnixSockets: entries.contains(.unix),
            source: clients.addressFrom?.value ?? PlanDefaults.addressFrom)
    }

    /// One worker's share of a number for the whole process, rounded up.
    func share(_ count: Int) -> Int {
        let (sum, overflow) = count.addingReportingOverflow(workers - 1)
        return (overflow ? count : sum) / workers
    }

    private var process: ProcessPlan {
        get throws(PlanError) {
            ProcessPlan(
                listeners: try listeners,
                admin: config.admin.flatMap { AdminPlan($0) },
                workers: workers,
                log: LogPlan(config.log), metrics: MetricsPlan(config.metrics),
                drain: DrainPlan(
                    delay: config.drain?.delay?.value ?? .zero,
                    timeout: config.drain?.timeout?.value ?? PlanDefaults.drainTimeout),
                requiredBackends: config.backends.filter { $0.health?.readiness?.value == true }
                    .map(\.name.value))
        }
    }

    private var server: ServerSettings {
        get throws(PlanError) {
            let limits = config.limits
            var server = PlanDefaults.server
            server.limitConnections(to: share(limits?.connections?.value ?? server.connections))
            server.connectionsPerClient = limits?.connectionsPerClient?.value
            server.requestsInFlight = share(
                limits?.requestsInFlight?.value ?? server.requestsInFlight)
            server.requestsPerClient =
                limits?.requestsPerClient?.value
                ?? PlanDefaults.requestsPerClient(
                    of: limits?.requestsInFlight?.value ?? PlanDefaults.server.requestsInFlight)
            server.streams = share(limits?.streams?.value ?? server.streams)
            server.streamsPerConnection =
                limits?.streamsPerConnection?.value ?? server.streamsPerConnection
            server.acceptsWebSocket = config.endpoints.contains { endpoint in
                endpoint.proxy?.upgrade.contains { $0.value == "websocket" } ?? false
            }
            server.handshakes = share(limits?.handshakes?.value ?? server.handshakes)
            server.bufferedBytes = share(limits?.bufferedBytes?.value ?? server.bufferedBytes)
            server.limits.headerBytes = limits?.headerBytes?.value ?? server.limits.headerBytes
            server.limits.headerCount = limits?.headerCount?.value ?? server.limits.headerCount
            server.limits.uriBytes = limits?.uriBytes?.value ?? server.limits.uriBytes
            server.limits.headerTimeout =
                limits?.headerTimeout?.value ?? server.limits.headerTimeout
            server.limits.bodyTimeout = limits?.bodyTimeout?.value ?? server.limits.bodyTimeout
            server.limits.writeTimeout = limits?.writeTimeout?.value ?? server.limits.writeTimeout
            server.limits.idleTimeout = limits?.idleTimeout?.value ?? server.limits.idleTimeout
            if let traces = config.traces, !traces.isDisabled {
                server.sampledShare = traces.sample?.value ?? PlanDefaults.traceShare
            }
            server.responseFields = try fixedFields(for: nil)
            return server
        }
    }
}

/// An internal error: a configuration passed its checks but cannot be compiled. Says where and why.
package struct PlanError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
