import Basics
import Rehearsal

/// Which hosts of a backend one core must leave out, and when, by what it was told of them: a second,
/// simple model of `eject` and `health`.
struct HostsModel {
    /// From an event to another one, both without the moment itself.
    struct Span {
        let from: Instant
        var to: Instant?

        /// Whether all of this time lies within.
        func covers(_ first: Instant, _ last: Instant) -> Bool {
            from < first && to.map { last < $0 } ?? true
        }
    }

    /// Times in which each host did not answer its checks.
    private(set) var unwell: [[Span]]
    /// Times in which each host was ejected, as far as that can be known.
    private(set) var ejected: [[Span]]
    /// A check of each host went badly at least once.
    private(set) var hadBadChecks: [Bool]
    /// Everything that the core knows of its checks is known here.
    let knowsChecks: Bool
    /// Nobody can tell how some checks went.
    private let hasPoison: Bool

    let backend: Int
    let worker: String
    private let drawn: DrawnBackend

    init(of backend: Int, _ config: DrawnConfig, on worker: String, in record: RunRecord) {
        self.backend = backend
        self.worker = worker
        drawn = config.backends[backend]
        let probes = record.probes.filter { $0.backend == backend && $0.worker == worker }
        unwell = Array(repeating: [], count: drawn.hosts.count)
        ejected = unwell
        hadBadChecks = Array(repeating: false, count: drawn.hosts.count)
        hasPoison = record.speaksUnasked(backend)
        knowsChecks =
            record.configs.count == 1 && !record.weather.hides(drawn.hosts) && !record.isSlow
            && !hasPoison
        for host in drawn.hosts.indices {
            follow(probes.filter { $0.host == host && !isAskedAgain($0, in: record) }, of: host)
        }
        if let eject = drawn.eject {
            follow(Lessons(of: backend, on: worker, in: record), eject)
        }
    }

    /// For each backend that leaves hosts out and each core; none for a run with a reload, as what was
    /// known under one configuration, the next may have forgotten.
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

    /// Ejections that last longer than the first of their host.
    var grownEjections: Int {
        guard let eject = drawn.eject else { return 0 }
        return ejected.joined().count { span in
            span.to.map { $0 - span.from > .milliseconds(eject.duration) } ?? false
        }
    }

    // MARK: Checks

    /// Whether it goes out once more on another connection; not if it was given up instead, which is at
    /// the time of the next check.
    private func isAskedAgain(_ probe: ProbeRecord, in record: RunRecord) -> Bool {
        guard probe.mayBeResent, let ended = probe.ended, let health = drawn.health else {
            return false
        }
        let every = Duration.milliseconds(health.every).inNanoseconds
        return (ended - record.began).inNanoseconds % every != 0
    }

    /// Two bad checks in a row take a host out, a good one brings it back.
    private mutating func follow(_ probes: [ProbeRecord], of host: Int) {
        let results = probes.compactMap { probe in
            probe.ended.map { (at: $0, isGood: probe.isGood) }
        }.sorted { $0.at < $1.at }
        var badInRow = 0
        for result in results {
            guard result.isGood == false else {
                badInRow = 0
                end(host, at: result.at)
                continue
            }
            hadBadChecks[host] = true
            badInRow += 1
            if badInRow == 2 { unwell[host].append(Span(from: result.at)) }
        }
    }

    private mutating func end(_ host: Int, at moment: Instant) {
        guard let last = unwell[host].indices.last, unwell[host][last].to == nil else { return }
        unwell[host][last].to = moment
    }

    // MARK: Calls

    /// `after` failures in a row take a host out, longer each time, and never more than half of them.
    private mutating func follow(_ lessons: Lessons, _ eject: (after: Int, duration: Int)) {
        var failures = Array(repeating: 0, count: drawn.hosts.count)
        var times = failures
        var rest = lessons.all[...]
        while let at = rest.first?.at {
            let together = rest.prefix { $0.at == at }
            rest = rest.dropFirst(together.count)
            // What comes at the same moment comes in an order that nobody sees.
            guard together.count == 1, let lesson = together.first else { return }
            let out = drawn.hosts.indices.filter { isEjected($0, at: at) }
            guard lesson.isFailure else {
                failures[lesson.host] = 0
                if !out.contains(lesson.host) { times[lesson.host] = 0 }
                continue
            }
            if out.contains(lesson.host) { continue }
            failures[lesson.host] += 1
            guard failures[lesson.host] >= eject.after, (out.count + 1) * 2 <= drawn.hosts.count
            else { continue }
            failures[lesson.host] = 0
            times[lesson.host] = min(10, times[lesson.host] + 1)
            let duration = Duration.milliseconds(eject.duration * times[lesson.host])
            ejected[lesson.host].append(Span(from: at, to: at + duration))
        }
    }

    private func isEjected(_ host: Int, at moment: Instant) -> Bool {
        ejected[host].contains { span in span.to.map { moment < $0 } ?? true }
    }

    // MARK: Answers

    /// Why a host must not have been chosen at any moment of this time; nil if it may have been.
    func objection(to host: Int, from first: Instant, to last: Instant) -> String? {
        // A check may have taken an unasked word for its answer, and never have come to its host.
        if !hasPoison, unwell[host].contains(where: { $0.covers(first, last) }) {
            return "asked although it does not answer its checks"
        }
        guard ejected[host].contains(where: { $0.covers(first, last) }) else { return nil }
        // Half of the hosts at most are ejected at a time: of two and of three, one.
        let others = drawn.hosts.indices.filter { $0 != host }
        let isOneWell =
            drawn.health == nil || knowsChecks && others.contains { !hadBadChecks[$0] }
        return isOneWell ? "asked although it is ejected" : nil
    }

    /// Whether there can have been a moment in this time at which no host was well.
    func canHaveNone(from first: Instant, to last: Instant, in record: RunRecord) -> Bool {
        guard drawn.health != nil else { return false }
        guard knowsChecks else {
            return record.isSlow || record.weather.hides(drawn.hosts)
                || hadBadChecks.allSatisfy { $0 } || hasPoison
        }
        let moments = [first] + unwell.joined().map(\.from).filter { $0 >= first && $0 <= last }
        return moments.contains { moment in
            unwell.allSatisfy { spans in
                spans.contains { $0.from <= moment && $0.to.map { moment <= $0 } ?? true }
            }
        }
    }
}
