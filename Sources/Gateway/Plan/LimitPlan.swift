package import Basics
package import GatewayConfig
import HTTP

/// One of `rate_limits`, compiled: the same for all endpoints that use it.
package final class LimitPlan {
    package let name: String
    /// The name as JSON and as a string of a structured field, with its quotes.
    let quotedName: Bytes
    package let rates: [Rate]
    package let announce: Config.RateLimit.Announce
    /// Whether replicas share it.
    package let isShared: Bool

    /// A rate, and its bucket.
    package struct Rate {
        /// The caller's plan; nil for the rate without a plan.
        package let plan: Bytes?
        package let bucket: TokenBucket
        /// `100/s`
        package let spelled: String
        /// The member of `RateLimit-Policy`: `"per_caller";q=1000;w=60`.
        let policy: Bytes
        /// Used if replicas share the limit.
        package let shared: SharedRate
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
    }

    init(_ limit: Config.RateLimit) throws(PlanError) {
        name = limit.name.value
        quotedName = Bytes("\"\(name)\"")
        announce = limit.announce?.value ?? PlanDefaults.announce
        isShared = limit.isShared
        var rates: [Rate] = []
        for (index, (rate, burst)) in limit.rates.enumerated() {
            guard let bucket = rate.value.bucket(burst: burst),
                let shared = SharedRate(limit, rate.value, burst: burst)
            else {
                throw PlanError("\(rate.location): the rate cannot be counted")
            }
            rates.append(
                Rate(
                    plan: index == 0 ? nil : Bytes(limit.plans[index - 1].name.value),
                    bucket: bucket, spelled: rate.written ?? rate.value.spelled,
                    policy: Bytes(
                        "\"\(name)\";q=\(rate.value.count);w=\(rate.value.unit.seconds)"),
                    shared: shared))
        }
        guard !rates.isEmpty else { throw PlanError("\(limit.location): no rate") }
        self.rates = rates
    }

    /// The index of a plan's rate; that of the limit for an unknown plan.
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
    }
}

