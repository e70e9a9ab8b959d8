import Basics
import HTTP
import HTTPClient
import Promises
import Reactor

/// Limits one call to its own timeout or the time left for the request, whichever is shorter.
final class CallTimeout {
    private let own: TimeLimit
    private let loop: any Loop
    /// The error at the deadline of the request.
    let deadlineError: any Error

    init(_ timeout: Duration, deadline: Duration, loop: any Loop) {
        self.loop = loop
        own = TimeLimit(timeout, error: CallFailure.responseTimeout(limit: timeout))
        deadlineError = CallFailure.responseTimeout(limit: deadline)
    }

    /// The limit of a call that starts now; nil if no time is left.
    func limit(of request: CallRequest) -> TimeLimit? {
        let timeout = own.duration
        let left = request.deadline - loop.now
        guard left > .zero else { return nil }
        return timeout <= left
            ? own : TimeLimit(left, error: deadlineError)
    }

    /// For calls that may wait or be repeated: one limit covers all of it. That of a single request
    /// is left to the pool, which needs no promise for it (`EndpointCall`).
    var filter: CallFilter {
        CallFilter { [self] next in
            CallService { [self] request, exchange in
                guard let limit = limit(of: request) else {
                    return exchange.local.error(deadlineError)
                }
                return next(request, exchange).timeout(limit.duration, error: limit.error)
            }
        }
    }
}
