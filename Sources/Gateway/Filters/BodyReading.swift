import Basics
import HTTP
import Promises
import Reactor

/// Takes in the whole body, up to the endpoint's limit, before anything else looks at the request.
///
/// A body that is too large or malformed goes on as such, so that its refusal is an answer of the
/// endpoint like any other; the clock starts then with the refusal.
enum BodyReading {
    static func filter(upTo limit: Int, loop: any Loop) -> Filter<Request, Response> {
        Filter { next in
            Service { request, exchange in
                if case .bytes(let bytes) = request.body, bytes.count <= limit {
                    return next(request, exchange)
                }
                let core = exchange.core
                return request.body.collect(upTo: limit, on: core)
                    .map { Body.bytes($0) }
                    .recover(only: BodyTooLarge.self) {
                        core.value(.stream(RefusedBody($0, on: core)))
                    }
                    .recover(only: WireError.self) {
                        core.value(.stream(RefusedBody($0, on: core)))
                    }
                    .then { body in
                        exchange.lastByte = loop.now
                        return next(Request(head: request.head, body: body), exchange)
                    }
            }
        }
    }
}
