import Basics
import HTTP
import HTTPClient
import Promises

/// What one call asks of its backend: everything but the host, which is chosen last.
struct CallRequest {
    let method: Method
    /// Path and query, without the prefix of the host's URL.
    let target: Target
    /// The fields of the backend's configuration that the call does not replace.
    let constantFields: Fields
    /// The fields of the call and of the client's request. No name is among `constantFields`, too.
    let fields: Fields
    let body: Bytes
    /// Of the answer, in bytes.
    let answerMax: Int
    /// When the answer is of no use any more; told to the backend as the time left.
    let deadline: Instant
    /// Where the endpoint tells its clients which host was asked; else nil.
    var askedHost: AskedHost?
}

/// Sends a call to its backend and promises the response. Rejects with a `CallFailure`, or with the
/// `ClientFailure` of the connection.
typealias CallService = Service<CallRequest, ClientResponse>

/// A filter of calls.
typealias CallFilter = Filter<CallRequest, ClientResponse>
