import Basics

/// The board of one backend on one core, shared by the plans before and after a reload.
final class HostStates {
    var board: HostAvailability

    init(_ board: HostAvailability) {
        self.board = board
    }
}

/// Which hosts of a backend are asked: a pure machine, told of every call, of every check and of the
/// time.
///
/// A host is left out for two reasons. It failed too often in a row (`eject`): then it is left alone
/// for a while, longer each time. Or it does not answer checks (`health`): then until it does.
struct HostAvailability {
    private struct Host {
        var failuresInRow = 0
        /// Since it last answered well.
        var ejections = 0
        var ejectedUntil: Instant?
        var badChecksInRow = 0
        var isWell = true
    }

    private let eject: EjectPlan?
    private var hosts: [Host]

    /// The longest time out is so many times the first.
    private static let growthMax = 10

    /// One bad check may be an accident.
    private static let badChecksMax = 2

    init(hosts: Int, eject: EjectPlan?) {
        self.eject = eject
        self.hosts = Array(repeating: Host(), count: hosts)
    }

    /// The hosts that may be asked, in order; none if no host is well.
    func usable(at now: Instant) -> [Int] {
        let well = hosts.indices.filter { hosts[$0].isWell }
        let inside = well.filter { !isEjected($0, at: now) }
        // Where all that are well are ejected, an ejected one is better than none.
        return inside.isEmpty ? well : inside
    }

    /// Hosts that are left out now.
    func leftOut(at now: Instant) -> Int { hosts.count - usable(at: now).count }

    private func isEjected(_ host: Int, at now: Instant) -> Bool {
        hosts[host].ejectedUntil.map { now < $0 } ?? false
    }

    // MARK: Calls

    /// A call to a host ended.
    mutating func ended(_ host: Int, _ sample: CircuitBreakerState.Sample, at now: Instant) {
        guard let eject else { return }
        switch sample {
        case .none: break
        case .success:
            hosts[host].failuresInRow = 0
            if !isEjected(host, at: now) { hosts[host].ejections = 0 }
        case .failure:
            // Answers to calls from before are no news of a host that is left alone already.
            if isEjected(host, at: now) { return }
            hosts[host].failuresInRow += 1
            if hosts[host].failuresInRow >= eject.after { self.eject(host, eject, at: now) }
        }
    }

    /// Never more than half of the hosts.
    private mutating func eject(_ host: Int, _ plan: EjectPlan, at now: Instant) {
        let outside = hosts.indices.count { isEjected($0, at: now) }
        guard (outside + 1) * 2 <= hosts.count else { return }
        hosts[host].failuresInRow = 0
        hosts[host].ejections = min(hosts[host].ejections + 1, Self.growthMax)
        hosts[host].ejectedUntil =
            now + .nanoseconds(plan.duration.inNanoseconds * Int64(hosts[host].ejections))
    }

    // MARK: Checks

    /// A check of a host ended.
    mutating func checked(_ host: Int, isGood: Bool) {
        if isGood {
            hosts[host].badChecksInRow = 0
            hosts[host].isWell = true
        } else {
            hosts[host].badChecksInRow += 1
            if hosts[host].badChecksInRow >= Self.badChecksMax { hosts[host].isWell = false }
        }
    }
}
