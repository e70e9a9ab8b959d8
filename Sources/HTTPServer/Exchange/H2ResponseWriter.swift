import Basics
import HTTP
import HTTP2
import Reactor

/// Writes the heads of responses to HTTP/2 streams. One per server, so that all responses of a
/// worker share its buffer and its date text.
struct H2ResponseWriter: ~Copyable {
    private var lines = TextBuffer()
    private var date = DateCache()

    /// Writes the head of a response; its body follows unless the head ends the stream.
    ///
    /// - Parameters:
    ///   - length: of the body, where it is stated
    ///   - unixTime: nanoseconds since 1970
    mutating func writeHead(
        _ response: Response, length: Int?, of exchange: Exchange, unixTime: Int64,
        endsStream: Bool, to stream: H2Stream, of session: H2Session
    ) {
        lines.removeAll()
        if !response.hasDate { date.append(to: &lines, unixTime: unixTime) }
        lines.append(literal: "X-Request-Id: ")
        lines.append(exchange.id)
        lines.append(literal: "\r\n")
        lines.append(response.fields)
        lines.append(exchange.responseFields)
        if let length { lines.append(contentLength: length) }
        session.sendResponse(
            response.status, lines: lines.span, on: stream, endsStream: endsStream)
    }

    /// Writes an interim response (RFC 9110 15.2).
    mutating func writeInterim(
        _ status: Status, _ fields: Fields, to stream: H2Stream, of session: H2Session
    ) {
        lines.removeAll()
        lines.append(fields)
        session.sendResponse(status, lines: lines.span, on: stream, endsStream: false)
    }
}
