package import Promises

/// A request goes in, the promise of an answer comes out: the one shape of everything that answers
/// requests, from the router to a single backend call. It never throws and is called on its core.
///
/// Cancelling the returned promise gives the work up; that is how a client that went away, or a
/// deadline, reaches the backends.
package typealias Service = (Request, Exchange) -> Local<Response>

/// A service around a service. A chain is a list of them, read in the order a request travels.
///
/// A struct around the function, because a bare function in an array or an optional is called
/// through a thunk for generic code, once for each time it was put into one.
package struct Filter {
    private let wrap: (@escaping Service) -> Service

    package init(_ wrap: @escaping (@escaping Service) -> Service) {
        self.wrap = wrap
    }

    /// The service with this filter before it.
    package func around(_ service: @escaping Service) -> Service { wrap(service) }
}

extension [Filter] {
    /// The chain as one service: the first filter sees a request first and its answer last.
    package func around(_ service: @escaping Service) -> Service {
        var chain = service
        for filter in reversed() { chain = filter.around(chain) }
        return chain
    }
}
