package import Promises

/// A request goes in, the promise of an answer comes out: the one shape of everything that answers
/// requests, from the router to a single backend call. It never throws and is called on its core.
///
/// Cancelling the returned promise gives the work up; that is how a client that went away, or a
/// deadline, reaches the backends.
package typealias Service = (Request, Exchange) -> Local<Response>

/// A service around a service. A chain is a list of them, read in the order a request travels.
package typealias Filter = (@escaping Service) -> Service

extension [Filter] {
    /// The chain as one service: the first filter sees a request first and its answer last.
    package func around(_ service: @escaping Service) -> Service {
        reversed().reduce(service) { inner, filter in filter(inner) }
    }
}
