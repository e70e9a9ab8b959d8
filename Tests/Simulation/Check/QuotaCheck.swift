import Basics
import Rehearsal

/// Rate limits grant what they may, and refuse nothing else.
///
/// The moment at which a request is charged is not visible from outside, only that it lies between
/// the first byte and the first call, or the refusal. So both rules are checked with the bounds that
/// make a violation certain: in any time, no key gets more than burst + rate × time, and what refunds of
/// several requests at once may have returned too much; and a request is
/// refused only if every earlier request of its key together could have used the bucket.
struct QuotaCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        let limits = record.configs[0].rateLimits
        guard !limits.isEmpty else { return }
        let charged = record.requests.compactMap { $0 }
        for (index, limit) in limits.enumerated() {
            let uses = charged.compactMap { use(of: $0, index, limit) }
            for key in Set(uses.flatMap(\.keys)).sorted() {
                checkGrants(
                    uses.filter { $0.keys == [key] && $0.granted != nil },
                    refunded: uses.filter { $0.keys.contains(key) && $0.mayBeRefunded(by: limit) },
                    limit, key)
            }
            for use in uses where use.isRefused(by: limit) { checkRefusal(use, among: uses, limit) }
        }
        for request in charged {
            checkResponse(request)
            checkPolicy(request)
        }
    }

    /// A request that a limit may have been charged for.
    private struct Use {
        let request: RequestRecord
        let cost: Int
        /// By which it counts, under each configuration that may have applied.
        let keys: Set<String>
        /// When it was charged at the earliest.
        let earliest: Instant
        /// When its first call was sent, so that it was granted before.
        let granted: Instant?
        /// The limits that refused it; nil if none did.
        let violated: [String]?
        /// Whether limits may have refused it, without a response that says so.
        let mayBeRefused: Bool

        func isRefused(by limit: DrawnRateLimit) -> Bool { violated?.contains(limit.name) == true }

        /// Whether another limit may have refused it, so that its charge of this one is taken back.
        func mayBeRefunded(by limit: DrawnRateLimit) -> Bool {
            mayBeRefused || isRefunded(by: limit)
        }

        private func isRefunded(by limit: DrawnRateLimit) -> Bool {
            violated != nil && !isRefused(by: limit)
        }

        /// Whether it may have the whole charge of this limit at a moment: that of a request which another
        /// limit refuses is taken back then. Some limits decide with the head, others with the body.
        func mayHold(_ limit: DrawnRateLimit, at moment: Instant) -> Bool {
            !isRefunded(by: limit) || request.responded.map { $0 >= moment } ?? true
        }
    }

    /// Nil if no configuration charges the request to the limit.
    private func use(
        of request: RequestRecord, _ index: Int, _ limit: DrawnRateLimit
    ) -> Use? {
        let granted = record.firstSent(for: request)
        // Its first call shows which configuration charged a request. One without a response may have
        // been charged, too.
        let configs =
            granted.map { [record.configs[$0.generation]] }
            ?? (request.responded == nil ? record.configs : record.configs(for: request))
        let models = configs.map { QuotaModel(request: request.request, config: $0) }
        guard let cost = models.lazy.flatMap(\.uses).first(where: { $0.limit == index })?.cost
        else { return nil }
        let refusal = record.limitRefusal(of: request)
        return Use(
            request: request, cost: cost, keys: Set(models.map { $0.key(of: limit) }),
            earliest: request.firstRead ?? request.began,
            granted: granted?.at,
            violated: refusal?.violated,
            mayBeRefused: granted == nil && (request.responded == nil || refusal == .unknown))
    }

    // MARK: Rules

    /// All of these have one key, and were granted.
    private func checkGrants(
        _ uses: [Use], refunded: [Use], _ limit: DrawnRateLimit, _ key: String
    ) {
        let charges = uses.map { charge(of: $0, until: $0.granted ?? record.ended) }
        let refunds = refunded.map {
            rest(of: $0, limit, until: $0.request.responded ?? record.ended)
        }
        guard let excess = limit.bucket.excess(in: charges, refunded: refunds) else { return }
        violations.add(
            .quota, uses[excess.last].request.mark,
            "\(limit.name) granted \(Int(excess.cost)) of \(key) within \(excess.seconds) s, with a burst"
                + " of \(limit.burst) and one each \(limit.rate.interval) s")
    }

    /// The bucket must have been too empty, if all other requests were charged as late as possible.
    private func checkRefusal(_ refused: Use, among uses: [Use], _ limit: DrawnRateLimit) {
        guard let end = refused.request.responded else { return }
        let others = uses.filter { use in
            use.request.number != refused.request.number && !use.isRefused(by: limit)
                && use.earliest <= end && !use.keys.isDisjoint(with: refused.keys)
        }
        let charges = others.map { use in
            let latest = min(use.granted ?? use.request.responded ?? end, end)
            return use.mayHold(limit, at: refused.earliest)
                ? charge(of: use, until: latest) : rest(of: use, limit, until: latest)
        }
        guard
            limit.bucket.mustGrant(
                Double(refused.cost), at: seconds(refused.earliest), after: charges)
        else { return }
        violations.add(
            .quota, refused.request.mark,
            "\(limit.name) refused a request although at most \(charges.count) others of its key were"
                + " charged before, with a burst of \(limit.burst)")
    }

    /// What a refund leaves of a charge: at most what time has paid of it before.
    private func rest(
        of use: Use, _ limit: DrawnRateLimit, until latest: Instant
    ) -> BucketModel.Charge {
        let all = charge(of: use, until: latest)
        return limit.bucket.rest(of: all)
    }

    private func charge(of use: Use, until latest: Instant) -> BucketModel.Charge {
        BucketModel.Charge(
            cost: Double(use.cost), earliest: seconds(use.earliest), latest: seconds(latest))
    }

    /// A refusal starts no call, and states when to try again.
    private func checkResponse(_ request: RequestRecord) {
        guard let response = request.response,
            let violated = record.limitRefusal(of: request)?.violated
        else { return }
        let limits = record.configs[0].rateLimits
        if violated.isEmpty || !violated.allSatisfy({ name in limits.contains { $0.name == name } })
        {
            violations.add(.quota, request.mark, "a refusal names the limits \(violated)")
        }
        if record.firstSent(for: request) != nil {
            violations.add(.quota, request.mark, "a refused request was sent to a backend")
        }
        let wait = response["Retry-After"].flatMap { Int($0) } ?? 0
        if wait < 1 || response["RateLimit"]?.hasSuffix(";r=0;t=\(wait)") != true,
            violated.count == 1
        {
            violations.add(.quota, request.mark, "a refusal without Retry-After, or with another t")
        }
        let isShared = limits.first { $0.name == violated.first }?.key == nil
        if response.status != (isShared ? 503 : 429) {
            violations.add(.quota, request.mark, "\(violated) responds \(response.status)")
        }
    }

    /// The response to a granted request announces the limits that apply to it.
    private func checkPolicy(_ request: RequestRecord) {
        guard let response = request.response,
            response.isComplete != nil || request.stream != nil,
            let generation = record.firstSent(for: request)?.generation
        else { return }
        let config = record.configs[generation]
        let expected = QuotaModel(request: request.request, config: config).uses
            .map { config.rateLimits[$0.limit].name }.sorted()
        let announced = response.all("RateLimit-Policy").flatMap(LimitRefusal.names).sorted()
        if announced != expected {
            violations.add(
                .quota, request.mark, "RateLimit-Policy has \(announced), expected \(expected)")
        }
    }

    private func seconds(_ time: Instant) -> Double { (time - record.began).inMilliseconds / 1000 }
}

extension DrawnRateLimit {
    fileprivate var bucket: BucketModel { BucketModel(burst: burst, interval: rate.interval) }
}
