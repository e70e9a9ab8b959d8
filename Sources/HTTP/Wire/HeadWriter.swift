package import Basics

/// Heads are appended to a buffer that their writer reuses. The types of all parts are checked, so
/// no call here can split a head. Fields that belong to the connection or frame the message are
/// dropped from `Fields`; the functions below write them, once.
extension TextBuffer {
    /// `HTTP/1.1 200 OK`, with the line end.
    package mutating func append(statusLine status: Status) {
        if status == .ok {
            append(literal: "HTTP/1.1 200 OK\r\n")
            return
        }
        append(literal: "HTTP/1.1 ")
        append(decimal: UInt64(status.code))
        append(UInt8(ascii: " "))
        append(literal: status.reason)
        append(literal: "\r\n")
    }

    /// A request line and `Host`.
    package mutating func append(requestLine method: Method, _ target: Target, host: FieldValue) {
        append(method, target)
        append(endOfRequestLine: host)
    }

    /// The beginning of a request line, up to its target.
    package mutating func append(_ method: Method, _ target: Target) {
        append(method)
        append(ASCII.space)
        append(originFormOf: target)
    }

    /// The end of a request line, and `Host`, which comes first as RFC 9110 7.2 recommends.
    package mutating func append(endOfRequestLine host: FieldValue) {
        append(literal: " HTTP/1.1\r\nHost: ")
        append(host.bytes)
        append(literal: "\r\n")
    }

    /// All lines, in one copy unless some of them must be dropped.
    package mutating func append(_ fields: Fields) {
        guard fields.mayHoldConnectionFields else {
            append(copying: fields.wireText)
            return
        }
        let text = fields.text.span
        var lines = FieldLines(from: fields.linesStart)
        while let line = lines.nextLine(in: text) {
            guard !FieldName.isOfConnection(text.extracting(line.name)) else { continue }
            append(copying: text.extracting(line.all))
        }
    }

    /// `Content-Length`.
    package mutating func append(contentLength: Int) {
        append(literal: "Content-Length: ")
        append(decimal: UInt64(contentLength))
        append(literal: "\r\n")
    }

    /// The empty line that ends a head.
    package mutating func appendEndOfHead() {
        append(literal: "\r\n")
    }
}
