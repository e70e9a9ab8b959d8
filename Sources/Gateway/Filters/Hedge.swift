import HTTP
import HTTPClient
import Promises
import Reactor

/// Sends a second request when the first one takes longer than a delay; the first response wins and
/// the other request is cancelled.
enum Hedge {
    /// A failure before `delay` fails the call: repeating failed requests is the task of `retry`.
    static func filter(after delay: Duration, loop: any Loop) -> CallFilter {
        CallFilter { next in
            CallService { request, exchange in
                let first = next(request, exchange)
                let isLate = Flag()
                // Not the promise function `after(_:)`, whose timer would outlive a fast response.
                let second = exchange.local.value(()).delayed(by: delay).then {
                    isLate.isSet = true
                    return next(
                        request.repeated(.hedge, for: exchange, at: loop.now), exchange)
                }
                // While one of the two is pending, a failure of the other decides nothing.
                return exchange.local.firstSettled([
                    first.recover { error in
                        guard isLate.isSet else { throw error }
                        return second
                    },
                    second.recover { _ in first },
                ])
            }
        }
    }

    private final class Flag {
        var isSet = false
    }
}
