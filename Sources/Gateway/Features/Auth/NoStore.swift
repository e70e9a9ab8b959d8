import HTTP
import Promises

/// Adds `Cache-Control: no-store` to the responses of an endpoint with `auth` that have no
/// `Cache-Control`: a shared cache must not send the response to one caller to another.
enum NoStore {
    static var filter: Filter<Request, Response> {
        Filter { next in
            Service { request, context in
                next(request, context).map { response in
                    guard !response.fields.contains(.cacheControl) else { return response }
                    var response = response
                    response.fields.append(.cacheControl, "no-store")
                    return response
                }
            }
        }
    }
}
