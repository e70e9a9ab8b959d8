import Basics
import HTTP
import HTTP2

/// Writes the heads of requests to streams of HTTP/2 (RFC 9113 8.3.1), each into the same buffer.
/// Owned by a pool, shared by its connections, confined to their loop.
final class H2RequestWriter {
    private var text = H2RequestText()
    private let isSecure: Bool

    /// - Parameter isSecure: the connections use TLS
    init(isSecure: Bool) {
        self.isSecure = isSecure
    }

    /// Sends the head on a new stream; nil if the connection takes no more streams.
    ///
    /// - Parameter endsStream: no body follows
    func write(
        _ call: PendingCall, to session: H2Session, endsStream: Bool,
        handler: any H2StreamEvents
    ) -> H2Stream? {
        text.write(call, to: session, isSecure: isSecure, endsStream: endsStream, handler: handler)
    }
}

/// The lines of one head, and the memory for the next.
private struct H2RequestText: ~Copyable {
    private var lines = TextBuffer()

    /// The size of the buffer that is kept after a large head, in bytes.
    ///
    /// 16 KiB: more than usual heads, and little memory per pool.
    private static let retainedBytesMax = 16 * 1024

    mutating func write(
        _ call: PendingCall, to session: H2Session, isSecure: Bool, endsStream: Bool,
        handler: any H2StreamEvents
    ) -> H2Stream? {
        let request = call.request
        lines.removeAll(keepingCapacityUpTo: Self.retainedBytesMax)
        lines.append(request.template.fields)
        if !request.fields.isEmpty { lines.append(request.fields) }
        if let exchange = request.exchange { lines.append(exchange) }
        if let stream = call.stream { append(stream) }
        appendLength(of: request)
        return session.sendRequest(
            H2RequestLine(
                request.method, request.target, authority: request.template.host,
                isSecure: isSecure),
            lines: lines.span, endsStream: endsStream, handler: handler, at: call.pool.now)
    }

    /// RFC 9113 8.2.2: `TE` is the only field of the connection that HTTP/2 has.
    private mutating func append(_ call: any StreamedCall) {
        if call.expectsContinue { lines.append(literal: "Expect: 100-continue\r\n") }
        if call.acceptsTrailers { lines.append(literal: "TE: trailers\r\n") }
    }

    /// As with HTTP/1.1; the end of the stream replaces chunks.
    private mutating func appendLength(of request: ClientRequest) {
        switch RequestFraming(of: request.body) {
        case .length(0) where !request.method.anticipatesBody: break
        case .length(let count): lines.append(contentLength: count)
        case .chunked: break
        }
    }
}
