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

    func response(to exchange: RequestContext) -> Response {
        switch self {
        case .exceeded(let limits): return limits.response(to: exchange)
        case .unavailable:
            // What earlier limits announced is refunded.
            exchange.responseFields.removeAll(.rateLimitPolicy)
            exchange.responseFields.removeAll(.rateLimit)
            return Problem(.limitsUnavailable, instance: exchange.id)
                .response([.retryAfter: FieldValue(UInt64(1))])
        }
    }
}
