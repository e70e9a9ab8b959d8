import Basics
package import GatewayConfig
import HTTP
import HTTPClient
package import TLS

/// Makes the plan of a checked configuration: inheritance, defaults, shares per worker, names to
/// indices, texts to compiled forms.
///
/// What it is given has passed every check, so a failure in here is a mistake of ours; it is thrown
/// all the same, and ends the start or the reload instead of the process.
package struct Planner {
    let config: Config
    let workers: Int
    /// Those that the check of the configuration made.
    let contexts: TLSClientContexts

    /// A plan for one core of `workers`, which the configuration numbers unless they run already.
    ///
    /// - Parameter contexts: those that `ConfigLoader` filled; a context that is missing is made
    package static func plan(
        _ config: Config, processors: Int, workers: Int? = nil,
        contexts: TLSClientContexts = TLSClientContexts()
    ) throws(PlanError) -> Plan {
        let written: Int =
            switch config.workers?.value ?? PlanDefaults.workers {
            case .auto: max(1, processors)
            case .count(let count): count
            }
        return try Planner(config: config, workers: workers ?? written, contexts: contexts).plan()
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
            process: process, server: server, proxies: proxies, backends: backends,
            endpoints: endpoints,
            shares: shares)
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

    /// A number for the whole process as one worker's share, rounded up.
    func share(_ count: Int) -> Int {
        let (sum, overflow) = count.addingReportingOverflow(workers - 1)
        return (overflow ? count : sum) / workers
    }

    private var process: ProcessPlan {
        ProcessPlan(
            listeners: [
                config.listen.flatMap { ListenPlan($0) }
                    ?? ListenPlan(
                        address: .tcp(host: PlanDefaults.listenHost, port: PlanDefaults.listenPort))
            ],
            admin: config.admin.flatMap { AdminPlan($0) },
            workers: workers,
            log: LogPlan(
                format: config.log?.format?.value ?? PlanDefaults.logFormat,
                level: config.log?.level?.value ?? PlanDefaults.logLevel,
                access: config.log?.access?.value ?? PlanDefaults.logAccess),
            drain: DrainPlan(
                delay: config.drain?.delay?.value ?? .zero,
                timeout: config.drain?.timeout?.value ?? PlanDefaults.drainTimeout))
    }

    private var server: ServerSettings {
        let limits = config.limits
        var server = PlanDefaults.server
        server.accept(share(limits?.connections?.value ?? server.connections))
        server.connectionsPerClient = limits?.connectionsPerClient?.value
        server.requestsInFlight = share(limits?.requestsInFlight?.value ?? server.requestsInFlight)
        server.bufferedBytes = share(limits?.bufferedBytes?.value ?? server.bufferedBytes)
        server.limits.headerBytes = limits?.headerBytes?.value ?? server.limits.headerBytes
        server.limits.headerCount = limits?.headerCount?.value ?? server.limits.headerCount
        server.limits.uriBytes = limits?.uriBytes?.value ?? server.limits.uriBytes
        server.limits.headerTimeout = limits?.headerTimeout?.value ?? server.limits.headerTimeout
        server.limits.bodyTimeout = limits?.bodyTimeout?.value ?? server.limits.bodyTimeout
        server.limits.writeTimeout = limits?.writeTimeout?.value ?? server.limits.writeTimeout
        server.limits.idleTimeout = limits?.idleTimeout?.value ?? server.limits.idleTimeout
        return server
    }
}

/// A configuration that passed its checks and still has no plan: our mistake, with its place.
package struct PlanError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
