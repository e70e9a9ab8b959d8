import Basics
import HTTP
import Promises
import Reactor

/// Reads the whole body, up to the endpoint's limit, before any other filter sees the request.
///
/// A body that is too large or malformed, or whose request exceeds the limit of requests in flight,
/// is passed on as a `RefusedBody`: so its rejection is a response of the endpoint like any other,
/// whose padding counts from the refusal.
enum BodyReading {
    static func filter(upTo limit: Int, loop: any Loop) -> Filter<Request, Response> {
        Filter { next in
            Service { request, context in
                if case .bytes(let bytes) = request.body, bytes.count <= limit {
                    context.record.bodyBytes = bytes.count
                    return next(request, context)
                }
                let local = context.local
                context.record.bodyAwaited(at: loop.now)
                return request.body.collect(upTo: limit, on: local)
                    .map { Body.bytes($0) }
                    .recover { error in
                        guard let refused = RefusedBody(error, on: local) else { throw error }
                        return local.value(.stream(refused))
                    }
                    .then { body in
                        context.requestReceived = loop.now
                        context.record.bodyEnded(at: loop.now)
                        if case .bytes(let bytes) = body {
                            context.record.bodyBytes = bytes.count
                        }
                        return next(Request(head: request.head, body: body), context)
                    }
            }
        }
    }
}
