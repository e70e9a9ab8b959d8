import Basics
import Rehearsal

/// Tokens are accepted and refused as the documentation says, whatever the issuer does; it is written
/// without the gateway's code.
struct TokensCheck {
    let run: IssuerRun

    private var plan: IssuerPlan { run.plan }

    /// What the network takes for a request and its response.
    private static let transit = 50.0
    /// The time limit of a fetch, during which the keys are used.
    private static let fetchMax = 5000.0
    /// How long a request waits for keys.
    private static let waitMax = 1000.0

    func check() {
        checkFetches()
        for client in run.clients {
            for request in client.sent { check(request) }
        }
    }

    // MARK: Fetches

    /// At most one fetch per interval and worker, whatever causes it; before the first set, after 1,
    /// 2, 4 ... seconds.
    private func checkFetches() {
        for worker in Set(run.fetches.map(\.worker)) {
            let fetches = run.fetches.filter { $0.worker == worker }
            var hasSet = false
            var pause = 1
            for (former, next) in zip(fetches, fetches.dropFirst()) {
                let (earlier, later) = (run.milliseconds(former.sent), run.milliseconds(next.sent))
                let isOutage = plan.outage(at: run.milliseconds(former.arrived)) != nil
                hasSet = hasSet || former.hasResponded && !isOutage
                let seconds = hasSet ? plan.interval : pause
                pause = min(plan.interval, 2 * pause)
                guard later - earlier < Double(seconds) * 1000 - Self.transit else { continue }
                run.add(
                    nil,
                    "\(worker) fetches keys at \(earlier) and \(later) ms, within \(seconds) s")
            }
        }
    }

    // MARK: Requests

    private func check(_ request: SentRequest) {
        guard let response = request.response, let read = request.read,
            let responded = request.responded,
            let token = run.tokens.first(where: {
                request.request.headers.first?.value == "Bearer \($0.text)"
            })
        else { return }
        let decision = Decision(
            token: token, from: run.milliseconds(read), to: run.milliseconds(responded))
        if decision.to - decision.from > Self.waitMax + Self.transit {
            run.add(request.mark, "the response took \(decision.to - decision.from) ms")
        }
        switch response.status {
        case 200: checkAccepted(decision, request, at: read)
        case 401: checkRefused(decision, request, response, until: responded)
        case 503: checkUnavailable(decision, request)
        default: run.add(request.mark, "unexpected status \(response.status)")
        }
    }

    private struct Decision {
        let token: IssuerPlan.Token
        /// The time of the decision is between these, in milliseconds.
        let from: Double
        let to: Double
    }

    private func key(of token: IssuerPlan.Token) -> IssuerPlan.Key? {
        plan.keys.first { $0.number == token.key }
    }

    private func checkAccepted(_ decision: Decision, _ request: SentRequest, at read: Instant) {
        if run.unixSeconds(read) >= decision.token.expires + Int64(plan.leeway) {
            run.add(request.mark, "an expired token is accepted")
        }
        guard let key = key(of: decision.token), Double(key.published) <= decision.to else {
            return run.add(request.mark, "a token of a key that was never published is accepted")
        }
        // A fetch that began before the removal may still have the key.
        let known = Double(key.removed) + maxAge
        if decision.from > known, isReachable(from: Double(key.removed) - maxAge, to: decision.from)
        {
            run.add(
                request.mark,
                "a token is accepted at \(decision.from) ms, and its key was removed at"
                    + " \(key.removed) ms")
        }
        // The request may have waited for keys.
        let stale = staleAt(decision.to)
        if decision.from > stale {
            run.add(
                request.mark,
                "a token is accepted at \(decision.from) ms, and the keys are stale since \(stale) ms"
            )
        }
    }

    /// How old the gateway's set can be while the issuer is reachable.
    private var maxAge: Double {
        Double(plan.refresh) * 1000 + 2 * (Double(plan.slowest) + Self.transit)
    }

    private func isReachable(from start: Double, to end: Double) -> Bool {
        !plan.outages.contains {
            // The first fetch after an outage comes after an interval.
            let after = Double($0.range.upperBound) + Double(plan.interval) * 1000 + 5_000
            return Double($0.range.lowerBound) < end && after + maxAge > start
        }
    }

    /// When the keys become stale, at the latest: after the last fetch that can have succeeded.
    private func staleAt(_ now: Double) -> Double {
        let last = run.fetches.filter { $0.hasResponded && run.milliseconds($0.arrived) < now }
            .filter { plan.outage(at: run.milliseconds($0.arrived)) == nil }
            .map { run.milliseconds($0.arrived) }.max()
        guard let last else { return -1 }
        return last + Double(plan.slowest) + Double(plan.refresh + plan.stale) * 1000
            + Self.fetchMax + Self.transit
    }

    private func checkRefused(
        _ decision: Decision, _ request: SentRequest, _ response: PeerMessage,
        until responded: Instant
    ) {
        let isExpired =
            run.unixSeconds(responded) >= decision.token.expires + Int64(plan.leeway)
        guard !isExpired, mustKnowKey(of: decision) else { return }
        run.add(
            request.mark,
            "a valid token is refused, whose key has been published since"
                + " \(key(of: decision.token)?.published ?? 0) ms: \(reason(response))")
    }

    private func reason(_ response: PeerMessage) -> String {
        Tree(reading: response.body)?["reason"]?.string ?? ""
    }

    /// Whether every set that the gateway may have contains the key.
    private func mustKnowKey(of decision: Decision) -> Bool {
        guard let key = key(of: decision.token) else { return false }
        return Double(key.published) + maxAge < decision.from && decision.to < Double(key.removed)
            && isReachable(from: 0, to: decision.to)
    }

    /// There are keys if the issuer has been reachable from the start.
    private func checkUnavailable(_ decision: Decision, _ request: SentRequest) {
        let fetched = Double(plan.slowest) + Self.transit
        if decision.from > fetched, isReachable(from: 0, to: decision.to) {
            run.add(request.mark, "503, and the issuer has been reachable from the start")
        }
    }
}
