import Basics
import Rehearsal

/// Which hosts of a backend are unavailable to one worker, and when, by the results of calls and
/// health checks: a second, simple model of `eject` and `health`.
struct HostsModel {
    /// The time between two events, without the moments of the events themselves.
    struct Span {
        let from: Instant
        var to: Instant?

        /// Whether the whole interval lies within the span.
        func covers(_ first: Instant, _ last: Instant) -> Bool {
            from < first && to.map { last < $0 } ?? true
        }
    }

    /// When each host was unhealthy.
    private(set) var unhealthy: [[Span]]
    /// When each host was certainly ejected.
    private(set) var ejected: [[Span]]
    /// Whether a health check of each host failed at least once.
    private(set) var hadFailedChecks: [Bool]
    /// All results of health checks are known.
    let knowsChecks: Bool
    /// Unsolicited data makes the results of some checks unknown.
    private let hasAmbiguousChecks: Bool

    let backend: Int
    let worker: String
    private let drawn: DrawnBackend

    init(of backend: Int, _ config: DrawnConfig, on worker: String, in record: RunRecord) {
        self.backend = backend
        self.worker = worker
        drawn = config.backends[backend]
        let probes = record.probes.filter { $0.backend == backend && $0.worker == worker }
        unhealthy = Array(repeating: [], count: drawn.hosts.count)
        ejected = unhealthy
        hadFailedChecks = Array(repeating: false, count: drawn.hosts.count)
        hasAmbiguousChecks =
            record.sendsUnsolicitedData(backend) || record.disturbsConnections(to: backend)
            || drawn.http2 != nil && record.mayLosePongs
        let health = drawn.health
        let resent = probes.map { Self.isResent($0, health, in: record) }
        let unseen = zip(probes, resent).filter { probe, isResent in
            isResent && !Self.reachesHostAgain(probe, among: probes, health, in: record)
        }.map(\.0)
        knowsChecks =
            record.configs.count == 1 && !record.hostOutages.hasUnobservedOutage(of: drawn.hosts)
            && !record.isSlow
            && !hasAmbiguousChecks && unseen.isEmpty
        for host in drawn.hosts.indices {
            apply(zip(probes, resent).filter { $0.host == host && !$1 }.map(\.0), of: host)
        }
        for probe in unseen { hadFailedChecks[probe.host] = true }
        if let eject = drawn.eject {
            apply(KnownOutcomes(of: backend, on: worker, in: record), eject)
        }
    }

    /// One model for each worker and each backend with `eject` or `health`. None for a run with a
    /// reload, since the state before a reload may be lost.
    static func all(of record: RunRecord) -> [HostsModel] {
        guard record.configs.count == 1 else { return [] }
        return record.configs[0].backends.enumerated().flatMap { index, backend in
            backend.eject == nil && backend.health == nil
                ? []
                : record.workers.map {
                    HostsModel(of: index, record.configs[0], on: $0.name, in: record)
                }
        }
    }

    /// Number of ejections that last longer than the first one of their host.
    var grownEjections: Int {
        guard let eject = drawn.eject else { return 0 }
        return ejected.joined().count { span in
            span.to.map { $0 - span.from > .milliseconds(eject.duration) } ?? false
        }
    }

    // MARK: Checks

    /// Whether the gateway resends the check on another connection. It does not if it cancels the
    /// check, which happens when the next one is due.
    private static func isResent(
        _ probe: ProbeRecord, _ health: DrawnHealth?, in record: RunRecord
    ) -> Bool {
        guard probe.mayBeResent, let ended = probe.ended, let health else { return false }
        let every = Duration.milliseconds(health.every).inNanoseconds
        return (ended - record.began).inNanoseconds % every != 0
    }

    /// Whether the host received a resent check before the next one was due. If it did not, that
    /// check failed and the record has no trace of it.
    private static func reachesHostAgain(
        _ probe: ProbeRecord, among probes: [ProbeRecord], _ health: DrawnHealth?,
        in record: RunRecord
    ) -> Bool {
        guard let ended = probe.ended, let health else { return true }
        let every = Duration.milliseconds(health.every).inNanoseconds
        let due = ended + .nanoseconds(every - (ended - record.began).inNanoseconds % every)
        return probes.contains { $0.host == probe.host && $0.sent >= ended && $0.sent < due }
    }

