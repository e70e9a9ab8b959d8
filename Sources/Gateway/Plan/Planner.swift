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
            switch config.workers?.value ?? .auto {
            case .auto: max(1, processors)
            case .count(let count): count
            }
        return try Planner(config: config, workers: workers ?? written, contexts: contexts).plan()
    }

    private func plan() throws(PlanError) -> Plan {
        var endpoints: [EndpointPlan] = []
        for (index, endpoint) in config.endpoints.enumerated() {
            endpoints.append(try EndpointPlanner(planner: self, endpoint: endpoint).plan(index))
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
            source: clients.addressFrom?.value ?? .forwardedFor)
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
                format: config.log?.format?.value ?? .json,
                level: config.log?.level?.value ?? .info,
                access: config.log?.access?.value ?? true),
            drain: DrainPlan(
                delay: config.drain?.delay?.value ?? .zero,
                timeout: config.drain?.timeout?.value ?? PlanDefaults.drainTimeout))
    }

    private var server: ServerPlan {
        let limits = config.limits
        return ServerPlan(
            connections: share(limits?.connections?.value ?? PlanDefaults.connections),
            connectionsPerClient: limits?.connectionsPerClient?.value,
            requestsInFlight: share(
                limits?.requestsInFlight?.value ?? PlanDefaults.requestsInFlight),
            bufferedBytes: share(limits?.bufferedBytes?.value ?? PlanDefaults.bufferedBytes),
            headerBytes: limits?.headerBytes?.value ?? PlanDefaults.headerBytes,
            headerCount: limits?.headerCount?.value ?? PlanDefaults.headerCount,
            uriBytes: limits?.uriBytes?.value ?? PlanDefaults.uriBytes,
            headerTimeout: limits?.headerTimeout?.value ?? PlanDefaults.headerTimeout,
            bodyTimeout: limits?.bodyTimeout?.value ?? PlanDefaults.bodyTimeout,
            writeTimeout: limits?.writeTimeout?.value ?? PlanDefaults.writeTimeout,
            idleTimeout: limits?.idleTimeout?.value ?? PlanDefaults.idleTimeout)
    }
}

/// A configuration that passed its checks and still has no plan: our mistake, with its place.
package struct PlanError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
