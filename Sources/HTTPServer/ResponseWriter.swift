import Basics
import HTTP
import Reactor

/// Writes whole answers to streams: head and body with one call. One per server, so that its buffer
/// and the text of the date are used again by every answer of the core.
struct ResponseWriter {
    private var head: [UInt8] = []
    private var date = DateCache()

    /// What an answer depends on besides itself.
    struct Circumstances {
        let requestID: RequestID
        /// The request was a HEAD: the body is described and left out (RFC 9110 9.3.2).
        let answersHead: Bool
        let version: HTTPVersion
        let keepsAlive: Bool
        /// Nanoseconds since 1970.
        let unixTime: Int64

        /// The answer to a request.
        init(_ requestID: RequestID, to head: RequestHead, keepsAlive: Bool, unixTime: Int64) {
            self.requestID = requestID
            answersHead = head.method == .head
            version = head.version
            self.keepsAlive = keepsAlive
            self.unixTime = unixTime
        }

        /// A refusal of something that is no request, or not a whole one; the connection ends.
        init(refusing requestID: RequestID, answersHead: Bool, unixTime: Int64) {
            self.requestID = requestID
            self.answersHead = answersHead
            version = .http11
            keepsAlive = false
            self.unixTime = unixTime
        }
    }

    /// Writes an answer; gives the bytes of its body that were written.
    mutating func write(
        _ response: Response, _ circumstances: Circumstances, to stream: any ByteStream
    ) -> Int {
        head.removeAll(keepingCapacity: true)
        head.append(statusLine: response.status)
        date.append(to: &head, unixTime: circumstances.unixTime)
        head.append(literal: "X-Request-Id: ")
        head.append(circumstances.requestID)
        head.append(literal: "\r\n")
        head.append(response.fields)
        // RFC 9110 8.6: never with 204. A 304 would have to know the length of the 200.
        if !response.status.forbidsBody { head.append(contentLength: response.body.count) }
        appendConnection(circumstances)
        head.appendEndOfHead()
        let sendsBody = !circumstances.answersHead && !response.status.forbidsBody
        stream.write(head.span, sendsBody ? response.body.span : Span())
        return sendsBody ? response.body.count : 0
    }

    /// RFC 9112 9.3: said where it differs from what the version implies.
    private mutating func appendConnection(_ circumstances: Circumstances) {
        if !circumstances.keepsAlive {
            head.append(literal: "Connection: close\r\n")
        } else if circumstances.version == .http10 {
            head.append(literal: "Connection: keep-alive\r\n")
        }
    }
}
