import Basics
import HTTP
import Promises

/// What the limits of one position decide about a request.
enum LimitDecision {
    /// With what the limits announce, and what limits that replicas share have charged.
    case granted([GrantedLimit], [SharedCharge])
    case refused(LimitRefusal)
    /// The store decides.
    case later(LocalPromise<LimitDecision>)
}

/// A limit that granted a request, for the header fields.
struct GrantedLimit {
    let limit: LimitPlan
    let rate: LimitPlan.Rate
    /// When the bucket is full again, in units of `TokenBucket`.
    let arrival: Int64
}

/// Why limits refuse a request.
enum LimitRefusal {
    case quota(QuotaRefusal)
    /// The store is down, and the limit is closed then.
    case unavailable
}

extension LimitRefusal {
    var reason: RefusalReason {
        switch self {
        case .quota: .quota
        case .unavailable: .limitsUnavailable
        }
    }

    func response(to exchange: Exchange) -> Response {
        switch self {
        case .quota(let refusal): return refusal.response(to: exchange)
        case .unavailable:
            // What earlier limits announced is refunded.
            exchange.responseFields.removeAll(.rateLimitPolicy)
            exchange.responseFields.removeAll(.rateLimit)
            return Problem(.limitsUnavailable, instance: exchange.id)
                .response([.retryAfter: FieldValue(UInt64(1))])
        }
    }
}
