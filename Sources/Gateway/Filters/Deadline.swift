import Basics
import HTTP

/// `deadline`: when the response of an endpoint must be ready, counted from the last byte of the
/// request's body.
///
/// This filter only computes the deadline. `CallTimeout` ends each call at the deadline; the
/// request itself is not cut off, so that the response contains the parts that arrived in time.
enum Deadline {
    static func filter(_ duration: Duration) -> Filter<Request, Response> {
        Filter { next in
            Service { request, exchange in
                exchange.deadline = exchange.requestReceived + duration
                return next(request, exchange)
            }
        }
    }
}
