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
                switch request.body {
                case .none, .refused, .malformed: return next(request, exchange)
                case .complete(let bytes) where bytes.count <= limit: return next(request, exchange)
                case .complete, .arriving: break
                }
                return request.body.collect(upTo: limit, on: exchange.core)
                    .map { RequestBody.complete($0) }
                    .recover(only: BodyTooLarge.self) { exchange.core.value(.refused($0)) }
                    .recover(only: WireError.self) { exchange.core.value(.malformed($0)) }
                    .then { body in
                        exchange.lastByte = loop.now
                        return next(Request(head: request.head, body: body), exchange)
                    }
            }
        }
    }
}
