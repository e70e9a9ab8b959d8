import Basics
import Rehearsal

/// A breaker that must be open lets nothing through.
///
/// A model of its own, as far as everything that a breaker learns is known here: until its first
/// opening, while no sample has left its window.
struct BreakerCheck {
    let record: RunRecord
    let violations: ViolationLog

    func run() {
        // What a breaker learned under one configuration, it may know under the next.
        guard record.configs.count == 1 else { return }
        let config = record.configs[0]
        for (index, backend) in config.backends.enumerated() {
            guard let breaker = backend.breaker else { continue }
            for worker in record.workers.map(\.name) {
                let lessons = Lessons(of: index, on: worker, in: record)
                guard let opened = opening(of: breaker, lessons) else { continue }
                let closes = opened + .milliseconds(breaker.tryAgainAfter)
                check(index, worker, from: opened, to: closes, config)
            }
        }
    }

    /// When it must have opened for the first time; nil if it need not have.
    private func opening(of breaker: DrawnBreaker, _ lessons: Lessons) -> Instant? {
        guard let first = lessons.all.first?.at else { return nil }
        var (calls, failures) = (0, 0)
        var rest = lessons.all[...]
        while let at = rest.first?.at {
            guard (at - first) * 10 < .milliseconds(breaker.window) * 9 else { return nil }
            // In which order it learned what came at the same moment is not known here: it must be
            // open only if every order opens it.
            let moment = rest.prefix { $0.at == at }
            rest = rest.dropFirst(moment.count)
            let failed = moment.count { $0.isFailure }
            let callsMin = calls + failed
            calls += moment.count
            failures += failed
            let isMuch = failures * 100 >= breaker.openAtPercent * calls
            if failed > 0, callsMin >= breaker.minRequests, isMuch { return at }
        }
        return nil
    }

    /// Calls that are made at once when their request begins, while the breaker is open.
    private func check(
        _ backend: Int, _ worker: String, from opened: Instant, to closes: Instant,
        _ config: DrawnConfig
    ) {
        for attempt in record.attempts
        where attempt.backend == backend && attempt.worker == worker && attempt.ordinal == 0 {
            let call = config.endpoints[attempt.call.endpoint].calls[attempt.call.call]
            guard call.waitsFor.isEmpty, let request = record.request(of: attempt),
                !request.request.isPipelined,
                let began = request.read, began > opened, began < closes
            else { continue }
            violations.add(
                .limits, attempt.mark, "\(attempt.call.text) went through an open breaker")
        }
    }
}
