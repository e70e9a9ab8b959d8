import Basics
import GatewayConfig
package import HTTP

/// Why limits refuse a request, and its response.
struct QuotaRefusal {
    /// Those that refuse the request, in the endpoint's order; not empty.
    private var violated: [(limit: LimitPlan, rate: LimitPlan.Rate, seconds: Int)] = []
    /// 429 for a limit with a key; 503 for one that all requests share: then the gateway is
    /// overloaded, whatever this client does.
    private let status: Status

    init(_ use: LimitUsePlan, _ rate: LimitPlan.Rate, wait: Int64) {
        status = use.key.isEmpty ? .serviceUnavailable : .tooManyRequests
        add(use, rate, wait: wait)
    }

    /// - Parameter wait: in units of `TokenBucket`
    mutating func add(_ use: LimitUsePlan, _ rate: LimitPlan.Rate, wait: Int64) {
        violated.append((use.limit, rate, max(1, TokenBucket.seconds(wait))))
    }

    /// The problem; it replaces what earlier limits announced, since their charges are refunded.
    func response(to exchange: Exchange) -> Response {
        exchange.responseFields.removeAll(.rateLimitPolicy)
        exchange.responseFields.removeAll(.rateLimit)
        var fields = RateLimitFields()
        for (limit, rate, seconds) in violated where limit.announce != .never {
            fields.add(limit, rate, remaining: 0, seconds: seconds)
        }
        fields.append(to: &exchange.responseFields)
        let wait = violated.map(\.seconds).max() ?? 1
        return Problem.quota(
            violating: names, status: status, seconds: wait, instance: exchange.id)
    }

    /// `["per_caller"]`
    private var names: Bytes {
        var json: [UInt8] = []
        for (limit, _, _) in violated {
            json.append(literal: json.isEmpty ? "[" : ",")
            json.append(limit.quotedName)
        }
        json.append(UInt8(ascii: "]"))
        return Bytes(json)
    }
}

extension Problem {
    /// The response of a limit: 429 or `status`.
    ///
    /// - Parameters:
    ///   - policies: the names of the limits, as a JSON array
    ///   - seconds: for `Retry-After`
    static func quota(
        violating policies: Bytes, status: Status? = nil, seconds: Int, instance: RequestID
    ) -> Response {
        Problem(.quota, status: status, type: quotaType, instance: instance)
            .with("violated-policies", json: policies)
            .response([.retryAfter: FieldValue(UInt64(seconds))])
    }

    /// The problem type of draft-ietf-httpapi-ratelimit-headers.
    private static let quotaType: StaticString =
        "https://iana.org/assignments/http-problem-types#quota-exceeded"
}

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
