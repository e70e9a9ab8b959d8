import Basics
import GatewayConfig
import HTTP
import Promises
import Reactor

/// The charge of a granted request for one limit that replicas share.
struct SharedCharge {
    let target: SharedLimits.Target
    /// Whether the local share has charged it; only then can it be refunded there.
    let isLocal: Bool
    /// Whether the store, or the bucket that is synchronised with it, has charged it.
    let isShared: Bool
}

/// The limits that replicas share, as one worker charges them.
///
/// While the store is up, it decides (`sync: each`), or the process does by a bucket that is
/// synchronised with it. While it is down, each process decides by its own share of the rate, without
/// waiting. That share is charged for every granted request, so that the change gives no new burst.
struct SharedLimits {
    let store: LimitStore
    let cells: LimitCells
    let loop: any Loop

    /// What one limit charges for a request.
    struct Target {
        let use: LimitUsePlan
        let counts: LimitCounts
        let rate: LimitPlan.Rate
        let shared: LimitPlan.SharedRate
        /// Of the local share in the cells.
        let key: UInt64
        /// Nil if the hash cannot be computed: the limit is then decided locally.
        let storeKey: Bytes?

        /// Of the bucket that is synchronised with the store.
        fileprivate var syncedKey: UInt64 { key ^ 0x9E37_79B9_7F4A_7C15 }

        /// A share of the burst may be less than the cost of one request, which must not be refused
        /// for ever.
        fileprivate var localCost: Int { min(use.cost, shared.local.burst) }

        fileprivate func storeCharge(_ key: Bytes, refunds: Bool = false) -> StoreCharge {
            shared.store.charge(refunds ? -use.cost : use.cost, key: key, slack: shared.slack)
        }
    }

    // MARK: Charging

    /// Charges all targets or none.
    ///
    /// - Parameter end: when the request stops to wait for the store
    func charge(_ targets: [Target], until end: Instant) -> LimitDecision {
        let now = loop.now
        guard store.isUp, targets.allSatisfy({ $0.storeKey != nil }) else {
            return chargeLocally(targets, at: now)
        }
        let synced = targets.filter { $0.shared.sync != nil }
        var granted: [GrantedLimit] = []
        for (index, target) in synced.enumerated() {
            let charge = cells.charge(
                target.syncedKey, target.use.cost, of: target.rate.bucket,
                slack: target.shared.slackUnits, at: now)
            guard charge.isGranted else {
                for former in synced[..<index] { refundSynced(former, at: now) }
                return .refused(
                    refusal(target, target.rate.bucket, target.use.cost, charge.arrival, at: now))
            }
            granted.append(
                GrantedLimit(limit: target.use.limit, rate: target.rate, arrival: charge.arrival))
        }
        let each = targets.filter { $0.shared.sync == nil }
        guard !each.isEmpty else {
            return .granted(granted, commit(synced, at: now))
        }
        return .later(
            store.decide(
                each.compactMap { target in target.storeKey.map { target.storeCharge($0) } },
                until: end
            )
            .map { [granted] verdict in
                complete(each, synced, granted, verdict)
            })
    }

    /// The store has decided about the limits that it decides for each request, or has not.
    private func complete(
        _ each: [Target], _ synced: [Target], _ granted: [GrantedLimit],
        _ verdict: LimitStore.Verdict?
    ) -> LimitDecision {
        let now = loop.now
        guard let verdict else {
            switch chargeLocally(each, at: now) {
            case .granted(let grantedLocally, let charges):
                return .granted(granted + grantedLocally, charges + commit(synced, at: now))
            case let decision:
                for target in synced { refundSynced(target, at: now) }
                return decision
            }
        }
        let units = TokenBucket.time(of: now)
        // Whatever the store replies, a wait is at most that of an empty bucket.
        let arrivals = zip(each, verdict.ahead).map { target, ahead in
            units + min(StoreBucket.cellUnits(ahead), target.rate.bucket.tolerance)
        }
        guard verdict.isGranted else {
            for target in synced { refundSynced(target, at: now) }
            return .refused(refusal(each, arrivals, at: now))
        }
        return .granted(
            granted
                + zip(each, arrivals).map {
                    GrantedLimit(limit: $0.use.limit, rate: $0.rate, arrival: $1)
                }, commit(each + synced, at: now))
    }