    /// Two failed checks in a row make a host unhealthy, a successful one makes it healthy.
    private mutating func apply(_ probes: [ProbeRecord], of host: Int) {
        let results = probes.compactMap { probe in
            probe.ended.map { (at: $0, isHealthy: probe.isHealthy) }
        }.sorted { $0.at < $1.at }
        var badInRow = 0
        for result in results {
            guard result.isHealthy == false else {
                badInRow = 0
                end(host, at: result.at)
                continue
            }
            hadFailedChecks[host] = true
            badInRow += 1
            if badInRow == 2 { unhealthy[host].append(Span(from: result.at)) }
        }
    }

    private mutating func end(_ host: Int, at moment: Instant) {
        guard let last = unhealthy[host].indices.last, unhealthy[host][last].to == nil else {
            return
        }
        unhealthy[host][last].to = moment
    }

    // MARK: Calls

    /// `after` failures in a row eject a host, longer each time; at most half of the hosts are
    /// ejected.
    private mutating func apply(_ outcomes: KnownOutcomes, _ eject: (after: Int, duration: Int)) {
        var failures = Array(repeating: 0, count: drawn.hosts.count)
        var times = failures
        var rest = outcomes.all[...]
        while let at = rest.first?.at {
            let simultaneous = rest.prefix { $0.at == at }
            rest = rest.dropFirst(simultaneous.count)
            // The order of outcomes at the same moment is unknown.
            guard simultaneous.count == 1, let outcome = simultaneous.first else { return }
            let out = drawn.hosts.indices.filter { isEjected($0, at: at) }
            guard outcome.isFailure else {
                failures[outcome.host] = 0
                if !out.contains(outcome.host) { times[outcome.host] = 0 }
                continue
            }
            if out.contains(outcome.host) { continue }
            failures[outcome.host] += 1
            guard failures[outcome.host] >= eject.after, (out.count + 1) * 2 <= drawn.hosts.count
            else { continue }
            failures[outcome.host] = 0
            times[outcome.host] = min(10, times[outcome.host] + 1)
            let duration = Duration.milliseconds(eject.duration * times[outcome.host])
            ejected[outcome.host].append(Span(from: at, to: at + duration))
        }
    }

    private func isEjected(_ host: Int, at moment: Instant) -> Bool {
        ejected[host].contains { span in span.to.map { moment < $0 } ?? true }
    }

    // MARK: Availability

    /// Why a host must not have been chosen at any moment of this interval; nil if it may have
    /// been.
    func objection(to host: Int, from first: Instant, to last: Instant) -> String? {
        // A check may have taken unsolicited data for its response and never have reached its host.
        if !hasAmbiguousChecks, unhealthy[host].contains(where: { $0.covers(first, last) }) {
            return "called although it fails its health checks"
        }
        guard ejected[host].contains(where: { $0.covers(first, last) }) else { return nil }
        // At most half of the hosts are ejected: one of two, and one of three.
        let others = drawn.hosts.indices.filter { $0 != host }
        let isOneHealthy =
            drawn.health == nil || knowsChecks && others.contains { !hadFailedChecks[$0] }
        return isOneHealthy ? "called although it is ejected" : nil
    }

    /// Whether there may have been a moment in this interval without a healthy host.
    func canLackHosts(from first: Instant, to last: Instant, in record: RunRecord) -> Bool {
        guard drawn.health != nil else { return false }
        guard knowsChecks else {
            return record.isSlow || record.hostOutages.hasUnobservedOutage(of: drawn.hosts)
                || hadFailedChecks.allSatisfy { $0 } || hasAmbiguousChecks
        }
        let moments = [first] + unhealthy.joined().map(\.from).filter { $0 >= first && $0 <= last }
        return moments.contains { moment in
            unhealthy.allSatisfy { spans in
                spans.contains { $0.from <= moment && $0.to.map { moment <= $0 } ?? true }
            }
        }
    }
}
