import Basics
import HTTP
import HTTPClient
import Promises
import Reactor

/// Limits one call: its own timeout, or what is left of the whole request, whichever strikes first.
enum CallTimeout {
    static func filter(_ timeout: Duration, deadline: Duration, loop: any Loop) -> CallFilter {
        let failures = Failures(own: timeout, total: deadline)
        return CallFilter { next in
            CallService { request, exchange in
                let left = request.deadline - loop.now
                guard left > .zero else { return exchange.local.error(failures.total) }
                let answer = next(request, exchange)
                return timeout <= left
                    ? answer.timeout(timeout, error: failures.own)
                    : answer.timeout(left, error: failures.total)
            }
        }
    }

    /// What is said when time is up. An object, so that a closure that may say it is no more than a
    /// reference.
    private final class Failures {
        let own: CallFailure
        let total: CallFailure

        init(own: Duration, total: Duration) {
            self.own = CallFailure.responseTimeout(limit: own)
            self.total = CallFailure.responseTimeout(limit: total)
        }
    }
}
