import Basics
import HTTP
import Promises
import Reactor

/// The rate limits of an endpoint. A request is charged to all of them or to none: when one refuses
/// it, the charges of those before it are refunded.
///
/// Each limit stands at the position where its key is known. On a worker, built with the chain.
final class EndpointLimits {
    private let checks: [LimitCheck]
    private let cells: LimitCells
    let proxies: TrustedProxies
    let loop: any Loop
    /// Nil without a store; then every limit counts in this process.
    private let shared: SharedLimits?
    /// The position of the last limit.
    private let last: LimitUsePlan.Position
    /// `deadline` of the endpoint, which also bounds the wait for the store.
    private let deadline: Duration

    /// Nil without limits.
    ///
    /// - Parameter counts: of each limit
    init?(
        _ plan: EndpointPlan, _ table: LimitTable, _ counts: (LimitPlan) -> LimitCounts,
        store: LimitStore?, proxies: TrustedProxies, loop: any Loop
    ) {
        guard let last = plan.limits.map(\.position).max() else { return nil }
        self.last = last
        deadline = plan.deadline
        checks = plan.limits.map {
            LimitCheck($0, counts($0.limit), table, plan.addressMask)
        }
        let cells = table.cells
        self.cells = cells
        shared = store.map { SharedLimits(store: $0, cells: cells, loop: loop) }
        self.proxies = proxies
        self.loop = loop
    }

    func checks(at position: LimitUsePlan.Position) -> PositionChecks {
        let all = checks.indices.filter { checks[$0].plan.position == position }
        let isShared = { [self] (index: Int) in
            shared != nil && checks[index].plan.limit.isShared
        }
        return PositionChecks(
            process: all.filter { !isShared($0) }, shared: all.filter(isShared),
            usesValues: all.contains { checks[$0].plan.usesValues },
            hasConditions: all.contains { checks[$0].plan.condition != nil },
            isLast: position == last && !all.contains(where: isShared),
            isFinal: position == last)
    }

    /// The limits of one position, by their indices.
    struct PositionChecks {
        /// Counted in this process; checked first, since they cost no round trip.
        var process: [Int]
        var shared: [Int]
        let usesValues: Bool
        /// Whether one of them may not apply to a request.
        let hasConditions: Bool
        /// Whether no limit after the limits of the process can refuse the request.
        let isLast: Bool
        /// Whether this is the last position.
        let isFinal: Bool

        var isEmpty: Bool { process.isEmpty && shared.isEmpty }
    }

    // MARK: Charging

    /// The limits of a position that apply to the request: all but those whose conditions fail. With
    /// an ambiguous value a limit applies, so that a client cannot avoid it by sending a header twice.
    private func applicable(_ position: PositionChecks, to values: CallValues?) -> PositionChecks {
        guard position.hasConditions, let values else { return position }
        var position = position
        let unambiguous = UnambiguousValues(values: values)
        let applies = { [self] (index: Int) in
            checks[index].plan.condition?.result(in: unambiguous) != .fails
        }
        position.process.removeAll { !applies($0) }
        position.shared.removeAll { !applies($0) }
        return position
    }

    /// Charges the limits of this process, then those that replicas share.
    func charge(
        _ all: PositionChecks, _ head: RequestHead, _ context: RequestContext,
        _ values: CallValues?
    ) -> LimitDecision {
        let position = applicable(all, to: values)
        let input = Input(
            head: head, context: context, values: values, now: loop.now,
            isLast: position.isLast)
        var fields = RateLimitFields()
        if let exceeded = charge(position.process[...], input, &fields) {
            refundEarlierPositions(of: context, at: input.now)
            return .refused(.exceeded(exceeded))
        }
        fields.append(to: &context.responseFields)
        guard let shared, !position.shared.isEmpty else {
            return .granted([], [])
        }
        let targets = position.shared.compactMap { target($0, input, shared) }
        let complete = { (decision: LimitDecision) in
            if case .granted(_, let charges) = decision, !position.isFinal {
                context.sharedCharges += charges
            }
        }
        switch shared.charge(targets, until: context.waitEnd(deadline)) {
        case .later(let decision):
            context.record.storeAwaited(at: loop.now)
            return .later(decision.onValue(complete))
        case let decision:
            complete(decision)
            return conclude(decision, context).map { .refused($0) }
                ?? .granted([], [])
        }
    }

