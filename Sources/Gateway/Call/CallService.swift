import Basics
import HTTP
import HTTPClient
import Promises

/// What one call asks of its backend: everything but the host, which is chosen last.
struct CallRequest {
    let method: Method
    /// Path and query, without the prefix of the host's URL.
    let target: Target
    /// The header lines of the call, its backend and the client's request, each name from one of them.
    let fields: Fields
    let body: Bytes
    /// Of the answer, in bytes.
    let answerMax: Int
    /// When the answer is of no use any more; told to the backend as the time left.
    let deadline: Instant
    /// Where the endpoint tells its clients which host was asked; else nil.
    let askedHost: AskedHost?
}

/// A call goes out, the promise of a backend's answer comes back. Rejects with a `CallFailure`, or
/// with the `ClientFailure` of the connection.
typealias CallService = (CallRequest, Exchange) -> Local<ClientResponse>

/// A call service around a call service; a struct for the same reason as `Filter`.
struct CallFilter {
    private let wrap: (@escaping CallService) -> CallService

    init(_ wrap: @escaping (@escaping CallService) -> CallService) {
        self.wrap = wrap
    }

    /// The service with this filter before it.
    func around(_ service: @escaping CallService) -> CallService { wrap(service) }
}

extension [CallFilter] {
    /// The chain as one service: the first filter sees a call first and its answer last.
    func around(_ service: @escaping CallService) -> CallService {
        var chain = service
        for filter in reversed() { chain = filter.around(chain) }
        return chain
    }
}
