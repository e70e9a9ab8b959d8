import Basics
import HTTP
import Promises

extension ContentTypes {
    /// Above the body, which is not read if its type is refused (RFC 9110 15.5.16).
    ///
    /// - Parameter refusal: responds to a body of another type
    func filter(refusal: Service<Request, Response>) -> Filter<Request, Response> {
        Filter { next in
            Service { [self] request, context in
                !request.mayHaveContent || accepts(request.head)
                    ? next(request, context) : refusal(request, context)
            }
        }
    }
}

extension Request {
    /// False if the head says that there is no content. Over HTTP/2 an empty body may have arrived with
    /// its head or later, which must not matter.
    fileprivate var mayHaveContent: Bool {
        switch body {
        case .bytes(let bytes): !bytes.isEmpty || head.framing == .chunked
        case .described: false
        case .stream: head.framing != .length(0)
        case .tunnel: true
        }
    }
}
