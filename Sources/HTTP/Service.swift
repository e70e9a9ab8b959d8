public import Promises

/// A request goes in, the promise of a response comes out: the one shape of everything that answers
/// requests, from a route to a single backend call. It never throws and is called on its worker.
///
/// Cancelling the returned promise cancels the work; that is how the end of a client's connection, or
/// a deadline, reaches the backends.
///
/// A struct with a closure, because Swift calls a bare function that comes out of generic code through
/// a reabstraction thunk. A closure literal that is given to `init` needs none: it is compiled with
/// the generic calling convention, under which the request is passed by address.
@usableFromInline
package struct Service<Request, Response> {
    @usableFromInline let handler: (Request, Exchange) -> LocalPromise<Response>

    @inlinable
    package init(_ handler: @escaping (Request, Exchange) -> LocalPromise<Response>) {
        self.handler = handler
    }

    @inlinable
    package func callAsFunction(_ request: Request, _ exchange: Exchange) -> LocalPromise<Response>
    {
        handler(request, exchange)
    }
}

/// A service around a service. A chain is a list of filters, in the order in which a request passes
/// them.
@usableFromInline
package struct Filter<Request, Response> {
    @usableFromInline
    let wrap: (Service<Request, Response>) -> Service<Request, Response>

    @inlinable
    package init(
        _ wrap: @escaping (Service<Request, Response>) -> Service<Request, Response>
    ) {
        self.wrap = wrap
    }

    /// The service with this filter before it.
    @inlinable
    package func around(_ service: Service<Request, Response>) -> Service<Request, Response> {
        wrap(service)
    }
}

extension Array {
    /// The chain as one service: the first filter sees a request first and its response last.
    @inlinable
    package func around<Request, Response>(
        _ service: Service<Request, Response>
    ) -> Service<Request, Response> where Element == Filter<Request, Response> {
        var chain = service
        for filter in reversed() { chain = filter.around(chain) }
        return chain
    }
}
