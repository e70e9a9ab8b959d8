import Assembly
import Basics
import Rehearsal

/// A circuit breaker that must be open lets no streamed request through.
///
/// Its samples are known until the first event whose outcome cannot be known from outside.
struct StreamBreakerCheck {
    let record: RunRecord
    let models: [StreamModel]
    let violations: ViolationLog

    func check() {
        // After a reload, a breaker may keep its samples.
        guard record.configs.count == 1, record.rates[.refusals] == 0 else { return }
        let config = record.configs[0]
        for (index, backend) in config.streamBackends.enumerated() {
            guard let breaker = backend.breaker else { continue }
            for worker in record.workers.map(\.name) {
                let relayed = models.filter {
                    $0.proxy?.backend == index && $0.request.worker == worker
                }
                check(relayed, breaker)
            }
        }
    }

    private func check(_ relayed: [StreamModel], _ breaker: DrawnBreaker) {
        guard let opened = BreakerCheck.opening(of: breaker, outcomes(relayed)) else { return }
        let closes = opened + .milliseconds(breaker.tryAgainAfter)
        for model in relayed {
            guard let first = model.attempts.first, let began = model.recorded?.began,
                began > opened, first.sentAt < closes
            else { continue }
            violations.add(
                .limits, model.mark, "sent to a host although the breaker must be open")
        }
    }

    /// The responses that the gateway has certainly recorded, before the first event that is not known: a
    /// timeout, a broken response, the end of an idle connection, a body whose last byte came after its
    /// head.
    private func outcomes(_ relayed: [StreamModel]) -> [KnownOutcomes.Outcome] {
        var known: [KnownOutcomes.Outcome] = []
        var knownUntil = record.ended
        for model in relayed {
            for attempt in model.attempts {
                let isCertain =
                    attempt.script.outcome == .responds && attempt.script.body.ending == .complete
                    && !attempt.script.switchesWrongly && attempt.script.interim.count <= 16
                    && endsWithHead(attempt, model)
                if isCertain, let head = attempt.headRead, head != model.stream.left {
                    known.append(
                        KnownOutcomes.Outcome(
                            at: head, host: attempt.host,
                            isFailure: attempt.script.upgrade == nil && attempt.script.status >= 500
                        ))
                } else {
                    knownUntil = min(knownUntil, attempt.sentAt)
                }
            }
        }
        return known.filter { $0.at < knownUntil }.sorted { $0.at < $1.at }
    }

    /// Whether the outcome was decided at the moment of the head: another attempt followed, or the
    /// exchange was over.
    private func endsWithHead(_ attempt: StreamAttempt, _ model: StreamModel) -> Bool {
        guard attempt.key == model.attempts.last?.key else { return true }
        guard let head = attempt.headRead, let moment = model.moment(head) else { return false }
        return moment == model.handedOver
    }
}
