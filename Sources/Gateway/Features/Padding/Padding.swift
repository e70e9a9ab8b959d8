import Basics
import HTTP
import Promises
import Reactor

/// `min_duration`: no response leaves earlier, so that response time reveals nothing.
/// `round_up_to`: a later response leaves at the next full step. Failures count as responses.
///
/// A response that is held back uses no thread: only a timer, and the permits and memory of its
/// request. The time counts from the request's last byte.
enum Padding {
    static func filter(_ plan: PaddingPlan, loop: any Loop) -> Filter<Request, Response> {
        Filter { next in
            Service { request, context in
                let received = lastByte(of: context, loop)
                let response = hold(
                    next(request, context), since: received, plan, on: context.local, loop)
                return response.ensure { () -> Void in
                    // Not for a response that was cancelled, or that is streamed.
                    if context.record.isHeld {
                        context.record.responseReleased(at: loop.exactNow)
                    }
                }
            }
        }
    }

    private static func hold(
        _ response: LocalPromise<Response>, since received: Instant, _ plan: PaddingPlan,
        on local: LocalContext, _ loop: any Loop
    ) -> LocalPromise<Response> {
        guard plan.step != nil else {
            return response.atLeast(
                left(of: plan.minimum, since: received, loop), holdingFailures: true)
        }
        // Decided when the response is ready, not after a timer of the minimum: timers fire
        // a moment late, and each response would leave a step later.
        func wait() -> LocalPromise<Void> {
            let end = plan.end(ofResponseAt: loop.now - received)
            return local.value(())
                .delayed(by: left(of: end, since: received, loop))
        }
        return
            response
            .then { response in wait().map { response } }
            .recover(policy: .allErrors) { error in wait().map { throw error } }
    }

    /// When the last byte arrived, or a moment later.
    ///
    /// The clock of the loop stands still while an iteration handles its events, and the byte may have
    /// arrived meanwhile. With that clock a response could leave earlier by the time of an iteration.
    private static func lastByte(of context: RequestContext, _ loop: any Loop) -> Instant {
        context.requestReceived == loop.now ? loop.exactNow : context.requestReceived
    }

    /// From the loop's clock, with which timers count, to the end of the duration.
    private static func left(
        of duration: Duration, since received: Instant, _ loop: any Loop
    ) -> Duration {
        max(.zero, duration - (loop.now - received))
    }
}
