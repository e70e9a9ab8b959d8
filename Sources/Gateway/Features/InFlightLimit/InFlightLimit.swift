import Basics
import HTTP
import Promises
import Reactor

/// `max_in_flight`: limits the requests of one endpoint at the same time. A request counts from the
/// last byte of its body until its response lies in the connection, also while the padding delays it.
enum InFlightLimit {
    /// - Parameters:
    ///   - state: the endpoint's, which survives a reload
    ///   - refusal: responds to a request beyond the limit
    static func filter(
        max: Int, _ state: EndpointState, refusal: Service<Request, Response>
    ) -> Filter<Request, Response> {
        Filter { next in
            Service { request, context in
                if state.inFlight.isShort(below: max) { context.makeRoom() }
                guard let permit = state.inFlight.take(below: max) else {
                    state.refusals &+= 1
                    return refusal(request, context)
                }
                assert(state.inFlight.inUse <= max, "more requests than the limit run")
                context.holdPermit(permit)
                return next(request, context)
            }
        }
    }

    /// 503 with `Retry-After`.
    static func refuse(loop: any Loop) -> Service<Request, Response> {
        Service { _, context in
            context.record.responseMade(at: loop.now)
            return context.local.value(
                Problem(.serviceUnavailable, instance: context.id).response([.retryAfter: "1"]))
        }
    }
}
