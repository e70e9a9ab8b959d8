import Basics
import HTTP

extension FuzzTarget {
    /// Requests on a server's connection.
    static let request = FuzzTarget(
        name: "request", tokens: wireTokens + ["GET ", "POST ", " HTTP/1.1", "Host: a", "*", "://"]
    ) { input in
        pieceDependence(input) { requests(in: $0) }
    }

    /// Responses on a backend's connection; the first byte selects the request's method.
    static let response = FuzzTarget(
        name: "response", tokens: wireTokens + ["HTTP/1.1 ", "200 OK", "100", "101", "204", "304"]
    ) { input in
        let answersHead = input.first == UInt8(ascii: "H") && input.dropFirst().first == 0
        return pieceDependence(answersHead ? Array(input.dropFirst(2)) : input) {
            responses(in: $0, toHead: answersHead)
        }
    }

    /// A chunked body: the decoded body is the same after writing it in one chunk and reading it
    /// again.
    static let chunked = FuzzTarget(
        name: "chunked", tokens: wireTokens + ["0\r\n\r\n", "5\r\nhello\r\n", ";a=b", "ffffffff"]
    ) { input in
        let head = Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        if let violation = pieceDependence(head + input, { requests(in: $0) }) { return violation }
        guard let body = requests(in: [head + input]).bodies.first else { return nil }
        var written = TextBuffer()
        written.append(copying: head.span)
        written.append(chunk: body.span)
        written.appendLastChunk()
        let again = requests(in: [Bytes(copying: written.span).array]).bodies.first
        return again == body
            ? nil : "a body of \(body.count) bytes changes when it is written and read"
    }

    private static let wireTokens = [
        "\r\n", "\r\n\r\n", "\r", "\n", "\0", " ", "\t", ":", ",", ";", "\u{7f}", "%",
        "Content-Length: 5", "Transfer-Encoding: chunked", "Connection: close", "Host",
        "Expect: 100-continue", "HTTP/1.0", "HTTP/1.1", "0", "5", "/",
    ]
}

/// The messages that a reader read from a connection.
private struct Reading: Equatable {
    /// One line a message, then the final state.
    var lines: [String] = []
    var bodies: [[UInt8]] = []
    /// Trailers of complete messages: how many bytes arrive before an error depends on the pieces.
    var trailers: [UInt8] = []
    var interim: [String] = []
}

/// The result must not depend on how the bytes are divided into pieces.
private func pieceDependence(
    _ input: [UInt8], _ read: ([[UInt8]]) -> Reading
) -> String? {
    let whole = read([input])
    if read(input.map { [$0] }) != whole { return "read byte by byte, the result differs" }
    // The input determines the offset, so that all offsets occur.
    let sum = input.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF }
    let cut = input.isEmpty ? 0 : sum % input.count
    if read([Array(input[..<cut]), Array(input[cut...])]) != whole {
        return "divided at \(cut), the result differs"
    }
    return nil
}

private func requests(in pieces: [[UInt8]]) -> Reading {
    var reader = RequestReader(limits: Limits())
    var reading = Reading()
    var message = ""
    var body: [UInt8] = []
    var trailers: [UInt8] = []
    do throws(WireError) {
        for piece in pieces {
            var position = 0
            pieces: while true {
                switch try reader.read(piece.span, from: &position) {
                case .head(let head): message = describe(head)
                case .body(let range): body += piece[range]
                case .trailers(let range): trailers += piece[range]
                case .complete:
                    reading.lines.append("\(message) \(body.count)")
                    reading.bodies.append(body)
                    body = []
                    reading.trailers += trailers
                    trailers = []
                case .needsMore: break pieces
                }
            }
        }
        try reader.end()
    } catch {
        // Which error is detected first may depend on the pieces; the status for the client may
        // not.
        reading.lines.append("\(error.status)")
    }
    return reading
}

private func responses(in pieces: [[UInt8]], toHead: Bool) -> Reading {
    var reader = ResponseReader(limits: Limits())
    reader.answersHead = toHead
    var reading = Reading()
    var message = ""
    var body: [UInt8] = []
    var trailers: [UInt8] = []
    do throws(WireError) {
        for piece in pieces {
            var position = 0
            pieces: while true {
                switch try reader.read(piece.span, from: &position) {
                case .interim(let head):
                    reading.interim.append("\(head.status) \(describe(head.fields))")
                case .head(let head):
                    message = "\(head.status) \(head.keepsAlive) \(describe(head.fields))"
                case .body(let range): body += piece[range]
                case .trailers(let range): trailers += piece[range]
                case .complete:
                    reading.lines.append("\(message) \(body.count)")
                    reading.bodies.append(body)
                    body = []
                    reading.trailers += trailers
                    trailers = []
                case .needsMore: break pieces
                }
            }
        }
        if try reader.end() { reading.bodies.append(body) }
    } catch {
        reading.lines.append("broken")
    }
    return reading
}

/// The head as it would be forwarded, for comparison byte by byte.
private func describe(_ head: RequestHead) -> String {
    let target = head.target
    let parts = [
        "\(head.method)", "\(target)", String(target.path), String(target.query ?? Bytes()),
        String(target.authority ?? Bytes()), "\(target.segments.map { $0.count })",
        "\(target.parameters.map { $0.decodedValue?.count ?? -1 })", "\(head.version)",
        "\(head.keepsAlive)", "\(head.expectsContinue)", describe(head.fields),
    ]
    return parts.joined(separator: " ")
}

private func describe(_ fields: Fields) -> String {
    fields.map { field in "\(String(field.name)):\(String(field.value))" }
        .joined(separator: ";")
}
