import Basics
package import HTTP
import Reactor

/// The header fields of draft-ietf-httpapi-ratelimit-headers: the policies, and what is left of
/// them.
struct RateLimitFields {
    private var policies: [UInt8] = []
    private var limits: [UInt8] = []

    /// A limit that granted the request.
    mutating func add(
        _ limit: LimitPlan, _ rate: LimitPlan.Rate, arrival: Int64, at moment: Instant
    ) {
        let now = TokenBucket.time(of: moment)
        add(
            limit, rate, remaining: rate.bucket.remaining(arrival, at: now),
            seconds: TokenBucket.seconds(rate.bucket.timeToFull(arrival, at: now)))
    }

    /// - Parameter seconds: until the bucket is full, or until a refused request is granted
    mutating func add(
        _ limit: LimitPlan, _ rate: LimitPlan.Rate, remaining: Int, seconds: Int
    ) {
        if limits.isEmpty {
            policies.reserveCapacity(64)
            limits.reserveCapacity(64)
        } else {
            policies.append(literal: ", ")
            limits.append(literal: ", ")
        }
        policies.append(rate.policy)
        limits.append(limit.quotedName)
        limits.append(literal: ";r=")
        limits.append(decimal: UInt(max(0, remaining)))
        limits.append(literal: ";t=")
        limits.append(decimal: UInt(max(0, seconds)))
    }

    func append(to fields: inout Fields) {
        guard !limits.isEmpty, let policies = FieldValue(Bytes(policies)),
            let limits = FieldValue(Bytes(limits))
        else { return }
        fields.append(.rateLimitPolicy, policies)
        fields.append(.rateLimit, limits)
    }
}

extension FieldName {
    package static var rateLimitPolicy: FieldName { "RateLimit-Policy" }
    package static var rateLimit: FieldName { "RateLimit" }
}
