import Basics
import Rehearsal

/// A circuit breaker that must be open lets no call through.
///
/// A second, simple model of the breaker. It reaches until the first opening, while no sample has left the
/// window: so far the breaker's samples are known.
struct BreakerCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        // After a reload, a breaker may keep its samples.
        guard record.configs.count == 1 else { return }
        let config = record.configs[0]
        for (index, backend) in config.backends.enumerated() {
            guard let breaker = backend.breaker else { continue }
            for worker in record.workers.map(\.name) {
                let outcomes = KnownOutcomes(of: index, on: worker, in: record)
                guard let opened = Self.opening(of: breaker, outcomes.all) else { continue }
                let closes = opened + .milliseconds(breaker.tryAgainAfter)
                check(index, worker, from: opened, to: closes, config)
            }
        }
    }

    /// When the breaker must have opened for the first time; nil if that is not certain.
    static func opening(
        of breaker: DrawnBreaker, _ outcomes: [KnownOutcomes.Outcome]
    ) -> Instant? {
        guard let first = outcomes.first?.at else { return nil }
        var (calls, failures) = (0, 0)
        var rest = outcomes[...]
        while let at = rest.first?.at {
            guard (at - first) * 10 < .milliseconds(breaker.window) * 9 else { return nil }
            // The order of samples at the same moment is unknown: the breaker must be open only if every
            // order opens it.
            let simultaneous = rest.prefix { $0.at == at }
            rest = rest.dropFirst(simultaneous.count)
            let failed = simultaneous.count { $0.isFailure }
            let callsMin = calls + failed
            calls += simultaneous.count
            failures += failed
            let reachesShare = failures * 100 >= breaker.openAtPercent * calls
            if failed > 0, callsMin >= breaker.minRequests, reachesShare { return at }
        }
        return nil
    }

    /// Checks calls that start together with their request while the breaker is open.
    private func check(
        _ backend: Int, _ worker: String, from opened: Instant, to closes: Instant,
        _ config: DrawnConfig
    ) {
        for attempt in record.attempts
        where attempt.backend == backend && attempt.worker == worker && attempt.ordinal == 0 {
            let call = config.endpoints[attempt.call.endpoint].calls[attempt.call.call]
            guard call.waitsFor.isEmpty, let request = record.request(of: attempt),
                !request.request.isPipelined || request.http2 != nil,
                let began = request.read, began > opened, began < closes
            else { continue }
            violations.add(
                .limits, attempt.mark,
                "\(attempt.call.text) was sent although the breaker must be open")
        }
    }
}
