import Basics
package import HTTP

/// A request that an endpoint refuses; its response lists everything that is wrong with it.
package enum RefusedRequest: Error {
    case invalid(InvalidRequest)
    /// The body exceeds the endpoint's `max_body`.
    case tooLarge
    /// The body ends early or is not valid HTTP.
    case malformed(WireError)
    /// Too many requests are in flight.
    case overloaded

    /// The body, which has been read before.
    static func body(of request: Request) throws(RefusedRequest) -> Bytes {
        switch request.body {
        case .bytes(let bytes): return bytes
        case .described, .tunnel: return Bytes()
        case .stream(let source):
            // Complete bodies never reach this cast, so only refused ones pay for it.
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

    func response(to context: RequestContext) -> Response {
        let problem = Problem(status, instance: context.id)
        return switch self {
        case .invalid(let invalid): problem.with("errors", json: invalid.json).response()
        case .tooLarge, .malformed: problem.response()
        case .overloaded: problem.response([.retryAfter: "1"])
        }
    }
}