    /// Announces what limits that replicas share have granted, or refunds what was charged before;
    /// returns the refusal.
    func conclude(_ decision: LimitDecision, _ context: RequestContext) -> LimitRefusal? {
        context.record.decisionMade(at: loop.now)
        switch decision {
        case .later: return nil
        case .refused(let refusal):
            refundEarlierPositions(of: context, at: loop.now)
            return refusal
        case .granted(let granted, _):
            var fields = RateLimitFields()
            for limit in granted where limit.limit.announce == .always {
                fields.add(limit.limit, limit.rate, arrival: limit.arrival, at: loop.now)
            }
            fields.append(to: &context.responseFields)
            return nil
        }
    }

    /// Nil for a limit that replicas do not share.
    private func target(
        _ index: Int, _ input: Input, _ shared: SharedLimits
    ) -> SharedLimitTarget? {
        let check = checks[index]
        let target = check.target(of: input.head, input.context, input.values, proxies)
        let rate = check.plan.limit.rates[target.rate]
        guard let sharedRate = rate.shared else { return nil }
        return SharedLimitTarget(
            use: check.plan, cost: target.cost, counts: check.counts, rate: rate,
            shared: sharedRate,
            key: target.key,
            storeKey: check.storeKey(
                ofRate: target.rate, input.head, input.context, input.values, proxies, shared.store
            ))
    }

    /// What all limits of a position have in common.
    private struct Input {
        let head: RequestHead
        let context: RequestContext
        let values: CallValues?
        let now: Instant
        /// Whether no later position can refuse the request.
        let isLast: Bool
    }

    /// Charges the first limit, then the others by recursion, so that a refusal can refund the former.
    private func charge(
        _ indices: ArraySlice<Int>, _ input: Input, _ fields: inout RateLimitFields
    ) -> ExceededLimits? {
        guard let index = indices.first else { return nil }
        let check = checks[index]
        let target = check.target(of: input.head, input.context, input.values, proxies)
        let rate = check.plan.limit.rates[target.rate]
        let charge = cells.charge(target.key, target.cost, of: rate.bucket, at: input.now)
        guard charge.isGranted else {
            return exceeded(indices, target.cost, charge, rate, input)
        }
        check.counts.granted &+= 1
        if !input.isLast {
            input.context.limitCharges.append(
                LimitCharge(
                    limit: index, bucket: target.rate, key: target.key, cost: target.cost,
                    arrival: charge.arrival))
        }
        if check.plan.limit.announce == .always {
            fields.add(check.plan.limit, rate, arrival: charge.arrival, at: input.now)
        }
        guard let exceeded = self.charge(indices.dropFirst(), input, &fields) else { return nil }
        // `refundEarlierPositions` refunds what is recorded in the exchange.
        if input.isLast {
            cells.refund(
                target.key, target.cost, arrivalAfterCharge: charge.arrival,
                of: rate.bucket, at: input.now)
            check.counts.refunded &+= 1
        }
        return exceeded
    }

    /// The first limit refuses; others of this position may refuse, too. They are not charged.
    private func exceeded(
        _ indices: ArraySlice<Int>, _ cost: Int, _ charge: LimitCells.Charge,
        _ rate: LimitPlan.Rate,
        _ input: Input
    ) -> ExceededLimits? {
        guard let index = indices.first else { return nil }
        let now = TokenBucket.time(of: input.now)
        checks[index].counts.refused &+= 1
        var exceeded = ExceededLimits(
            checks[index].plan, rate,
            wait: rate.bucket.wait(for: cost, charge.arrival, at: now))
        for other in indices.dropFirst() {
            let check = checks[other]
            let target = check.target(of: input.head, input.context, input.values, proxies)
            let rate = check.plan.limit.rates[target.rate]
            let arrival = cells.arrival(of: target.key, in: rate.bucket, at: input.now)
            let wait = rate.bucket.wait(for: target.cost, arrival, at: now)
            guard wait > 0 else { continue }
            check.counts.refused &+= 1
            exceeded.add(check.plan, rate, wait: wait)
        }
        return exceeded
    }

    private func refundEarlierPositions(of context: RequestContext, at now: Instant) {
        for charge in context.limitCharges {
            let check = checks[charge.limit]
            cells.refund(
                charge.key, charge.cost, arrivalAfterCharge: charge.arrival,
                of: check.plan.limit.rates[charge.bucket].bucket, at: now)
            check.counts.refunded &+= 1
        }
        shared?.refund(context.sharedCharges)
        context.limitCharges.removeAll()
        context.sharedCharges.removeAll()
    }
}
