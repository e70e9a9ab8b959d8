import Basics

/// The host availability of one backend on one worker, shared by the plans before and after a
/// reload.
final class HostStates {
    var availability: HostAvailability
    /// The last failed check of each host, as long as no later one succeeded.
    private(set) var failedChecks: [Int: FailedCheck] = [:]

    struct FailedCheck {
        let reason: String
        let at: Instant
    }

    init(_ availability: HostAvailability) {
        self.availability = availability
    }

    /// A copy for other hosts or settings after a reload, with the parameters of
    /// `HostAvailability.continued`.
    func continued(
        for numbers: [Int?], eject: EjectPlan?, isChecked: Bool, at now: Instant
    ) -> HostStates {
        let states = HostStates(
            availability.continued(for: numbers, eject: eject, isChecked: isChecked, at: now))
        guard isChecked else { return states }
        for (host, number) in numbers.enumerated() {
            states.failedChecks[host] = number.flatMap { failedChecks[$0] }
        }
        return states
    }

    func recordCheck(of host: Int, _ result: HealthCheckResult, at now: Instant) {
        let reason = result.reason
        failedChecks[host] = reason.map { FailedCheck(reason: $0, at: now) }
        availability.recordCheck(of: host, isHealthy: reason == nil)
    }
}

/// Which hosts of a backend may be called: a state machine without I/O whose inputs are the
/// outcomes of calls and health checks, and the time.
///
/// A host is unavailable for two reasons. It failed too often in a row (`eject`): it is ejected for
/// a while, longer each time. Or it fails its health checks (`health`): until a check succeeds.
struct HostAvailability {
    private struct Host {
        var failuresInRow = 0
        /// Since the last successful call.
        var ejections = 0
        var ejectedUntil: Instant?
        var failedChecksInRow = 0
        var isHealthy = true
    }

    private let eject: EjectPlan?
    private var hosts: [Host]

    /// The longest ejection is so many times the first.
    private static let growthMax = 10

    /// Consecutive failed checks that make a host unhealthy; a single one may be an accident.
    private static let failedChecksMax = 2

    init(hosts: Int, eject: EjectPlan?) {
        self.eject = eject
        self.hosts = Array(repeating: Host(), count: hosts)
    }

    /// A copy for other hosts or settings after a reload: hosts that stay keep what the settings use.
    ///
    /// - Parameters:
    ///   - numbers: for each host, its number before the reload; nil for a new host
    ///   - eject: applies to later ejections; the present ones keep their ends
    ///   - isChecked: whether the hosts have health checks
    func continued(
        for numbers: [Int?], eject: EjectPlan?, isChecked: Bool, at now: Instant
    ) -> HostAvailability {
        var copy = HostAvailability(hosts: numbers.count, eject: eject)
        for (host, number) in numbers.enumerated() {
            guard let former = number.map({ hosts[$0] }) else { continue }
            if isChecked {
                copy.hosts[host].failedChecksInRow = former.failedChecksInRow
                copy.hosts[host].isHealthy = former.isHealthy
            }
            if eject != nil {
                copy.hosts[host].failuresInRow = former.failuresInRow
                copy.hosts[host].ejections = former.ejections
                // There may be fewer hosts than before.
                if copy.mayEject(at: now) { copy.hosts[host].ejectedUntil = former.ejectedUntil }
            }
        }
        return copy
    }

    /// The hosts that may be called, in order; none if no host is healthy.
    func availableHosts(at now: Instant) -> [Int] {
        let healthy = hosts.indices.filter { hosts[$0].isHealthy }
        let available = healthy.filter { !isEjected($0, at: now) }
        // If all healthy hosts are ejected, an ejected one is better than none.
        let chosen = available.isEmpty ? healthy : available
        assert(mayCall(chosen, at: now), "an unavailable host may be called")
        return chosen
    }

    /// Whether all of these are available; or all of them are ejected, and no other is available. For
    /// assertions.
    private func mayCall(_ chosen: [Int], at now: Instant) -> Bool {
        chosen.allSatisfy { state(of: $0, at: now) == .available }
            || hosts.indices.allSatisfy { state(of: $0, at: now) != .available }
                && chosen.allSatisfy { state(of: $0, at: now) != .unhealthy }
    }

    private func isEjected(_ host: Int, at now: Instant) -> Bool {
        hosts[host].ejectedUntil.map { now < $0 } ?? false
    }

    // MARK: Calls

    /// Records the outcome of a call to a host.
    mutating func recordCall(
        to host: Int, _ sample: AttemptSample, at now: Instant
    ) {
        guard let eject else { return }
        switch sample {
        case .none: break
        case .success:
            hosts[host].failuresInRow = 0
            if !isEjected(host, at: now) { hosts[host].ejections = 0 }
        case .failure:
            // Calls that began before an ejection say nothing new about the host.
            if isEjected(host, at: now) { return }
            hosts[host].failuresInRow += 1
            if hosts[host].failuresInRow >= eject.after { self.eject(host, eject, at: now) }
        }
    }

    /// Whether another host may be ejected: at most half of them are.
    private func mayEject(at now: Instant) -> Bool {
        let ejected = hosts.indices.count { isEjected($0, at: now) }
        return (ejected + 1) * 2 <= hosts.count
    }

    private mutating func eject(_ host: Int, _ plan: EjectPlan, at now: Instant) {
        guard mayEject(at: now) else { return }
        hosts[host].failuresInRow = 0
        hosts[host].ejections = min(hosts[host].ejections + 1, Self.growthMax)
        hosts[host].ejectedUntil =
            now + .nanoseconds(plan.duration.inNanoseconds * Int64(hosts[host].ejections))
        assert(
            hosts[host].ejectedUntil == now + plan.duration * hosts[host].ejections,
            "an ejection does not grow")
        assert(
            hosts.indices.count { isEjected($0, at: now) } * 2 <= hosts.count,
            "more than half of the hosts are ejected")
    }

    // MARK: Checks

    /// Records the result of a health check.
    mutating func recordCheck(of host: Int, isHealthy: Bool) {
        if isHealthy {
            hosts[host].failedChecksInRow = 0
            hosts[host].isHealthy = true
        } else {
            hosts[host].failedChecksInRow += 1
            if hosts[host].failedChecksInRow >= Self.failedChecksMax {
                hosts[host].isHealthy = false
            }
        }
        assert(
            hosts[host].isHealthy == (hosts[host].failedChecksInRow < Self.failedChecksMax),
            "the last checks say otherwise")
    }

    // MARK: State

    /// Whether a host may be called, and why not.
    enum State: Equatable {
        case available
        case ejected(until: Instant)
        case unhealthy
    }

    func state(of host: Int, at now: Instant) -> State {
        guard hosts[host].isHealthy else { return .unhealthy }
        guard let until = hosts[host].ejectedUntil, now < until else { return .available }
        return .ejected(until: until)
    }
}
