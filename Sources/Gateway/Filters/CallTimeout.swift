import Basics
import HTTP
import HTTPClient
import Promises
import Reactor

/// Limits one call to its own timeout or the time left for the request, whichever is shorter.
enum CallTimeout {
    static func filter(_ timeout: Duration, deadline: Duration, loop: any Loop) -> CallFilter {
        let failures = Failures(own: timeout, total: deadline)
        return CallFilter { next in
            CallService { request, exchange in
                let left = request.deadline - loop.now
                guard left > .zero else { return exchange.local.error(failures.total) }
                let response = next(request, exchange)
                return timeout <= left
                    ? response.timeout(timeout, error: failures.own)
                    : response.timeout(left, error: failures.total)
            }
        }
    }

    /// The errors of both limits. An object, so that a closure captures only a reference.
    private final class Failures {
        let own: CallFailure
        let total: CallFailure

        init(own: Duration, total: Duration) {
            self.own = CallFailure.responseTimeout(limit: own)
            self.total = CallFailure.responseTimeout(limit: total)
        }
    }
}
