package import Basics
package import Promises

/// A client's request: its head, and its body when somebody asks for it.
package struct Request {
    package var head: RequestHead
    package var body: RequestBody

    package init(head: RequestHead, body: RequestBody) {
        self.head = head
        self.body = body
    }
}

/// The body of a request, asked for by the one who wants it and knows how large it may be.
///
/// Nothing is read ahead of the question, so a server sends `100 Continue` exactly when a body is
/// wanted, and the limit of an endpoint holds before its first byte is kept.
package enum RequestBody {
    /// The request has none.
    case none
    /// It came together with the head.
    case complete(Bytes)
    /// It is still arriving: the closure asks for all of it, up to a limit in bytes, once.
    case arriving((_ limit: Int) -> Local<Bytes>)
    /// It was asked for, and is larger than it may be.
    case refused(BodyTooLarge)
    /// It was asked for, and its rest cannot be read.
    case malformed(WireError)

    /// All of the body, of at most `limit` bytes.
    ///
    /// Rejects with `BodyTooLarge`, and with `WireError` where the body breaks off or is malformed:
    /// that refusal is an answer of the service too; the connection ends behind it. A body that comes
    /// too slowly is answered by the server itself, which then cancels the exchange.
    package func collect(upTo limit: Int, on core: Core) -> Local<Bytes> {
        switch self {
        case .none: core.value(Bytes())
        case .complete(let bytes) where bytes.count <= limit: core.value(bytes)
        case .complete: core.error(BodyTooLarge(limit: limit))
        case .arriving(let collect): collect(limit)
        case .refused(let tooLarge): core.error(tooLarge)
        case .malformed(let error): core.error(error)
        }
    }
}

/// A body larger than its reader wants: 413 towards a client.
package struct BodyTooLarge: Error {
    /// In bytes.
    package let limit: Int

    package init(limit: Int) {
        self.limit = limit
    }
}