/// A limit of one endpoint: which limit, counted by what, and how much.
package final class LimitUsePlan {
    package let limit: LimitPlan
    package let cost: Int
    /// Empty for one bucket for all requests.
    package let key: [KeyPart]
    let planSource: PlanSource
    /// Requests for which it does not hold are not charged; nil if all are.
    package let condition: ConditionPlan?
    package let position: Position
    /// The key as configured: `address`, or `caller, {request.header.X-Tenant}`; nil without one.
    package let spelledKey: String?

    /// What requests are counted by.
    package enum KeyPart {
        case address
        case caller
        /// A text counts as the number with the same spelling. Numbers count as equal in any spelling,
        /// because backends read them as equal.
        ///
        /// - `isTextual`: whether the value is never a number
        case value(CompiledTemplate.Source, isTextual: Bool)
    }

    /// Where the name of the caller's plan comes from.
    enum PlanSource {
        /// The limit has no plans.
        case none
        case caller
        case value(CompiledTemplate.Source)
    }

    /// The place in the chain of an endpoint: as soon as the key and the condition are known.
    package enum Position: Int, Comparable, CaseIterable {
        /// The address and the head suffice.
        case head
        /// After the authentication.
        case caller
        /// After parameters and body are validated.
        case validated

        package static func < (left: Position, right: Position) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    init(
        _ limit: LimitPlan, cost: Int, key: [KeyPart], planSource: PlanSource,
        condition: ConditionPlan?, spelledKey: String?
    ) {
        self.limit = limit
        self.cost = cost
        self.key = key
        self.planSource = planSource
        self.condition = condition
        self.spelledKey = spelledKey
        var position = max(planSource.position, condition?.limitPosition ?? .head)
        for part in key { position = max(position, part.position) }
        self.position = position
    }

    /// The query parameters that the key, the condition and the plan's name use.
    var queryNames: [Bytes] {
        var sources = key.compactMap { if case .value(let source, _) = $0 { source } else { nil } }
        if case .value(let source) = planSource { sources.append(source) }
        sources += (condition?.references ?? []).map(\.source)
        return sources.compactMap(\.queryName)
    }

    /// Whether it needs a value of the request besides the client's address and the caller.
    var usesValues: Bool {
        if condition != nil { return true }
        if case .value = planSource { return true }
        return key.contains { if case .value = $0 { true } else { false } }
    }
}

extension LimitUsePlan.KeyPart {
    fileprivate var position: LimitUsePlan.Position {
        switch self {
        case .address: .head
        case .caller: .caller
        case .value(let source, _): source.limitPosition
        }
    }
}

extension LimitUsePlan.PlanSource {
    fileprivate var position: LimitUsePlan.Position {
        switch self {
        case .none: .head
        case .caller: .caller
        case .value(let source): source.limitPosition
        }
    }
}

extension ConditionPlan {
    /// Where all its values are known. The recursion is as deep as the nesting, which `check`
    /// limits.
    fileprivate var limitPosition: LimitUsePlan.Position {
        switch rule {
        case .wasSent: .validated
        case .test: references.map(\.source.limitPosition).max() ?? .head
        case .all(let parts), .any(let parts): parts.map(\.limitPosition).max() ?? .head
        case .not(let part): part.limitPosition
        }
    }
}

extension CompiledTemplate.Source {
    /// Where the value is known.
    fileprivate var limitPosition: LimitUsePlan.Position {
        switch self {
        case .requestHeader, .requestQuery, .requestClient: .head
        case .requestCaller, .token: .caller
        case .param, .requestBody, .call: .validated
        }
    }
}

/// Compiles the limits of an endpoint.
extension EndpointPlanner {
    func limits() throws(PlanError) -> [LimitUsePlan] {
        var plans: [LimitUsePlan] = []
        for use in config.rateLimits(of: endpoint) {
            guard let name = use.value.limit?.value,
                let limit = config.rateLimits.first(where: { $0.name.value == name }),
                let plan = limitPlans.first(where: { $0.name == name })
            else { throw PlanError("\(use.location): no such rate limit") }
            plans.append(
                LimitUsePlan(
                    plan, cost: use.value.charge, key: try keyParts(of: limit),
                    planSource: try planSource(of: limit),
                    condition: try use.value.when.map { condition throws(PlanError) in
                        try ConditionPlanner(scope: requestScope).plan(condition)
                    },
                    spelledKey: limit.key.isEmpty
                        ? nil : limit.key.map(\.value.spelled).joined(separator: ", ")))
        }
        return plans
    }

    private func keyParts(
        of limit: Config.RateLimit
    ) throws(PlanError) -> [LimitUsePlan.KeyPart] {
        var parts: [LimitUsePlan.KeyPart] = []
        for part in limit.key {
            switch part.value {
            case .address: parts.append(.address)
            case .caller: parts.append(.caller)
            case .reference(let template):
                let source = try source(of: template)
                let isTextual = TemplatePlanner(scope: requestScope).isTextual(source)
                parts.append(.value(source, isTextual: isTextual))
            }
        }
        return parts
    }

    private func planSource(
        of limit: Config.RateLimit
    ) throws(PlanError) -> LimitUsePlan.PlanSource {
        guard !limit.plans.isEmpty else { return .none }
        guard let plan = limit.plan else { return .caller }
        return .value(try source(of: plan))
    }

    /// The source of a template that is one reference.
    private func source(of template: LocatedTemplate) throws(PlanError) -> CompiledTemplate.Source {
        let compiled = try TemplatePlanner(scope: requestScope).field(template)
        guard case .reference(let reference, _)? = compiled.pieces.first else {
            throw PlanError("\(endpoint.location): a key without a reference")
        }
        return reference.source
    }
}
