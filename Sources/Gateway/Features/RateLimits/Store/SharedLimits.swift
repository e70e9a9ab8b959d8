import Basics
import HTTP
import Promises
import Reactor

/// The limits that replicas share, as one worker charges them.
///
/// While the store is up, it decides (`sync: each`), or the process does by a bucket that is
/// synchronised with it. While it is down, each process decides by its own share of the rate, without
/// waiting. That share is charged for every granted request, so that the change gives no new burst.
struct SharedLimits {
    let store: LimitStore
    let cells: LimitCells
    let loop: any Loop

    // MARK: Charging

    /// Charges all targets or none.
    ///
    /// - Parameter end: when the request stops to wait for the store
    func charge(_ targets: [SharedLimitTarget], until end: Instant) -> LimitDecision {
        let now = loop.now
        guard store.isUp, targets.allSatisfy({ $0.storeKey != nil }) else {
            return chargeLocally(targets, at: now)
        }
        let synced = targets.filter { $0.shared.sync != nil }
        var granted: [GrantedLimit] = []
        for target in synced {
            let charge = cells.charge(
                target.syncedKey, target.cost, of: target.rate.bucket,
                slack: target.shared.slackUnits, at: now)
            guard charge.isGranted else {
                refundSynced(zip(synced, granted.map(\.arrival)), at: now)
                return .refused(
                    refusal(target, target.rate.bucket, target.cost, charge.arrival, at: now))
            }
            granted.append(
                GrantedLimit(limit: target.use.limit, rate: target.rate, arrival: charge.arrival))
        }
        let each = targets.filter { $0.shared.sync == nil }
        guard !each.isEmpty else {
            return .granted(granted, commit(zip(synced, granted.map(\.arrival)), at: now))
        }
        return .later(
            store.decide(
                each.compactMap { target in target.storeKey.map { target.storeCharge($0) } },
                until: end
            )
            .map { [granted] verdict in
                complete(each, synced, granted, verdict, sentAt: now)
            })
    }

    /// The store has decided about the limits that it decides for each request, or has not.
    private func complete(
        _ each: [SharedLimitTarget], _ synced: [SharedLimitTarget], _ granted: [GrantedLimit],
        _ verdict: LimitStore.Verdict?, sentAt: Instant
    ) -> LimitDecision {
        let now = loop.now
        let chargedSynced = zip(synced, granted.map(\.arrival))
        guard let verdict else {
            switch chargeLocally(each, at: now) {
            case .granted(let grantedLocally, let charges):
                return .granted(granted + grantedLocally, charges + commit(chargedSynced, at: now))
            case let decision:
                refundSynced(chargedSynced, at: now)
                return decision
            }
        }
        let units = TokenBucket.time(of: now)
        // Whatever the store replies, a wait is at most the wait for an empty bucket.
        let aheads = zip(each, verdict.ahead).map { target, ahead in
            min(StoreBucket.cellUnits(ahead), target.rate.bucket.tolerance)
        }
        let arrivals = aheads.map { units + $0 }
        guard verdict.isGranted else {
            refundSynced(chargedSynced, at: now)
            return .refused(refusal(each, arrivals, at: now))
        }
        return .granted(
            granted
                + zip(each, arrivals).map {
                    GrantedLimit(limit: $0.use.limit, rate: $0.rate, arrival: $1)
                },
            // The store has charged them since they were sent, perhaps long before its reply.
            commit(zip(each, aheads.map { TokenBucket.time(of: sentAt) + $0 }), at: now)
                + commit(chargedSynced, at: now))
    }

    /// Targets, and the arrival times of their shared buckets after the charge.
    private typealias Charged = Zip2Sequence<[SharedLimitTarget], [Int64]>

    /// The request is granted: charges the local shares, and records what is sent to the store later.
    private func commit(_ charged: Charged, at now: Instant) -> [SharedCharge] {
        charged.map { target, arrival in
            target.counts.granted &+= 1
            let local = cells.charge(target.key, target.localCost, of: target.shared.local, at: now)
            if let key = target.storeKey { record(target, target.storeCharge(key), at: now) }
            // The share of one replica may be used up while the store still grants.
            return SharedCharge(
                target: target, localArrival: local.isGranted ? local.arrival : nil,
                sharedArrival: arrival)
        }
    }

    /// Without effect for a limit that the store decides for each request.
    private func record(_ target: SharedLimitTarget, _ charge: StoreCharge, at now: Instant) {
        guard let interval = target.shared.sync else { return }
        store.sync.record(
            LimitSync.Usage(
                charge: charge, at: now, cellKey: target.syncedKey, rate: target.rate.bucket,
                slack: target.shared.slackUnits), every: interval, cells)
    }

    // MARK: Without the store

    private func chargeLocally(_ targets: [SharedLimitTarget], at now: Instant) -> LimitDecision {
        var granted: [GrantedLimit] = []
        var charges: [SharedCharge] = []
        for target in targets {
            let charge = cells.charge(
                target.key, target.localCost, of: target.shared.local, at: now)
            charges.append(
                SharedCharge(
                    target: target, localArrival: charge.isGranted ? charge.arrival : nil,
                    sharedArrival: nil))
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
        for charge in charged {
            let target = charge.target
            target.counts.refunded &+= 1
            guard let arrival = charge.sharedArrival, let key = target.storeKey else { continue }
            let refund = target.storeRefund(key, arrivalAfterCharge: arrival, at: now)
            guard refund.charge < 0 else { continue }
            if target.shared.sync != nil {
                refundSynced(zip([target], [arrival]), at: now)
                record(target, refund, at: now)
            } else {
                charges.append(refund)
            }
        }
        // Without the store there is nothing to refund in it.
        if !charges.isEmpty, store.isUp { _ = store.add(charges) }
    }

    private func refundLocal(_ charges: [SharedCharge], at now: Instant) {
        for charge in charges {
            guard let arrival = charge.localArrival else { continue }
            let target = charge.target
            cells.refund(
                target.key, target.localCost, arrivalAfterCharge: arrival,
                of: target.shared.local, at: now)
        }
    }

    private func refundSynced(_ charged: Charged, at now: Instant) {
        for (target, arrival) in charged {
            cells.refund(
                target.syncedKey, target.cost, arrivalAfterCharge: arrival,
                of: target.rate.bucket, at: now)
        }
    }

    // MARK: Refusals

    private func refusal(
        _ target: SharedLimitTarget, _ bucket: TokenBucket, _ cost: Int, _ arrival: Int64,
        at now: Instant
    ) -> LimitRefusal {
        target.counts.refused &+= 1
        let wait = bucket.wait(for: cost, arrival, at: TokenBucket.time(of: now))
        return .exceeded(ExceededLimits(target.use, target.rate, wait: wait))
    }

    /// Those limits refused whose bucket lacks room for the request.
    private func refusal(
        _ targets: [SharedLimitTarget], _ arrivals: [Int64], at now: Instant
    ) -> LimitRefusal {
        let units = TokenBucket.time(of: now)
        let waits = zip(targets, arrivals).map { target, arrival in
            target.rate.bucket.wait(for: target.cost, arrival, at: units)
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
