package import Basics
import HTTP

/// One of `rate_limits`, compiled: the same for all endpoints that use it.
package final class LimitPlan {
    package let name: String
    /// The name as JSON and as a string of a structured field, with its quotes.
    let quotedName: Bytes
    /// At least one.
    package let rates: [Rate]
    package let announce: Config.RateLimit.Announce
    /// Whether replicas share it.
    package var isShared: Bool { rates[0].shared != nil }

    /// A rate, and its bucket.
    package struct Rate {
        /// The caller's plan; nil for the rate without a plan.
        package let plan: Bytes?
        package let bucket: TokenBucket
        package let unit: Config.Rate.Unit
        /// As configured: `100/s`, or the variable in its place.
        package let spelled: String
        /// The member of `RateLimit-Policy`: `"per_caller";q=1000;w=60`.
        let policy: Bytes
        /// Nil unless replicas share the limit.
        package let shared: SharedRate?
    }

    /// How replicas share a rate.
    package struct SharedRate {
        let store: StoreBucket
        /// Decides while the store is down: the share of one replica.
        let local: TokenBucket
        /// Nil if the store decides about every request.
        package let sync: Duration?
        package let whenDown: Config.RateLimit.WhenDown
        /// How far the store's arrival time may be ahead beyond a burst: what all replicas grant
        /// between two synchronisations, several times over.
        let slack: Duration
        /// The same in units of `TokenBucket`.
        let slackUnits: Int64
        /// How late a replica may report a charge: after two intervals, and a slow reply of the store.
        let lag: Duration
    }

    init(_ limit: Config.RateLimit) throws(PlanError) {
        name = limit.name.value
        quotedName = Bytes("\"\(name)\"")
        announce = limit.announce?.value ?? PlanDefaults.announce
        var rates: [Rate] = []
        for (index, (rate, burst)) in limit.rates.enumerated() {
            let shared = limit.isShared ? SharedRate(limit, rate.value, burst: burst) : nil
            let isCountable = shared != nil || !limit.isShared
            guard isCountable, let bucket = rate.value.bucket(burst: burst)
            else {
                throw PlanError("\(rate.location): the rate cannot be counted")
            }
            rates.append(
                Rate(
                    plan: index == 0 ? nil : Bytes(limit.plans[index - 1].name.value),
                    bucket: bucket, unit: rate.value.unit,
                    spelled: rate.written ?? rate.value.spelled,
                    policy: Bytes(
                        "\"\(name)\";q=\(rate.value.count);w=\(rate.value.unit.seconds)"),
                    shared: shared))
        }
        guard !rates.isEmpty else { throw PlanError("\(limit.location): no rate") }
        self.rates = rates
    }

    /// The index of a plan's rate; the limit's own rate for an unknown plan.
    func rate(ofPlan plan: Bytes?) -> Int {
        guard let plan else { return 0 }
        return rates.firstIndex { $0.plan == plan } ?? 0
    }
}

extension LimitPlan.SharedRate {
    /// Nil if the share of a replica cannot be counted.
    fileprivate init?(_ limit: Config.RateLimit, _ rate: Config.Rate, burst: Int) {
        guard let local = limit.localBucket(of: rate, burst: burst) else { return nil }
        self.local = local
        store = StoreBucket(count: rate.count, per: .seconds(rate.unit.seconds), burst: burst)
        if case .interval(let interval) = limit.sync?.value { sync = interval } else { sync = nil }
        whenDown = limit.whenDown?.value ?? PlanDefaults.limitWhenDown
        slack = (sync ?? .zero) * max(100, 2 * limit.replicaCount)
        slackUnits = TokenBucket.units(of: slack)
        lag = sync.map { $0 * 2 + .seconds(1) } ?? .zero
    }
}
