package import Basics

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
    case tunnel(any BodySource & BodySink)
}

/// Delivers a body piece by piece: a connection that is being read. Confined to its loop.
package protocol BodySource: AnyObject {
    /// How the end of the body is found, and its length where it is known.
    var framing: BodyFraming { get }

    /// Delivers the body to a sink. Called once; it never calls the sink before it returns.
    func startDelivery(to sink: any BodySink)

    /// Stops the delivery. One more piece may arrive.
    func pause()

    /// Continues a paused delivery.
    func resume()

    /// The rest is not needed. The sink is not called any more.
    func cancel()
}

/// Receives a body piece by piece. Exactly one of `bodyEnded` and `bodyFailed` is its last call,
/// unless the source is cancelled.
package protocol BodySink: AnyObject {
    /// The next bytes, which are valid during the call only.
    func bodyReceived(_ piece: Span<UInt8>)

    /// The body is complete.
    func bodyEnded(trailers: Fields)

    /// The rest of the body does not arrive.
    func bodyFailed(_ error: any Error)
}
