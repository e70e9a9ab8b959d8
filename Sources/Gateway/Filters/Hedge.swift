import HTTP
import HTTPClient
import Promises

/// Asks once more when the first answer keeps us waiting; the first answer of the two wins and the
/// other is cancelled.
enum Hedge {
    /// A failure before `delay` is the call's failure: asking again after failures is `retry`'s work.
    static func filter(after delay: Duration) -> CallFilter {
        CallFilter { next in
            CallService { request, exchange in
                let first = next(request, exchange)
                let isLate = Flag()
                // Not `after`, whose timer would outlive a quick answer.
                let second = exchange.local.value(()).delayed(by: delay).then {
                    isLate.isSet = true
                    return next(request, exchange)
                }
                // While one of the two is still out, the failure of the other decides nothing.
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
