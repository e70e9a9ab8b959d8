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
                let padded = next(request, exchange)
                    .atLeast(left(of: plan.minimum, exchange, loop), holdingFailures: true)
                guard let step = plan.step else { return padded }
                return padded.then { response in
                    exchange.local.value(response).delayed(
                        by: left(of: rounded(plan, step, exchange, loop), exchange, loop))
                }
            }
        }
    }

    private static func left(of duration: Duration, _ exchange: Exchange, _ loop: any Loop)
        -> Duration
    {
        max(.zero, duration - (loop.now - exchange.requestReceived))
    }

    /// The first full step after the minimum that has not passed yet.
    private static func rounded(
        _ plan: PaddingPlan, _ step: Duration, _ exchange: Exchange, _ loop: any Loop
    ) -> Duration {
        let minimum = plan.minimum.inNanoseconds
        let over = (loop.now - exchange.requestReceived).inNanoseconds - minimum
        guard over > 0 else { return plan.minimum }
        let stepLength = step.inNanoseconds
        let steps = (over + stepLength - 1) / stepLength
        return .nanoseconds(minimum + steps * stepLength)
    }
}
