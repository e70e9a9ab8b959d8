import Basics
import HTTP

/// Why limits refuse a request.
enum LimitRefusal {
    case exceeded(ExceededLimits)
    /// The store is down, and the limit refuses requests then (`when_down: closed`).
    case unavailable
}

extension LimitRefusal {
    var reason: RefusalReason {
        switch self {
        case .exceeded: .quota
        case .unavailable: .limitsUnavailable
        }
    }

    func response(to context: RequestContext) -> Response {
        switch self {
        case .exceeded(let limits): return limits.response(to: context)
        case .unavailable:
            // What earlier limits announced is refunded.
            context.responseFields.removeAll(.rateLimitPolicy)
            context.responseFields.removeAll(.rateLimit)
            return Problem(.limitsUnavailable, instance: context.id)
                .response([.retryAfter: FieldValue(UInt64(1))])
        }
    }
}
