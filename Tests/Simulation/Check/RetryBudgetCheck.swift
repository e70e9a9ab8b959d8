import Basics
import Rehearsal

/// At most a fifth of the calls to a backend that have `retry` are retries, or three if that is more: a
/// failing backend does not get a multiple of its load.
///
/// The check compares certain retries with all calls that may have been in progress.
struct RetryBudgetCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        for backend in record.configs[0].backends.indices {
            for worker in record.workers.map(\.name) { check(backend, worker) }
        }
    }

    private struct Span {
        let from: Instant
        let to: Instant

        func covers(_ moment: Instant) -> Bool { from < moment && moment < to }
    }

    private func check(_ backend: Int, _ worker: String) {
        let retries = retries(backend, worker)
        guard retries.count > Self.alwaysAllowed else { return }
        let calls = record.callSpans(to: backend, on: worker).filter { $0.call.retry != nil }
        for retry in retries {
            let others = retries.count { $0.covers(retry.from) }
            let inProgress = calls.count { $0.from <= retry.from && retry.from <= $0.to }
            let allowed = max(Self.alwaysAllowed, inProgress * Self.sharePercent / 100)
            if others + 1 > allowed {
                violations.add(
                    .limits, nil,
                    "\(others + 1) concurrent retries to b\(backend), \(allowed) are allowed")
            }
        }
    }

    private static let sharePercent = 20
    private static let alwaysAllowed = 3

    /// Each retry from the end of the previous attempt to its own end.
    private func retries(_ backend: Int, _ worker: String) -> [Span] {
        var retries: [Span] = []
        for client in record.clients where client.worker == worker {
            for request in client.sent {
                let attempts = record.attempts(of: request).filter { $0.backend == backend }
                for attempt in attempts where attempt.ordinal > 0 && !attempt.isAmbiguous {
                    let call = record.call(of: attempt)
                    guard call.retry != nil, call.hedgeAfter == nil,
                        let former = attempts.first(where: {
                            $0.call == attempt.call && $0.ordinal == attempt.ordinal - 1
                        }), !former.mayBeResent, let from = former.ended, let to = attempt.ended,
                        from <= attempt.sent
                    else { continue }
                    retries.append(Span(from: from, to: to))
                }
            }
        }
        return retries
    }
}
