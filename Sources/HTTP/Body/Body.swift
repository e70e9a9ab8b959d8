package import Basics
package import Promises

/// The content of a request or a response, on the side of the clients and of the backends.
///
/// A call and an exchange end when their body ends. That is at once for `bytes` and `described`; the
/// source of a `stream` or a `tunnel` reports it to its sink.
package enum Body {
    /// All of it, in memory.
    case bytes(Bytes)
    /// No content, although its length may be stated: the response to a HEAD request, and 304
    /// (RFC 9110 8.6).
    case described(length: Int?)
    /// It arrives piece by piece.
    case stream(any BodySource)
    /// Bytes in both directions, after a response with status 101 (RFC 9110 7.8).
    case tunnel(any Tunnel)
}

/// Delivers a body piece by piece, for example from a connection. Confined to its loop.
package protocol BodySource: AnyObject {
    /// How the end of the body is found, and its length where it is known.
    var framing: BodyFraming { get }

    /// The exchange whose memory a sink uses to store the body; nil if its memory is not limited.
    var memoryOwner: (any MemoryOwner)? { get }

    /// Whether the exchange still works for the body, so that its request counts as one in flight until the end.
    var worksForRequest: Bool { get }

    /// All of the body, if it has arrived and no trailers have, and its length was stated; the delivery
    /// is then over. Nil otherwise, and for a source that never has all of it.
    func takeComplete() -> Bytes?

    /// Delivers the body to a sink. Called once; it never calls the sink before it returns.
    func startDelivery(to sink: any BodySink)

    /// Stops the delivery. One more piece may arrive.
    func pause()

    /// Continues a paused delivery.
    func resume()

    /// The rest is not needed. The sink is not called any more.
    func cancel()
}

extension BodySource {
    package var memoryOwner: (any MemoryOwner)? { nil }

    package var worksForRequest: Bool { false }

    package func takeComplete() -> Bytes? { nil }
}

/// Receives a body piece by piece. Exactly one of `bodyEnded` and `bodyFailed` is its last call,
/// unless the source is cancelled.
package protocol BodySink: AnyObject {
    /// Whether the sink itself ends a body that takes too long, so that its source sets no limit.
    var limitsTime: Bool { get }

    /// The bytes passed to it that its peer has not taken yet; 0 if it does not know. May be a system call.
    var pendingBytes: Int { get }

    /// The next bytes, which are valid during the call only.
    func bodyReceived(_ piece: Span<UInt8>)

    /// The body is complete.
    func bodyEnded(trailers: Fields)

    /// The rest of the body does not arrive.
    func bodyFailed(_ error: any Error)
}

/// A connection that has switched to another protocol (RFC 9110 7.8), as a source of the bytes that
/// arrive on it. Confined to its loop.
package protocol Tunnel: BodySource {
    /// The name of the protocol, as it stands in `Upgrade`.
    var protocolName: FieldValue { get }

    /// Sends the bytes of a source until its end, which ends the sending side of the connection.
    /// Called once, after `startDelivery`.
    func send(from source: any BodySource)
}

extension BodySink {
    package var limitsTime: Bool { false }
    package var pendingBytes: Int { 0 }
}

/// Pays for the memory of what is stored for a request: its exchange, which the folder of bodies does not
/// know.
package protocol MemoryOwner: AnyObject {
    /// Reserves memory until the end of the exchange, in bytes; false if the budget is exhausted.
    func reserve(_ count: Int) -> Bool
}

extension Body {
    /// No content.
    package static var empty: Body { .bytes(Bytes()) }

    /// The source of a body that is delivered in pieces.
    package var source: (any BodySource)? {
        switch self {
        case .bytes, .described: nil
        case .stream(let source): source
        case .tunnel(let source): source
        }
    }

    /// The complete body, of at most `limit` bytes.
    ///
    /// A streamed body is read from this call on: a server therefore sends `100 Continue` only when
    /// the body is needed, and checks the limit before it stores the first byte. Rejects with
    /// `BodyTooLarge`, with `BufferedBytesExceeded`, and with the error of its source.
    package func collect(upTo limit: Int, on local: LocalContext) -> LocalPromise<Bytes> {
        switch self {
        case .bytes(let bytes) where bytes.count <= limit: local.value(bytes)
        case .bytes: local.error(BodyTooLarge(limit: limit))
        case .described: local.value(Bytes())
        case .stream(let source): BodyCollector.collect(source, upTo: limit, on: local)
        case .tunnel(let source): BodyCollector.collect(source, upTo: limit, on: local)
        }
    }
}

/// A body that exceeds its reader's limit: 413 for a client.
package struct BodyTooLarge: Error {
    /// In bytes.
    package let limit: Int

    package init(limit: Int) {
        self.limit = limit
    }
}

/// The request limit was reached when the last byte of the body arrived: 503 for a client.
package struct RequestLimitReached: Error {
    package init() {}
}

/// A body that exceeds the byte budget of its exchange: 503 for a client.
package struct BufferedBytesExceeded: Error {
    package init() {}
}
