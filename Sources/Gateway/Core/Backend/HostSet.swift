import Basics
import HTTP
import HTTPClient
import Reactor

/// The hosts of one backend on one worker: which there are, which of them may be called, and the choice among
/// them. A host has the number of its place in the plan.
final class HostSet {
    private let plan: BackendPlan
    private let hosts: [BackendHost]
    /// Nil without `eject` and `health`: all hosts may be called.
    private let states: HostStates?
    private let loop: any Loop
    /// Where the next search for a host begins, so that equally busy hosts are called in turn.
    private var searchStart = 0

    /// - Parameter former: the hosts of that backend before a reload; hosts that stay keep their
    ///   availability
    init(
        _ plan: BackendPlan, pools: ConnectionPools, loop: any Loop, replacing former: HostSet?
    ) {
        self.plan = plan
        self.loop = loop
        hosts = plan.hosts.map { BackendHost($0, plan.pool, pools: pools) }
        states = plan.hostStates(replacing: former?.plan, former?.states, at: loop.now)
    }

    var count: Int { hosts.count }
    var first: BackendHost { hosts[0] }
    subscript(number: Int) -> BackendHost { hosts[number] }
    func map<New>(_ transform: (BackendHost) -> New) -> [New] { hosts.map(transform) }

    /// Whether there is one host, and no rule that makes it unavailable.
    var needsNoChoice: Bool { hosts.count == 1 && states == nil }

    // MARK: Choice

    /// The host that the load balancing chooses for a call; nil if none is available.
    func next() -> Int? {
        let available = available
        guard hosts.count > 1 || available != nil else { return 0 }
        let first = searchStart
        searchStart = (searchStart + 1) % hosts.count
        var best: Int?
        for step in 0..<hosts.count {
            let candidate = (first + step) % hosts.count
            guard available?.contains(candidate) ?? true else { continue }
            guard let chosen = best else {
                best = candidate
                if plan.balance == .roundRobin { break }
                continue
            }
            if hosts[candidate].pool.inFlight < hosts[chosen].pool.inFlight { best = candidate }
        }
        assert(best != nil || available?.isEmpty == true, "an available host is not found")
        assert(best.map { areUsable[$0] } ?? true, "an unavailable host is chosen")
        return best
    }

    /// A search for a host that accepts a call.
    struct Search {
        /// The host that it has found.
        let host: Int
        /// The number of hosts after it, in ring order, that are not considered yet.
        let remaining: Int
    }

    /// The next available host after the one that failed; nil if none is left.
    func next(after search: Search) -> Search? {
        assert(search.remaining < hosts.count, "a host is tried twice")
        let available = available
        for step in 0..<search.remaining {
            let host = (search.host + 1 + step) % hosts.count
            guard available?.contains(host) ?? true else { continue }
            return Search(host: host, remaining: search.remaining - 1 - step)
        }
        return nil
    }

    /// Nil if all hosts may be called.
    private var available: [Int]? { states?.availability.availableHosts(at: loop.now) }

    // MARK: Availability

    /// Whether the outcomes of calls decide about the availability of hosts.
    var recordsCalls: Bool { plan.eject != nil }

    func recordCall(to host: Int, _ sample: AttemptSample) {
        states?.availability.recordCall(to: host, sample, at: loop.now)
    }

    func recordCheck(of host: Int, _ result: HealthCheckResult) {
        states?.recordCheck(of: host, result, at: loop.now)
    }

    // MARK: State

    /// Host and port of each host.
    var fields: [FieldValue] { hosts.map(\.field) }

    /// Whether each host may be called now.
    var areUsable: [Bool] {
        let available = available
        return hosts.indices.map { available?.contains($0) ?? true }
    }

    /// Whether a call would be sent to one of them.
    var hasUsable: Bool { available.map { !$0.isEmpty } ?? true }

    /// The connections to all of them.
    var connections: BackendConnections {
        hosts.reduce(into: BackendConnections()) { sum, host in
            sum.add(host.pool)
            if let pool = host.upgradePool { sum.add(pool) }
        }
    }

    var details: [BackendDetail.Host] {
        hosts.indices.map { number in
            BackendDetail.Host(
                name: "\(hosts[number].field)", usage: hosts[number].pool.usage,
                availability: states?.availability.state(of: number, at: loop.now) ?? .available,
                failedCheck: states?.failedChecks[number], at: loop.now)
        }
    }
}

extension BackendPlan {
    /// Whether both have the same hosts with the same TLS settings.
    func hasSameHosts(as other: BackendPlan) -> Bool {
        hosts.elementsEqual(other.hosts) { $0.isSame(as: $1) }
    }

    /// The availability of the hosts; nil if the plan neither ejects nor checks them.
    ///
    /// - Parameter states: before a reload; the availability of hosts that stay is continued
    fileprivate func hostStates(
        replacing former: BackendPlan?, _ states: HostStates?, at now: Instant
    ) -> HostStates? {
        guard eject != nil || health != nil else { return nil }
        guard let former, let states else {
            return HostStates(HostAvailability(hosts: hosts.count, eject: eject))
        }
        // One object for both, so that calls in flight are recorded, too.
        if hasSameHosts(as: former), former.eject == eject,
            (former.health == nil) == (health == nil)
        {
            return states
        }
        return states.continued(
            for: hosts.map { host in former.hosts.firstIndex { $0.isSame(as: host) } },
            eject: eject, isChecked: health != nil, at: now)
    }
}

extension BackendPlan.Host {
    /// Whether both have the same URL and the same TLS settings.
    fileprivate func isSame(as other: BackendPlan.Host) -> Bool {
        url == other.url && security == other.security
    }
}
