import Basics
import HTTP
import Testing

/// The bytes of a Latin-1 text, so that a fixture can hold any byte: `\u{ff}` is the byte 0xFF.
func latin1(_ text: String) -> [UInt8] {
    text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
}

/// The messages that a reader found, one line each, and how the connection ended.
struct Transcript: Equatable, CustomStringConvertible {
    var lines: [String] = []
    /// The statuses of interim responses.
    var interim: [String] = []
    /// The trailer fields of complete messages, as they stand on the wire.
    var trailers = ""

    var description: String { lines.joined(separator: " | ") }
}

/// Reads requests from bytes that arrive in the given pieces.
func transcript(
    ofRequests pieces: [[UInt8]], limits: Limits = Limits(), thenEnds: Bool = false
) -> Transcript {
    var reader = RequestReader(limits: limits)
    var transcript = Transcript()
    var message = ""
    var body: [UInt8] = []
    var trailers = ""
    do throws(WireError) {
        for piece in pieces {
            let bytes = piece.span
            var position = 0
            reading: while true {
                switch try reader.read(bytes, from: &position) {
                case .head(let head): message = describe(head)
                case .body(let range): body.append(copying: bytes.extracting(range))
                case .trailers(let range):
                    trailers += String(Bytes(copying: bytes.extracting(range)))
                case .complete:
                    transcript.lines.append(message + describe(body))
                    body = []
                    transcript.trailers += trailers
                    trailers = ""
                case .needsMore:
                    #expect(position == bytes.count)
                    break reading
                }
            }
        }
        if thenEnds { try reader.end() }
        if reader.isInMessage { transcript.lines.append("waiting") }
    } catch {
        transcript.lines.append("refused \(error.status)")
    }
    return transcript
}

/// Reads responses from bytes that arrive in the given pieces.
func transcript(
    ofResponses pieces: [[UInt8]], limits: Limits = Limits(), toHead: Bool = false,
    thenEnds: Bool = false
) -> Transcript {
    var reader = ResponseReader(limits: limits)
    reader.answersHead = toHead
    var transcript = Transcript()
    var message = ""
    var body: [UInt8] = []
    var trailers = ""
    do throws(WireError) {
        for piece in pieces {
            let bytes = piece.span
            var position = 0
            reading: while true {
                switch try reader.read(bytes, from: &position) {
                case .interim(let head): transcript.interim.append("\(head.status)")
                case .head(let head): message = "\(head.status)\(head.keepsAlive ? "" : " close")"
                case .body(let range): body.append(copying: bytes.extracting(range))
                case .trailers(let range):
                    trailers += String(Bytes(copying: bytes.extracting(range)))
                case .complete:
                    transcript.lines.append(message + describe(body))
                    body = []
                    transcript.trailers += trailers
                    trailers = ""
                case .needsMore: break reading
                }
            }
        }
        if thenEnds {
            if try reader.end() { transcript.lines.append(message + describe(body)) }
        } else if reader.isInMessage {
            transcript.lines.append("waiting")
        }
    } catch {
        transcript.lines.append("broken")
    }
    return transcript
}

private func describe(_ head: RequestHead) -> String {
    "\(head.method) \(head.target)\(head.keepsAlive ? "" : " close")"
        + (head.expectsContinue ? " expects" : "")
        + (head.hasUnknownExpectation ? " expects the unknown" : "")
}

private func describe(_ body: [UInt8]) -> String {
    body.isEmpty ? "" : " {\(String(Bytes(body)))}"
}

/// The splits in which bytes can arrive: whole, cut at every place, one by one.
func arrivals(of bytes: [UInt8]) -> [[[UInt8]]] {
    var ways = [[bytes], bytes.map { [$0] }]
    for cut in 1..<max(bytes.count, 1) {
        ways.append([Array(bytes[..<cut]), Array(bytes[cut...])])
    }
    return ways
}

/// The requests in a text, which must not depend on how it arrives.
func requests(
    in text: String, limits: Limits = Limits(), thenEnds: Bool = false,
    _ location: SourceLocation = #_sourceLocation
) -> String {
    let bytes = latin1(text)
    let whole = transcript(ofRequests: [bytes], limits: limits, thenEnds: thenEnds)
    for pieces in arrivals(of: bytes) {
        let cut = transcript(ofRequests: pieces, limits: limits, thenEnds: thenEnds)
        #expect(
            cut == whole, "in pieces of \(pieces.map(\.count).prefix(2))", sourceLocation: location)
    }
    return whole.description
}

/// The responses in a text, which must not depend on how it arrives.
func responses(
    in text: String, toHead: Bool = false, thenEnds: Bool = false, limits: Limits = Limits(),
    _ location: SourceLocation = #_sourceLocation
) -> String {
    let bytes = latin1(text)
    let whole = transcript(
        ofResponses: [bytes], limits: limits, toHead: toHead, thenEnds: thenEnds)
    for pieces in arrivals(of: bytes) {
        let cut = transcript(
            ofResponses: pieces, limits: limits, toHead: toHead, thenEnds: thenEnds)
        #expect(
            cut == whole, "in pieces of \(pieces.map(\.count).prefix(2))", sourceLocation: location)
    }
    return whole.description
}

/// A GET with a `Host`, and more lines.
func get(_ target: String = "/", _ fields: String = "") -> String {
    "GET \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
}

/// A POST with a `Host`, more lines and what follows the head.
func post(_ fields: String, _ rest: String = "") -> String {
    "POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\(rest)"
}
