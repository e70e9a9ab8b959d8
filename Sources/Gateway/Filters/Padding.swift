import Basics
import HTTP
import Promises
import Reactor

/// `min_duration`: no response leaves earlier, so that response time reveals nothing.
/// `round_up_to`: a later response leaves at the next full step.
///
/// A response that is held back uses no thread: only a timer, and the permits and memory of its
/// request. The time counts from the request's last byte.
enum Padding {
    static func filter(_ plan: PaddingPlan, loop: any Loop) -> Filter<Request, Response> {
        Filter { next in
            Service { request, exchange in
                let received = lastByte(of: exchange, loop)
                let padded = next(request, exchange)
                    .atLeast(left(of: plan.minimum, since: received, loop), holdingFailures: true)
                guard let step = plan.step else { return padded }
                return padded.then { response in
                    let whole = rounded(plan, step, since: received, loop)
                    return exchange.local.value(response)
                        .delayed(by: left(of: whole, since: received, loop))
                }
            }
        }
    }

    /// When the last byte arrived, or a moment later.
    ///
    /// The clock of the loop stands still while an iteration handles its events, and the byte may have
    /// arrived meanwhile. With that clock a response could leave earlier by the time of an iteration.
    private static func lastByte(of exchange: Exchange, _ loop: any Loop) -> Instant {
        exchange.requestReceived == loop.now ? loop.exactNow : exchange.requestReceived
    }

    /// From the loop's clock, with which timers count, to the end of the duration.
    private static func left(
        of duration: Duration, since received: Instant, _ loop: any Loop
    ) -> Duration {
        max(.zero, duration - (loop.now - received))
    }

    /// The first full step after the minimum that has not passed yet.
    private static func rounded(
        _ plan: PaddingPlan, _ step: Duration, since received: Instant, _ loop: any Loop
    ) -> Duration {
        let minimum = plan.minimum.inNanoseconds
        let over = (loop.now - received).inNanoseconds - minimum
        guard over > 0 else { return plan.minimum }
        let stepLength = step.inNanoseconds
        let steps = (over + stepLength - 1) / stepLength
        return .nanoseconds(minimum + steps * stepLength)
    }
}
