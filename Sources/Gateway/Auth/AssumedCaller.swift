import Basics
import HTTP

/// Replaces the authentication for simulated requests, which have no credentials: each comes from a
/// caller that its endpoint accepts.
enum AssumedCaller {
    static let name = "simulated"

    static func filter(_ plan: EndpointAuthPlan) -> Filter<Request, Response> {
        let caller = Caller(
            authenticator: Bytes(), name: Bytes(name), scopes: plan.scopes.map { Bytes($0) })
        return Filter { next in
            Service { request, exchange in
                exchange.caller = caller
                return next(request, exchange)
            }
        }
    }
}
