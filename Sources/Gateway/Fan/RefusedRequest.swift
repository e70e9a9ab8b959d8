import Basics
import HTTP
import Patterns

/// A request that an endpoint does not take: the answer says everything that is wrong with it.
enum RefusedRequest: Error {
    case invalid(InvalidRequest)
    case tooLarge
    /// The body breaks off, or is no HTTP.
    case malformed(WireError)
    /// Too many requests are at work.
    case overloaded

    /// Parameters and body of a request, checked together.
    static func check(
        _ request: Request, _ plan: EndpointPlan
    ) throws(RefusedRequest) -> RequestInput {
        var input = RequestInput(params: Params(), body: try body(of: request))
        var errors: [InvalidRequest.Fault] = []
        var work = PatternWork()
        do throws(InvalidRequest) {
            input.params = try Params(plan.params, of: request.head, &work)
        } catch {
            errors = error.errors
        }
        do throws(InvalidRequest) {
            input.bodyValue = try plan.body?.check(input.body, &work)
        } catch {
            errors += error.errors
        }
        guard errors.isEmpty else { throw .invalid(InvalidRequest(errors: errors)) }
        return input
    }

    /// The body, which has been read before.
    private static func body(of request: Request) throws(RefusedRequest) -> Bytes {
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

    func answer(to exchange: Exchange) -> Response {
        switch self {
        case .invalid(let invalid):
            Problem(.badRequest, instance: exchange.id).with("errors", json: invalid.json)
                .response()
        case .tooLarge: Problem(.contentTooLarge, instance: exchange.id).response()
        case .malformed(let error): Problem(error.status, instance: exchange.id).response()
        case .overloaded:
            Problem(.serviceUnavailable, instance: exchange.id).response([.retryAfter: "1"])
        }
    }
}
