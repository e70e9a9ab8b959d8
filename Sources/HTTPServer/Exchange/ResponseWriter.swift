import Basics
import HTTP
import Reactor

/// Writes responses to HTTP/1.1 streams: head and complete body with one call, or the head of a
/// streamed response and then its pieces. One per server, so that all responses of a worker share
/// its buffer and its date text.
struct ResponseWriter: ~Copyable {
    private var head = TextBuffer()
    private var date = DateCache()

    /// The context of a response: its request and connection.
    struct Context {
        let requestID: RequestID
        /// Extra header fields for every response to this request.
        let commonFields: Fields
        /// The request was a HEAD: the body is described and not sent (RFC 9110 9.3.2).
        let answersHead: Bool
        let version: HTTPVersion
        let keepsAlive: Bool
        /// Nanoseconds since 1970.
        let unixTime: Int64
        /// The bytes of the head that were sent already.
        let bytesSent: Int

        /// The context of the response to a request.
        init(
            _ requestID: RequestID, _ commonFields: Fields, to head: RequestHead,
            keepsAlive: Bool, unixTime: Int64, bytesSent: Int = 0
        ) {
            self.requestID = requestID
            self.commonFields = commonFields
            answersHead = head.isHead
            version = head.version
            self.keepsAlive = keepsAlive
            self.unixTime = unixTime
            self.bytesSent = bytesSent
        }
    }

    /// Writes a response with a complete body; returns the number of body bytes written.
    mutating func write(
        _ response: Response, _ context: Context, to stream: any ByteStream
    ) -> Int {
        let body = response.completeBody
        appendBeginOfHead(response, context)
        if let length = response.statedLength(toHead: context.answersHead) {
            head.append(contentLength: length)
        }
        appendEndOfHead(context)
        let sendsBody = !context.answersHead && !response.status.forbidsBody
        stream.write(
            head.span.extracting(droppingFirst: context.bytesSent), sendsBody ? body.span : Span())
        return sendsBody ? body.count : 0
    }

    /// Writes the head of a streamed response.
    mutating func writeHead(
        _ response: Response, _ framing: BodyFraming, _ context: Context,
        to stream: any ByteStream
    ) {
        appendBeginOfHead(response, context)
        switch framing {
        case .none: head.append(contentLength: 0)
        case .length(let length): head.append(contentLength: length)
        case .chunked: head.append(literal: "Transfer-Encoding: chunked\r\n")
        case .untilClose: break
        }
        appendEndOfHead(context)
        stream.write(head.span.extracting(droppingFirst: context.bytesSent))
    }

    /// Writes the head of a response that switches to another protocol (RFC 9110 7.8).
    mutating func writeUpgrade(
        _ response: Response, _ protocolName: FieldValue, _ context: Context,
        to stream: any ByteStream
    ) {
        appendBeginOfHead(response, context)
        head.append(literal: "Connection: Upgrade\r\nUpgrade: ")
        head.append(protocolName.bytes)
        head.append(literal: "\r\n")
        head.appendEndOfHead()
        stream.write(head.span.extracting(droppingFirst: context.bytesSent))
    }

    /// Writes a piece of a body as a chunk (RFC 9112 7.1).
    mutating func writeChunk(_ piece: Span<UInt8>, to stream: any ByteStream) {
        head.removeAll()
        head.append(chunkSize: piece.count)
        stream.write(head.span, piece)
        stream.write(Self.lineEnd.span)
    }

    /// Writes the end of a chunked body.
    mutating func writeLastChunk(_ trailers: Fields, to stream: any ByteStream) {
        head.removeAll()
        head.appendLastChunk(trailers)
        stream.write(head.span)
    }

    /// Writes an interim response (RFC 9110 15.2).
    ///
    /// - Parameter bytesSent: of the head, which were sent already
    mutating func writeInterim(
        _ status: Status, _ fields: Fields, bytesSent: Int, to stream: any ByteStream
    ) {
        head.removeAll()
        head.append(statusLine: status)
        head.append(fields)
        head.appendEndOfHead()
        stream.write(head.span.extracting(droppingFirst: bytesSent))
    }

    private static let lineEnd = Bytes("\r\n")

    private mutating func appendBeginOfHead(
        _ response: Response, _ context: Context
    ) {
        head.removeAll()
        head.append(statusLine: response.status)
        if !response.hasDate { date.append(to: &head, unixTime: context.unixTime) }
        head.append(literal: "X-Request-Id: ")
        head.append(context.requestID)
        head.append(literal: "\r\n")
        head.append(response.fields)
        head.append(context.commonFields)
    }

    /// RFC 9112 9.3: `Connection` is stated where it differs from the default of the version.
    private mutating func appendEndOfHead(_ context: Context) {
        if !context.keepsAlive {
            head.append(literal: "Connection: close\r\n")
        } else if context.version == .http10 {
            head.append(literal: "Connection: keep-alive\r\n")
        }
        head.appendEndOfHead()
    }
}

extension Response {
    /// Whether it is passed on from a backend that states the date (RFC 9110 6.6.1). This program's
    /// own responses never have the field.
    var hasDate: Bool { isProxied && fields.contains(.date) }

    /// The value of `Content-Length` (RFC 9110 8.6): none with 204; with 304 the length of the 200,
    /// which only a described body contains.
    func statedLength(toHead answersHead: Bool) -> Int? {
        switch body {
        case .bytes(let bytes): return status.forbidsBody ? nil : bytes.count
        case .described(let length) where answersHead && !status.forbidsBody: return length
        case .described(let length) where status.code == 304: return length
        case .described, .stream, .tunnel: return status.forbidsBody ? nil : 0
        }
    }
}
