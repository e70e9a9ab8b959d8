import Basics
import HTTP

extension FuzzTarget {
    /// Requests on a server's connection.
    static let request = FuzzTarget(
        name: "request", tokens: wireTokens + ["GET ", "POST ", " HTTP/1.1", "Host: a", "*", "://"]
    ) { input in
        disagreement(input) { requests(in: $0) }
    }

    /// Answers on a backend's connection; the first byte says what they answer.
    static let response = FuzzTarget(
        name: "response", tokens: wireTokens + ["HTTP/1.1 ", "200 OK", "100", "101", "204", "304"]
    ) { input in
        let answersHead = input.first == UInt8(ascii: "H") && input.dropFirst().first == 0
        return disagreement(answersHead ? Array(input.dropFirst(2)) : input) {
            answers(in: $0, toHead: answersHead)
        }
    }

    /// A chunked body: what comes out is the same when it is written in one chunk and read again.
    static let chunked = FuzzTarget(
        name: "chunked", tokens: wireTokens + ["0\r\n\r\n", "5\r\nhello\r\n", ";a=b", "ffffffff"]
    ) { input in
        let head = Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        if let finding = disagreement(head + input, { requests(in: $0) }) { return finding }
        guard let body = requests(in: [head + input]).bodies.first else { return nil }
        var written = head
        written.append(chunk: body.span)
        written.appendLastChunk()
        let again = requests(in: [written]).bodies.first
        return again == body ? nil : "a body of \(body.count) bytes is not read as it was written"
    }

    private static let wireTokens = [
        "\r\n", "\r\n\r\n", "\r", "\n", "\0", " ", "\t", ":", ",", ";", "\u{7f}", "%",
        "Content-Length: 5", "Transfer-Encoding: chunked", "Connection: close", "Host",
        "Expect: 100-continue", "HTTP/1.0", "HTTP/1.1", "0", "5", "/",
    ]
}

/// What a reader made of a connection.
private struct Reading: Equatable {
    /// One line a message, then how it ended.
    var lines: [String] = []
    var bodies: [[UInt8]] = []
    /// Of complete messages: how many bytes of them come before an error depends on the pieces.
    var trailers: [UInt8] = []
    var interim: [String] = []
}

/// Nothing may depend on how the bytes were cut on their way.
private func disagreement(
    _ input: [UInt8], _ read: ([[UInt8]]) -> Reading
) -> String? {
    let whole = read([input])
    if read(input.map { [$0] }) != whole { return "byte by byte it is something else" }
    // The input itself says where: every place comes up in the end.
    let sum = input.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF }
    let cut = input.isEmpty ? 0 : sum % input.count
    if read([Array(input[..<cut]), Array(input[cut...])]) != whole {
        return "cut at \(cut) it is something else"
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
        // Which mistake is met first may depend on what has come; what the client is told may not.
        reading.lines.append("\(error.status)")
    }
    return reading
}

private func answers(in pieces: [[UInt8]], toHead: Bool) -> Reading {
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

/// The head as it would be written on: to be equal, it must be so byte for byte.
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
