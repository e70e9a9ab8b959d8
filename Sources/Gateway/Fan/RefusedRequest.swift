import Basics
import HTTP

/// A request that an endpoint does not take: the answer says everything that is wrong with it.
enum RefusedRequest: Error {
    case invalid(InvalidRequest)
    case tooLarge

    /// Parameters and body of a request, checked together.
    static func check(
        _ request: Request, _ plan: EndpointPlan
    ) throws(RefusedRequest) -> (Params, Bytes) {
        let body = try body(of: request)
        var errors: [InvalidRequest.Fault] = []
        var params = Params()
        do throws(InvalidRequest) { params = try Params(plan.params, of: request.head) } catch {
            errors = error.errors
        }
        do throws(InvalidRequest) { _ = try plan.body?.check(body) } catch {
            errors += error.errors
        }
        guard errors.isEmpty else { throw .invalid(InvalidRequest(errors: errors)) }
        return (params, body)
    }

    /// The body, which has been read before.
    private static func body(of request: Request) throws(RefusedRequest) -> Bytes {
        switch request.body {
        case .none, .arriving: Bytes()
        case .complete(let bytes): bytes
        case .refused: throw .tooLarge
        }
    }

    func answer(to exchange: Exchange) -> Response {
        switch self {
        case .invalid(let invalid):
            Problem(.badRequest, instance: exchange.id).with("errors", json: invalid.json).response()
        case .tooLarge: Problem(.contentTooLarge, instance: exchange.id).response()
        }
    }
}