    /// The request is granted: charges the local shares, and records what is sent to the store later.
    private func commit(_ targets: [Target], at now: Instant) -> [SharedCharge] {
        targets.map { target in
            target.counts.granted &+= 1
            let local = cells.charge(target.key, target.localCost, of: target.shared.local, at: now)
            record(target, target.use.cost)
            // The share of one replica may be used up while the store still grants.
            return SharedCharge(target: target, isLocal: local.isGranted, isShared: true)
        }
    }

    private func record(_ target: Target, _ cost: Int) {
        guard let interval = target.shared.sync, let key = target.storeKey else { return }
        store.sync.record(
            LimitSync.Usage(
                key: key, cellKey: target.syncedKey, rate: target.rate.bucket,
                bucket: target.shared.store,
                slack: target.shared.slack, cost: cost), every: interval, cells)
    }

    // MARK: Without the store

    private func chargeLocally(_ targets: [Target], at now: Instant) -> LimitDecision {
        var granted: [GrantedLimit] = []
        var charges: [SharedCharge] = []
        for target in targets {
            let charge = cells.charge(
                target.key, target.localCost, of: target.shared.local, at: now)
            charges.append(
                SharedCharge(target: target, isLocal: charge.isGranted, isShared: false))
            switch target.shared.whenDown {
            case .local where charge.isGranted:
                granted.append(
                    GrantedLimit(
                        limit: target.use.limit, rate: target.rate, arrival: charge.arrival))
            case .open: continue
            case .local:
                refundLocal(charges, at: now)
                return .refused(
                    refusal(
                        target, target.shared.local, target.localCost, charge.arrival, at: now))
            case .closed:
                refundLocal(charges, at: now)
                target.counts.refused &+= 1
                return .refused(.unavailable)
            }
        }
        for target in targets { target.counts.granted &+= 1 }
        return .granted(granted, charges)
    }

    // MARK: Refunds

    /// A later limit has refused the request.
    func refund(_ charged: [SharedCharge]) {
        let now = loop.now
        refundLocal(charged, at: now)
        var charges: [StoreCharge] = []
        for charge in charged { charge.target.counts.refunded &+= 1 }
        for charge in charged where charge.isShared {
            let target = charge.target
            if target.shared.sync != nil {
                refundSynced(target, at: now)
                record(target, -target.use.cost)
            } else if let key = target.storeKey {
                charges.append(target.storeCharge(key, refunds: true))
            }
        }
        // Without the store there is nothing to refund in it.
        if !charges.isEmpty, store.isUp { _ = store.add(charges) }
    }

    private func refundLocal(_ charges: [SharedCharge], at now: Instant) {
        for charge in charges where charge.isLocal {
            let target = charge.target
            cells.refund(target.key, target.localCost, of: target.shared.local, at: now)
        }
    }

    private func refundSynced(_ target: Target, at now: Instant) {
        cells.refund(target.syncedKey, target.use.cost, of: target.rate.bucket, at: now)
    }

    // MARK: Refusals

    private func refusal(
        _ target: Target, _ bucket: TokenBucket, _ cost: Int, _ arrival: Int64, at now: Instant
    ) -> LimitRefusal {
        target.counts.refused &+= 1
        let wait = bucket.wait(for: cost, arrival, at: TokenBucket.time(of: now))
        return .exceeded(ExceededLimits(target.use, target.rate, wait: wait))
    }

    /// Those limits refused whose bucket lacks room for the request.
    private func refusal(
        _ targets: [Target], _ arrivals: [Int64], at now: Instant
    ) -> LimitRefusal {
        let units = TokenBucket.time(of: now)
        let waits = zip(targets, arrivals).map { target, arrival in
            target.rate.bucket.wait(for: target.use.cost, arrival, at: units)
        }
        // The script rounds intervals up, so that the longest wait may be 0 here.
        let longest = waits.max() ?? 0
        var exceeded: ExceededLimits?
        for (target, wait) in zip(targets, waits) where wait > 0 || wait == longest {
            target.counts.refused &+= 1
            if exceeded == nil {
                exceeded = ExceededLimits(target.use, target.rate, wait: wait)
            } else {
                exceeded?.add(target.use, target.rate, wait: wait)
            }
        }
        return exceeded.map { .exceeded($0) } ?? .unavailable
    }
}
