import Basics
import GatewayConfig
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
    private let proxies: TrustedProxies
    private let loop: any Loop
    /// The position of the last limit.
    private let last: LimitUsePlan.Position

    /// Nil without limits.
    ///
    /// - Parameter counts: of each limit
    init?(
        _ plan: EndpointPlan, _ table: LimitTable, _ counts: (LimitPlan) -> LimitCounts,
        proxies: TrustedProxies, loop: any Loop
    ) {
        guard let last = plan.limits.map(\.position).max() else { return nil }
        self.last = last
        checks = plan.limits.map {
            LimitCheck($0, counts($0.limit), table, plan.addressMask)
        }
        cells = table.cells
        self.proxies = proxies
        self.loop = loop
    }

    private func checks(at position: LimitUsePlan.Position) -> [Int] {
        checks.indices.filter { checks[$0].plan.position == position }
    }

    // MARK: Filters

    /// Charges the limits of a position in the chain; nil if there are none.
    ///
    /// - Parameter padding: applied to the rejections of a filter above the endpoint's padding
    func filter(
        at position: LimitUsePlan.Position, padding: Filter<Request, Response>?
    ) -> Filter<Request, Response>? {
        let indices = checks(at: position)
        guard !indices.isEmpty else { return nil }
        let usesValues = indices.contains { checks[$0].plan.usesValues }
        return Filter { next in
            Service { [self] request, exchange in
                let values = usesValues ? headValues(of: request.head, exchange) : nil
                guard let refusal = charge(indices, at: position, request.head, exchange, values)
                else { return next(request, exchange) }
                let rejection = Service<Request, Response> { [self] _, exchange in
                    exchange.local.value(reject(refusal, exchange))
                }
                return [padding].compactMap { $0 }.around(rejection)(request, exchange)
            }
        }
    }

    /// Charges the limits that need validated parameters or the body, for the endpoint itself; nil
    /// if there are none.
    func checkAfterValidation() -> ((CallValues, Exchange) -> Response?)? {
        let indices = checks(at: .validated)
        guard !indices.isEmpty else { return nil }
        return { [self] values, exchange in
            charge(indices, at: .validated, values.head, exchange, values).map {
                reject($0, exchange)
            }
        }
    }

    /// The values of a request before its parameters and its body are read.
    private func headValues(of head: RequestHead, _ exchange: Exchange) -> CallValues {
        CallValues(
            head: head, input: RequestInput(params: Params(), body: Bytes()), calls: 0,
            exchange: exchange, proxies: proxies)
    }

    // MARK: Charging

    /// The refusal; nil if all limits grant the request.
    private func charge(
        _ indices: [Int], at position: LimitUsePlan.Position, _ head: RequestHead,
        _ exchange: Exchange, _ values: CallValues?
    ) -> QuotaRefusal? {
        let input = Input(
            head: head, exchange: exchange, values: values, now: loop.now,
            isLast: position == last)
        var fields = RateLimitFields()
        guard let refusal = charge(indices[...], input, &fields) else {
            fields.append(to: &exchange.responseFields)
            return nil
        }
        refundEarlierPositions(of: exchange, at: input.now)
        return refusal
    }

    /// What all limits of a position have in common.
    private struct Input {
        let head: RequestHead
        let exchange: Exchange
        let values: CallValues?
        let now: Instant
        /// Whether no later position can refuse the request.
        let isLast: Bool
    }

    /// Charges the first limit, then the others: the stack remembers what a refusal refunds.
    private func charge(
        _ indices: ArraySlice<Int>, _ input: Input, _ fields: inout RateLimitFields
    ) -> QuotaRefusal? {
        guard let index = indices.first else { return nil }
        let check = checks[index]
        let target = check.target(of: input.head, input.exchange, input.values, proxies)
        let rate = check.plan.limit.rates[target.rate]
        let charge = cells.charge(target.key, check.plan.cost, of: rate.bucket, at: input.now)
        guard charge.isGranted else { return refusal(indices, charge, rate, input) }
        check.counts.granted &+= 1
        if !input.isLast {
            input.exchange.limitCharges.append(
                LimitCharge(limit: index, bucket: target.rate, key: target.key))
        }
        if check.plan.limit.announce == .always {
            fields.add(check.plan.limit, rate, arrival: charge.arrival, at: input.now)
        }
        guard let refusal = self.charge(indices.dropFirst(), input, &fields) else { return nil }
        // `refundEarlierPositions` refunds what is recorded in the exchange.
        if input.isLast {
            cells.refund(target.key, check.plan.cost, of: rate.bucket, at: input.now)
            check.counts.refunded &+= 1
        }
        return refusal
    }

    /// The first limit refuses; others of this position may refuse, too. They are not charged.
    private func refusal(
        _ indices: ArraySlice<Int>, _ charge: LimitCells.Charge, _ rate: LimitPlan.Rate,
        _ input: Input
    ) -> QuotaRefusal? {
        guard let index = indices.first else { return nil }
        let now = TokenBucket.time(of: input.now)
        checks[index].counts.refused &+= 1
        var refusal = QuotaRefusal(
            checks[index].plan, rate,
            wait: rate.bucket.wait(for: checks[index].plan.cost, charge.arrival, at: now))
        for other in indices.dropFirst() {
            let check = checks[other]
            let target = check.target(of: input.head, input.exchange, input.values, proxies)
            let rate = check.plan.limit.rates[target.rate]
            let arrival = cells.arrival(of: target.key, at: input.now)
            let wait = rate.bucket.wait(for: check.plan.cost, arrival, at: now)
            guard wait > 0 else { continue }
            check.counts.refused &+= 1
            refusal.add(check.plan, rate, wait: wait)
        }
        return refusal
    }

    private func refundEarlierPositions(of exchange: Exchange, at now: Instant) {
        for charge in exchange.limitCharges {
            let check = checks[charge.limit]
            cells.refund(
                charge.key, check.plan.cost, of: check.plan.limit.rates[charge.bucket].bucket,
                at: now)
            check.counts.refunded &+= 1
        }
        exchange.limitCharges.removeAll()
    }

    // MARK: Rejections

    private func reject(_ refusal: QuotaRefusal, _ exchange: Exchange) -> Response {
        exchange.refusal = .quota
        exchange.record?.responseMade(at: loop.now)
        return refusal.response(to: exchange)
    }
}
