import Basics
import HTTP
import HTTPClient
import Promises

/// One host of a backend, with the constant parts of every head sent to it.
final class BackendHost {
    let pool: Pool
    /// For calls that switch to another protocol; nil if `pool` serves them.
    let upgradePool: Pool?
    /// Put before the path of every call; empty for most.
    private let pathPrefix: Bytes
    /// The value of `Host`: host and port.
    let field: FieldValue

    init(_ plan: BackendPlan.Host, _ settings: PoolSettings, pools: ConnectionPools) {
        pool = pools.pool(for: plan.origin, settings: plan.pool(settings))
        upgradePool = plan.poolForUpgrades(settings).map {
            pools.pool(for: plan.origin, settings: $0)
        }
        pathPrefix = Bytes(plan.pathPrefix)
        field = FieldValue(plan.origin.hostField) ?? "localhost"
    }

    /// The target of a call with the prefix.
    func target(_ target: Target) -> Target {
        guard !pathPrefix.isEmpty else { return target }
        // Two valid pieces of a path form a valid path; if they ever do not, the call's own
        // target is sent.
        return Target(Bytes(pathPrefix.array + target.text.array)) ?? target
    }

    /// Sends a request, which moves to the pool.
    func send(
        _ request: consuming ClientRequest, _ proxied: (any ProxiedRequest)?,
        within limit: consuming TimeLimit?, holding permit: Permit?
    ) -> LocalPromise<ClientResponse> {
        if !pathPrefix.isEmpty { request.target = target(request.target) }
        guard let proxied else { return pool.send(request, within: limit, holding: permit) }
        if let name = proxied.host {
            request.template = request.template.replacingHost(name)
        }
        if proxied.upgrade != nil, let upgradePool {
            return upgradePool.sendStreaming(request, proxied, holding: permit)
        }
        return pool.sendStreaming(request, proxied, holding: permit)
    }
}
