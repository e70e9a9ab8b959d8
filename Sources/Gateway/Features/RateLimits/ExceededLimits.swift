import Basics
import HTTP

/// The limits that a request exceeds, and its response.
struct ExceededLimits {
    /// In the endpoint's order; not empty.
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
    func response(to context: RequestContext) -> Response {
        context.responseFields.removeAll(.rateLimitPolicy)
        context.responseFields.removeAll(.rateLimit)
        var fields = RateLimitFields()
        for (limit, rate, seconds) in violated where limit.announce != .never {
            fields.add(limit, rate, remaining: 0, seconds: seconds)
        }
        fields.append(to: &context.responseFields)
        let wait = violated.map(\.seconds).max() ?? 1
        return Problem.quota(
            violating: names, status: status, seconds: wait, instance: context.id)
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
