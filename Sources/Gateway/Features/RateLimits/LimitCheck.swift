import Basics
import HTTP

/// One limit of an endpoint, ready to charge requests: the cells of the process, and the hash of
/// the limit's name, which survives reloads as the name does.
struct LimitCheck {
    let plan: LimitUsePlan
    let counts: LimitCounts
    private let hash: KeyedHash
    private let addressMask: AddressMask

    init(_ plan: LimitUsePlan, _ counts: LimitCounts, _ table: LimitTable, _ mask: AddressMask) {
        self.plan = plan
        self.counts = counts
        var hash = KeyedHash(table.hashKey)
        hash.combine(Bytes(plan.limit.name).span)
        self.hash = hash
        addressMask = mask
    }

    /// The bucket that a request is charged to.
    struct Target {
        let key: UInt64
        /// The index of the rate.
        let rate: Int
        /// How many requests are charged.
        let cost: Int
    }

    /// - Parameter values: the values of the request; nil if no limit of this position uses them
    func target(
        of head: RequestHead, _ context: RequestContext, _ values: CallValues?,
        _ proxies: TrustedProxies
    ) -> Target {
        let rate = rate(context, values)
        var hash = hash
        combine(head, context, values, proxies, into: &hash)
        combine(planOf: rate, into: &hash)
        return Target(key: hash.value, rate: rate, cost: plan.cost(of: values))
    }

    /// The key of a limit that replicas share; nil if it cannot be computed.
    ///
    /// - Parameter rate: the index of the rate
    func storeKey(
        ofRate rate: Int, _ head: RequestHead, _ context: RequestContext, _ values: CallValues?,
        _ proxies: TrustedProxies, _ store: LimitStore
    ) -> Bytes? {
        var text = LimitKeyText(plan.limit.name)
        combine(head, context, values, proxies, into: &text)
        combine(planOf: rate, into: &text)
        return store.key(of: text)
    }

    /// Each plan has buckets of its own: one arrival time cannot serve two rates.
    private func combine(planOf rate: Int, into key: inout some LimitKey) {
        guard let name = plan.limit.rates[rate].plan else { return }
        key.combine(LimitKeyMark.plan)
        key.combine(name.span)
    }

    private func combine(
        _ head: RequestHead, _ context: RequestContext, _ values: CallValues?,
        _ proxies: TrustedProxies, into key: inout some LimitKey
    ) {
        for part in plan.key where !combine(part, context, values, into: &key) {
            // Also in place of a missing value: a client must not avoid a limit by omitting it.
            key.combine(
                addressMask.network(of: context.clientAddress(of: head, proxies).host))
        }
    }

    /// Whether the request has the value.
    private func combine(
        _ part: LimitUsePlan.KeyPart, _ context: RequestContext, _ values: CallValues?,
        into hash: inout some LimitKey
    ) -> Bool {
        switch part {
        case .address: return false
        case .caller:
            guard let caller = context.caller, let name = caller.name else { return false }
            hash.combine(LimitKeyMark.caller)
            // Names of callers are unique within one authenticator.
            let authenticator = caller.authenticator
            hash.combine(authenticator.span)
            hash.combine(name.span)
        case .value(let source, let isTextual):
            guard let values, let text = values.text(of: source) else { return false }
            hash.combine(LimitKeyMark.value)
            if !isTextual, values.isNumber(source), let number = text.canonicalNumber {
                hash.combine(number.span)
            } else {
                hash.combine(text.span)
            }
        }
        return true
    }

    private func rate(_ context: RequestContext, _ values: CallValues?) -> Int {
        switch plan.planSource {
        case .none: 0
        case .caller: plan.limit.rate(ofPlan: context.caller?.plan)
        case .value(let source): plan.limit.rate(ofPlan: values?.text(of: source))
        }
    }
}
