import Basics
import Rehearsal

/// How often a worker found a host of a backend unavailable, as far as calls and health checks show it. For
/// the coverage: that such a host gets no call is an assertion of the code.
struct UnavailableHosts {
    /// Times that two health checks in a row failed.
    private(set) var unhealthy = 0
    /// The pauses of hosts behind as many failures as eject them, while others got calls; and how many
    /// of them were longer than the first ejection.
    private(set) var ejected = 0
    private(set) var grown = 0

    init(of record: RunRecord) {
        for (index, backend) in record.configs[0].backends.enumerated() {
            for worker in record.workers.map(\.name) {
                for host in backend.hosts.indices {
                    countChecks(
                        record.probes.filter {
                            $0.backend == index && $0.worker == worker && $0.host == host
                        })
                }
                guard let eject = backend.eject else { continue }
                let attempts = record.attempts.filter {
                    $0.backend == index && $0.worker == worker
                }
                for host in backend.hosts.indices { countPauses(of: host, attempts, eject) }
            }
        }
    }

    private mutating func countChecks(_ probes: [ProbeRecord]) {
        var failures = 0
        for probe in probes.sorted(by: { $0.sent < $1.sent }) {
            failures = probe.isHealthy == false ? failures + 1 : 0
            if failures == 2 { unhealthy += 1 }
        }
    }

    private mutating func countPauses(
        of host: Int, _ attempts: [AttemptRecord], _ eject: (after: Int, duration: Int)
    ) {
        let own = attempts.filter { $0.host == host }.sorted { $0.sent < $1.sent }
        var failures = 0
        for (attempt, next) in zip(own, own.dropFirst()) {
            failures = attempt.hasFailed ? failures + 1 : 0
            guard failures >= eject.after, let ended = attempt.ended else { continue }
            let pause = next.sent - ended
            guard pause >= .milliseconds(eject.duration),
                attempts.contains(where: {
                    $0.host != host && $0.sent > ended && $0.sent < next.sent
                })
            else { continue }
            ejected += 1
            if pause >= .milliseconds(2 * eject.duration) { grown += 1 }
        }
    }
}

extension AttemptRecord {
    /// Whether its outcome counts as a failure of its host.
    fileprivate var hasFailed: Bool {
        if case .response(let status, _, _) = script.outcome { status >= 500 } else { true }
    }
}
