import Basics
import HTTP

/// `deadline`: when the response of an endpoint must be ready, counted from the last byte of the
/// request's body.
///
/// This filter only computes the deadline. `CallTimeout` ends each call at the deadline; the
/// request itself is not cut off, so that the response contains the parts that arrived in time.
/// What waits before the calls, for keys or for the store, waits until `waitEnd` at most.
enum Deadline {
    static func filter(_ duration: Duration) -> Filter<Request, Response> {
        Filter { next in
            Service { request, context in
                context.deadline = context.requestReceived + duration
                return next(request, context)
            }
        }
    }

}
