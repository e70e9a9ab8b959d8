import Rehearsal

/// One of the drawn `rate_limits`. A reload keeps them, so that the checkers know what every request
/// was charged to.
struct DrawnRateLimit: Equatable {
    var name: String
    var rate: DrawnRate
    var burst: Int
    var key: Key?

    enum Key: Equatable {
        case address
        /// `{request.header.X-Tenant}`
        case tenant
        /// `{lang}`, on endpoints that have the parameter.
        case language
    }

    var tree: Tree {
        let written: Tree? =
            switch key {
            case nil: nil
            case .address: .scalar("address")
            case .tenant: .text("{request.header.X-Tenant}")
            case .language: .text("{lang}")
            }
        return Tree.members(["rate": .scalar(rate.written), "burst": .scalar("\(burst)")])
            .setting("key", written)
    }
}

/// Requests per second or per minute.
struct DrawnRate: Equatable {
    var count: Int
    var isPerMinute = false

    /// Seconds per request.
    var interval: Double { (isPerMinute ? 60 : 1) / Double(count) }

    /// `20/m`
    var written: String { "\(count)/\(isPerMinute ? "m" : "s")" }
}

/// An entry of `rate_limits` of an endpoint.
struct DrawnLimitUse {
    /// The index of the limit.
    var limit: Int
    var cost: Int
    /// A request for which it does not hold is not charged.
    var when: DrawnCondition?

    func tree(_ limits: [DrawnRateLimit]) -> Tree {
        let name = Tree.scalar(limits[limit].name)
        guard cost > 1 || when != nil else { return name }
        return Tree.members(["limit": name, "cost": .scalar("\(cost)")])
            .setting("when", when?.tree)
    }
}

/// Draws limits, which endpoints use them, and addresses of clients that they count together.
struct RateLimitDraw {
    let random: RandomSource

    func limits() -> [DrawnRateLimit] {
        guard random.chance(0.25) else { return [] }
        let kinds: [(name: String, key: DrawnRateLimit.Key?)] = [
            ("per_client", .address), ("per_tenant", .tenant), ("per_language", .language),
            ("together", nil),
        ]
        return random.some(kinds, 0.5).enumerated().map { index, kind in
            let random = random.derived("limit", index)
            return DrawnRateLimit(
                name: kind.name,
                rate: DrawnRate(
                    count: random.pick([1, 2, 5, 20, 100]), isPerMinute: random.chance(0.3)),
                burst: random.number(1...5), key: kind.key)
        }
    }

    /// - Parameter former: those of the endpoint before a reload, which keeps them, but not their conditions
    func uses(
        of limits: [DrawnRateLimit], by endpoint: DrawnEndpoint, _ former: [DrawnLimitUse]?
    ) -> [DrawnLimitUse] {
        let random = random.derived("uses", endpoint.index)
        let hasLanguage = endpoint.params.contains { $0.name == "lang" }
        // Without its parameter, a reload cannot keep a limit by it.
        func isPossible(_ limit: Int) -> Bool { limits[limit].key != .language || hasLanguage }
        let uses =
            former?.filter { isPossible($0.limit) }
            ?? random.some(limits.indices.filter(isPossible), 0.7).map { index in
                DrawnLimitUse(
                    limit: index, cost: random.chance(0.2) ? min(2, limits[index].burst) : 1)
            }
        return uses.map { use in
            var use = use
            use.when = condition(random.derived("when", use.limit), of: endpoint)
            return use
        }
    }

    private func condition(
        _ random: RandomSource, of endpoint: DrawnEndpoint
    ) -> DrawnCondition? {
        guard random.chance(0.25) else { return nil }
        return ConditionDraw(
            random: random.derived("condition"), params: endpoint.params,
            reads: .limit(hasBody: endpoint.body != nil, hasCaller: endpoint.isProtected)
        ).condition()
    }

    /// Two addresses of one network.
    static let neighbours = ["2001:db8::1", "2001:db8::2"]

    func complete(_ request: inout ScriptedRequest) {
        guard request.defect == nil, request.header("X-Forwarded-For") == nil, random.chance(0.15)
        else { return }
        request.headers.append(("X-Forwarded-For", random.pick(Self.neighbours)))
    }
}
