import Basics
import HTTP
import HTTPClient
import Promises
import Reactor

/// Limits one call to its own timeout or the time left for the request, whichever is shorter.
final class CallTimeout {
    private let own: TimeLimit
    private let loop: any Loop
    /// At the deadline of the request.
    private let deadlineFailure: CallFailure

    init(_ timeout: Duration, deadline: Duration, loop: any Loop) {
        self.loop = loop
        own = TimeLimit(timeout, error: CallFailure.responseTimeout(limit: timeout))
        deadlineFailure = CallFailure.responseTimeout(limit: deadline)
    }

    /// The limit of a call that starts now. Throws if no time is left.
    func limit(before deadline: Instant) throws(CallFailure) -> TimeLimit {
        let timeout = own.duration
        let left = deadline - loop.now
        guard left > .zero else { throw deadlineFailure }
        return timeout <= left
            ? own : TimeLimit(left, error: deadlineFailure)
    }

    /// For calls that may wait or be repeated: one limit covers all of it. The limit of a single request
    /// is left to the pool, which needs no promise for it (`EndpointCall`).
    var filter: CallFilter {
        CallFilter { [self] next in
            CallService { [self] request, context in
                do throws(CallFailure) {
                    let limit = try limit(before: request.deadline)
                    return next(request, context).timeout(limit.duration, error: limit.error)
                } catch {
                    return context.local.error(error)
                }
            }
        }
    }
}
