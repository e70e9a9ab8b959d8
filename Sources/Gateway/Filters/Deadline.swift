import Basics
import HTTP

/// `deadline`: when the response of an endpoint must be ready, counted from the last byte of the
/// request's body.
///
/// This filter only computes the moment. `CallTimeout` ends each call at it and not this filter the
/// request, so that the calls that have answered are in the response.
enum Deadline {
    static func filter(_ duration: Duration) -> Filter<Request, Response> {
        Filter { next in
            Service { request, exchange in
                exchange.deadline = exchange.lastByte + duration
                return next(request, exchange)
            }
        }
    }
}
