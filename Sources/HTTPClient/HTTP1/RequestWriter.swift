import Basics
import HTTP
import Reactor

/// Writes requests as HTTP/1.1 (RFC 9112 3), each into the same buffer, so that a call allocates no
/// memory for its head. Owned by a pool, shared by its connections, confined to their loop.
final class RequestWriter {
    /// Empty between calls.
    private var buffer = TextBuffer()

    /// The size of the buffer that is kept after a large head, in bytes.
    ///
    /// 16 KiB: more than usual heads, and little memory per pool.
    private static let retainedBytesMax = 16 * 1024

    /// Writes the head, and the body if it is complete. The caller sends a streamed body.
    func write(_ request: ClientRequest, _ call: (any StreamedCall)?, to stream: any ByteStream) {
        buffer.append(headOf: request, call)
        switch request.body {
        case .bytes(let body): stream.write(buffer.span, body.span)
        case .described, .stream, .tunnel: stream.write(buffer.span)
        }
        buffer.removeAll(keepingCapacityUpTo: Self.retainedBytesMax)
    }
}

extension TextBuffer {
    /// Appends the head of a request, with the empty line that ends it.
    mutating func append(headOf request: ClientRequest, _ call: (any StreamedCall)? = nil) {
        append(request.method, request.target)
        append(request.template.lines)
        if !request.fields.isEmpty { append(request.fields) }
        if let exchange = request.exchange { append(exchange) }
        if let call { append(call) }
        appendFraming(of: request)
        appendEndOfHead()
    }

    /// RFC 9112 6.3; `Content-Length: 0` is stated where the method expects a body (RFC 9110 8.6).
    private mutating func appendFraming(of request: ClientRequest) {
        switch RequestFraming(of: request.body) {
        case .length(0) where !request.method.anticipatesBody: break
        case .length(let count): append(contentLength: count)
        case .chunked: append(literal: "Transfer-Encoding: chunked\r\n")
        }
    }
}
