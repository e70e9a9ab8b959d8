import Basics
import HTTP
import Promises
import Reactor

/// The services that the demo's endpoints call. One fails and one is slow, both at fixed intervals,
/// so that every run looks the same.
final class DemoBackends {
    private let local: LocalContext
    private var stockRequests = 0
    private var reviewRequests = 0

    init(local: LocalContext) {
        self.local = local
    }

    /// Their names in the demo's configuration, and their handlers.
    var services: [(name: String, service: (Request, Exchange) -> LocalPromise<Response>)] {
        [("catalog", catalog), ("stock", stock), ("reviews", reviews), ("users", users)]
    }

    private func catalog(_ request: Request, _ exchange: Exchange) -> LocalPromise<Response> {
        switch String(request.head.target.path) {
        case "/items/42": json(#"{"id":42,"name":"Lamp","price":19.90}"#)
        case "/news": json(#"["Lamps are back","Free shipping"]"#)
        case "/for/lamps": json(#"[{"id":42},{"id":43}]"#)
        default: json(#"{"error":"no such thing"}"#, .notFound)
        }
    }

    /// Every third response is an error.
    private func stock(_ request: Request, _ exchange: Exchange) -> LocalPromise<Response> {
        stockRequests += 1
        guard stockRequests % 3 != 0 else {
            return json(#"{"error":"flaky"}"#, .internalServerError)
        }
        return json(#"{"available":7,"internal_cost":3}"#)
    }

    /// Every other response takes a second.
    private func reviews(_ request: Request, _ exchange: Exchange) -> LocalPromise<Response> {
        reviewRequests += 1
        let response = json(#"{"items":[{"stars":5},{"stars":4}],"total":2}"#)
        guard reviewRequests % 2 != 0 else { return response }
        return response.delayed(by: .seconds(1))
    }

    private func users(_ request: Request, _ exchange: Exchange) -> LocalPromise<Response> {
        guard request.head.method == .post else {
            return json(#"{"name":"Ann","segment":"lamps"}"#)
        }
        return request.body.collect(upTo: 64 << 10, on: local).then { [self] body in
            String(body).contains(#""password":"good""#)
                ? json(#"{"token":"t1"}"#).delayed(by: .milliseconds(150))
                : json(#"{"error":"unknown user"}"#, .unauthorized)
        }
    }

    private func json(_ text: String, _ status: Status = .ok) -> LocalPromise<Response> {
        local.value(
            Response(
                status: status, fields: [.contentType: "application/json"], body: Bytes(text)))
    }
}
