import Rehearsal

/// One of the drawn `rate_limits`. A reload keeps them, so that the checkers know what every request
/// was charged to.
struct DrawnRateLimit {
    let name: String
    let keys: Tree

    enum Key { case address, tenant, language }

    var rate: DrawnRate { DrawnRate(keys[text: "rate"] ?? "") }
    var burst: Int { keys[number: "burst"] ?? 0 }
    var key: Key? {
        switch keys[text: "key"] {
        case nil: nil
        case "address": .address
        case let key?: key == Self.language ? .language : .tenant
        }
    }

    /// Of endpoints that have the parameter.
    static let language = "{lang}"
}

/// Requests per second or per minute.
struct DrawnRate {
    let count: Int
    /// Seconds per request.
    let interval: Double

    /// Of `20/m`
    init(_ text: String) {
        count = Int(text.prefix { $0.isNumber }) ?? 1
        interval = (text.hasSuffix("m") ? 60 : 1) / Double(count)
    }
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
        let kinds: [(name: String, key: [KeyWeight])] = [
            ("per_client", [.key("key", 1, of: ["address"])]),
            ("per_tenant", [.key("key", 1, of: [#""{request.header.X-Tenant}""#])]),
            ("per_language", [.key("key", 1, of: ["\"\(DrawnRateLimit.language)\""])]),
            ("together", []),
        ]
        return random.some(kinds, 0.5).map { kind in
            DrawnRateLimit(
                name: kind.name,
                keys: random.keys(
                    [
                        .key(
                            "rate", 1,
                            of: ["1/s", "2/s", "5/s", "20/s", "100/s", "1/m", "5/m", "100/m"]),
                        .key("burst", 1, 1...5),
                    ] + kind.key, of: "RateLimit"))
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
