import Assembly
import Basics
import HTTP
import Rehearsal

/// `timeout`, `idle_timeout` and `max_duration` of endpoints with `proxy` are kept exactly.
struct StreamTimesCheck {
    let record: RunRecord
    let models: [StreamModel]
    let violations: ViolationLog

    func check() {
        for model in models {
            guard let proxy = model.proxy, let recorded = model.recorded else { continue }
            // Passwords are checked on another thread, so the beginning of the attempt is unknown.
            let checksPassword = model.endpoint?.auth?.kinds.contains(.basic) == true
            if record.excuses.add(.passwordCheck, model.request, if: checksPassword) { continue }
            checkTimeout(model, proxy)
            checkDuration(model, proxy, recorded.began)
            checkIdle(model, proxy)
            checkReason(model, proxy, recorded.began)
        }
    }

    private func add(_ model: StreamModel, _ text: String) {
        violations.add(.times, model.mark, text)
    }

    /// No head later than `timeout` after the request.
    private func checkTimeout(_ model: StreamModel, _ proxy: DrawnProxy) {
        // A host that does not read holds back the end of the request.
        guard let responded = model.request.responded,
            !record.excuses.add(
                .slowHost, model.request, if: model.isUploadBlocked(at: responded)),
            let taken = model.requestTaken.filter({ $0 <= responded }).max()
        else { return }
        let limit = taken + .milliseconds(proxy.timeout)
        if responded > limit {
            add(model, "the head was written \(responded - limit) after `timeout`")
        }
    }

    private func checkDuration(_ model: StreamModel, _ proxy: DrawnProxy, _ began: Instant) {
        guard let most = proxy.maxDuration, let ended = model.handedOver,
            let latest = model.moment(began + .milliseconds(most))
        else { return }
        // The gateway's own response is written at that moment, too.
        if ended > latest { add(model, "ended at \(ended), `max_duration` is \(latest)") }
    }

    /// While the response is passed on, no pause is longer than `idle_timeout`.
    private func checkIdle(_ model: StreamModel, _ proxy: DrawnProxy) {
        guard let origin = model.origin, let head = origin.headRead, let ended = model.handedOver
        else {
            return
        }
        let limit = Duration.milliseconds(proxy.idleTimeout)
        var last = head
        for moment in model.activity where moment > head {
            guard let at = model.moment(moment), at < ended else { break }
            if moment - last > limit, moment > model.latestIdleEnd(after: last, limit) {
                return addIdle(model, moment - last)
            }
            last = moment
        }
        let end = model.latestIdleEnd(after: last, limit)
        if let latest = model.moment(end), ended > latest { addIdle(model, end - head) }
    }

    private func addIdle(_ model: StreamModel, _ pause: Duration) {
        add(model, "no byte was passed on for \(pause), and the attempt went on")
    }

    // MARK: Ends by a limit

    private func checkReason(_ model: StreamModel, _ proxy: DrawnProxy, _ began: Instant) {
        let idle = Duration.milliseconds(proxy.idleTimeout)
        switch (model.loggedEnd, model.origin == nil ? model.request.response?.status : nil) {
        case ("idle", _):
            let moments = model.activity + model.attempts.compactMap(\.headRead)
            check(
                model, isOneOf: moments.flatMap { model.idleEnds(after: $0, idle) }, "idle")
        case ("max_duration", _):
            check(
                model, isOneOf: proxy.maxDuration.map { [began + .milliseconds($0)] } ?? [],
                "max_duration")
        case (_, 504):
            let isRetry = mayHaveFailedToConnectAgain(model, proxy)
            if record.excuses.add(.outage, model.request, if: isRetry) { return }
            let whole = model.requestTaken.map { $0 + .milliseconds(proxy.timeout) }
            let overall = proxy.maxDuration.map { [began + .milliseconds($0)] } ?? []
            let moments = whole + overall + idleLimits(model, began, idle)
            check(model, isOneOf: moments, "504")
        case (_, 408):
            let overall = proxy.maxDuration.map { [began + .milliseconds($0)] } ?? []
            check(model, isOneOf: idleLimits(model, began, idle) + overall, "408")
        default: break
        }
    }

    /// Whether a retry may have ended by `connect_timeout`. When that began is unknown: no host saw it,
    /// and the connection attempt may be that of an earlier request.
    private func mayHaveFailedToConnectAgain(_ model: StreamModel, _ proxy: DrawnProxy) -> Bool {
        guard let retry = proxy.retry, let ended = model.handedOver,
            let former = model.attempts.last,
            model.attempts.count < retry.attempts
        else { return false }
        return model.moment(former.headRead ?? former.sentAt).map { $0 <= ended } ?? false
    }

    /// When the wait for a part of the request can end by `idle_timeout`.
    private func idleLimits(_ model: StreamModel, _ began: Instant, _ idle: Duration) -> [Instant] {
        let released = began + .seconds(1)
        let passedOn = model.attempts.map(\.sentAt) + model.attempts.flatMap(\.interimRead)
        let moments = model.activity + passedOn + [began, released]
        return moments.flatMap { model.idleEnds(after: $0, idle) }
    }

    private func check(_ model: StreamModel, isOneOf moments: [Instant], _ reason: String) {
        guard let ended = model.handedOver else { return }
        if !moments.compactMap(model.moment).contains(ended) {
            add(model, "ended at \(ended) because of \(reason), which does not fit any limit")
        }
    }
}
