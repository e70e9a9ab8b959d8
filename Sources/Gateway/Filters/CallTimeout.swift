import Basics
import HTTP
import HTTPClient
import Promises
import Reactor

/// Limits one call: its own timeout, or what is left of the whole request, whichever strikes first.
enum CallTimeout {
    static func filter(_ timeout: Duration, deadline: Duration, loop: any Loop) -> CallFilter {
        CallFilter { next in
            { request, exchange in
                let left = request.deadline - loop.now
                let isOwn = timeout <= left
                let limit = isOwn ? timeout : deadline
                guard left > .zero else {
                    return exchange.core.error(CallFailure(kind: .responseTimeout, limit: limit))
                }
                return next(request, exchange).timeout(
                    isOwn ? timeout : left, error: CallFailure(kind: .responseTimeout, limit: limit)
                )
            }
        }
    }
}
