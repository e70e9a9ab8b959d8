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
struct DrawnLimitUse: Equatable {
    /// The index of the limit.
    var limit: Int
    var cost: Int
    /// Whether only requests with the header `X-Tenant` are charged.
    var needsTenant = false
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

    /// - Parameter languages: whether the endpoint has the parameter `lang`
    func uses(of limits: [DrawnRateLimit], languages: Bool, _ endpoint: Int) -> [DrawnLimitUse] {
        let random = random.derived("uses", endpoint)
        let possible = limits.indices.filter { limits[$0].key != .language || languages }
        return random.some(possible, 0.7).map { index in
            DrawnLimitUse(
                limit: index, cost: random.chance(0.2) ? min(2, limits[index].burst) : 1,
                needsTenant: random.derived("when", index).chance(0.2))
        }
    }

    /// Two addresses of one network.
    static let neighbours = ["2001:db8::1", "2001:db8::2"]

    func complete(_ request: inout ScriptedRequest) {
        guard request.defect == nil, request.header("X-Forwarded-For") == nil, random.chance(0.15)
        else { return }
        request.headers.append(("X-Forwarded-For", random.pick(Self.neighbours)))
    }
}
