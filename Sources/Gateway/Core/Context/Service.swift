import HTTP
package import Promises

/// A function from a request to the promise of a response: the common type of everything that
/// responds to requests, from a route to a single backend call. It never throws and is called on
/// its worker.
///
/// Cancelling the returned promise cancels the work; that is how the end of a client's connection,
/// or a deadline, reaches the backends.
///
/// A struct with a closure, because Swift calls a bare function from generic code through a
/// reabstraction thunk. A closure literal that is passed to `init` needs none: it is compiled with
/// the generic calling convention, which passes the request by address.
package struct Service<Request, Response> {
    let handler: (Request, RequestContext) -> LocalPromise<Response>

    package init(_ handler: @escaping (Request, RequestContext) -> LocalPromise<Response>) {
        self.handler = handler
    }

    package func callAsFunction(_ request: Request, _ context: RequestContext) -> LocalPromise<
        Response
    > {
        handler(request, context)
    }
}

/// A wrapper around a service. A chain is a list of filters, in the order in which a request passes
/// them.
package struct Filter<Request, Response> {
    let wrap: (Service<Request, Response>) -> Service<Request, Response>

    package init(
        _ wrap: @escaping (Service<Request, Response>) -> Service<Request, Response>
    ) {
        self.wrap = wrap
    }

    /// The service wrapped in this filter.
    package func around(_ service: Service<Request, Response>) -> Service<Request, Response> {
        wrap(service)
    }
}

extension Array {
    /// The chain as one service: the first filter gets a request first and its response last.
    package func around<Request, Response>(
        _ service: Service<Request, Response>
    ) -> Service<Request, Response> where Element == Filter<Request, Response> {
        var chain = service
        for filter in reversed() { chain = filter.around(chain) }
        return chain
    }
}
