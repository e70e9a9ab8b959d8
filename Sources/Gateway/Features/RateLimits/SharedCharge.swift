import Basics
import Reactor

/// The charge of a granted request for one limit that replicas share.
struct SharedCharge {
    let target: SharedLimitTarget
    /// The arrival time of the local share after the charge, in units of `TokenBucket`; nil if it was
    /// not charged, and so cannot be refunded there.
    let localArrival: Int64?
    /// The arrival time of the store's bucket, or of its synchronised copy; nil if the limit was charged
    /// without the store.
    let sharedArrival: Int64?
}

/// What one limit charges for a request.
struct SharedLimitTarget {
    let use: LimitUsePlan
    /// How many requests are charged.
    let cost: Int
    let counts: LimitCounts
    let rate: LimitPlan.Rate
    let shared: LimitPlan.SharedRate
    /// Of the local share in the cells.
    let key: UInt64
    /// Nil if the hash cannot be computed: the limit is then decided locally.
    let storeKey: Bytes?

    /// Of the bucket that is synchronised with the store.
    var syncedKey: UInt64 { key ^ 0x9E37_79B9_7F4A_7C15 }

    /// A share of the burst may be less than the cost of one request, which must not be refused
    /// for ever.
    var localCost: Int { min(cost, shared.local.burst) }

    func storeCharge(_ key: Bytes) -> StoreCharge {
        shared.store.charge(cost, key: key, slack: shared.slack, lag: shared.lag)
    }

    func storeRefund(
        _ key: Bytes, arrivalAfterCharge: Int64, at now: Instant
    ) -> StoreCharge {
        shared.store.refund(
            cost, unpaid: arrivalAfterCharge - TokenBucket.time(of: now), key: key,
            slack: shared.slack, lag: shared.lag)
    }
}
