import Basics
package import HTTP

/// A request that an endpoint does not take: the answer says everything that is wrong with it.
package enum RefusedRequest: Error {
    case invalid(InvalidRequest)
    /// The body exceeds the endpoint's `max_body`.
    case tooLarge
    /// The body breaks off, or is no HTTP.
    case malformed(WireError)
    /// Too many requests are at work.
    case overloaded

    /// The body, which has been read before.
    static func body(of request: Request) throws(RefusedRequest) -> Bytes {
        switch request.body {
        case .bytes(let bytes): return bytes
        case .described, .tunnel: return Bytes()
        case .stream(let source):
            // Complete bodies never come here, so that this cast is paid by refused ones only.
            guard let refused = source as? RefusedBody else { return Bytes() }
            switch refused.reason {
            case .tooLarge: throw .tooLarge
            case .malformed(let error): throw .malformed(error)
            case .overloaded: throw .overloaded
            }
        }
    }

    package var status: Status {
        switch self {
        case .invalid: .badRequest
        case .tooLarge: .contentTooLarge
        case .malformed(let error): error.status
        case .overloaded: .serviceUnavailable
        }
    }

    func answer(to exchange: Exchange) -> Response {
        let problem = Problem(status, instance: exchange.id)
        return switch self {
        case .invalid(let invalid): problem.with("errors", json: invalid.json).response()
        case .tooLarge, .malformed: problem.response()
        case .overloaded: problem.response([.retryAfter: "1"])
        }
    }
}
