import Foundation
import Reactor
import SimReactor

/// An answer as a client got it.
struct Answer {
    let status: Int
    let lines: [String]
    let body: String
    /// From the client's last bytes to the last byte of the answer.
    let ms: Double

    /// What there is when nothing came.
    static let none = Answer(status: 0, lines: [], body: "", ms: 0)

    /// The values of a header, joined by ` | `; nil without one.
    subscript(name: String) -> String? {
        let prefix = name.lowercased() + ":"
        let values = lines.filter { $0.lowercased().hasPrefix(prefix) }
            .map { $0.dropFirst(prefix.count).trimmingCharacters(in: .whitespaces) }
        return values.isEmpty ? nil : values.joined(separator: " | ")
    }

    /// `504 at 500`
    var outcome: String { "\(status) at \(String(format: "%g", ms))" }

    /// `200 at 20 {"one":1}`
    var summary: String { "\(outcome) \(body)" }

    /// The JSON array behind `failures`, where the body has one.
    var failures: String? {
        guard let start = body.range(of: #""failures":"#), let end = body.lastIndex(of: "]") else {
            return nil
        }
        return String(body[start.upperBound...end])
    }
}

/// A client that speaks plain HTTP/1.1 and understands answers with a length.
final class ScriptedClient {
    private let peer: ScriptedPeer
    private unowned let stage: Stage
    private var sentAt: Double
    private var asksHead = false

    private(set) var answers: [Answer] = []
    /// Interim answers, by their status.
    private(set) var interim: [Int] = []

    init(_ peer: ScriptedPeer, of stage: Stage) {
        self.peer = peer
        self.stage = stage
        sentAt = stage.ms
        peer.onReceived = { [unowned self] _ in read() }
    }

    /// The gateway ended the connection.
    var isClosed: Bool { peer.hasEnded || !peer.failures.isEmpty }

    func send(_ text: String) {
        sentAt = stage.ms
        asksHead = text.hasPrefix("HEAD ")
        peer.send(text)
    }

    /// Goes away, as a browser whose window is closed.
    func leave() { peer.stream.close() }

    /// Goes away by force.
    func reset() { (peer.stream as? SimStream)?.reset() }

    /// Sends no more, and still listens.
    func end() { peer.stream.finishWriting() }

    private var rest: [UInt8] = []

    private func read() {
        rest += peer.received
        peer.forget()
        while let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) {
            let head = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
                .components(separatedBy: "\r\n")
            let status = Int(head[0].split(separator: " ")[1]) ?? 0
            if status < 200 {
                interim.append(status)
                rest.removeFirst(end.upperBound)
                continue
            }
            let bare = Answer(status: status, lines: Array(head.dropFirst()), body: "", ms: 0)
            let length = asksHead || status == 204 ? 0 : Int(bare["Content-Length"] ?? "") ?? 0
            guard rest.count >= end.upperBound + length else { return }
            let body = String(
                decoding: rest[end.upperBound..<end.upperBound + length], as: UTF8.self)
            rest.removeFirst(end.upperBound + length)
            answers.append(
                Answer(status: status, lines: bare.lines, body: body, ms: stage.ms - sentAt))
        }
    }
}

/// A GET with a `Host`, a known request id, and more lines.
func get(_ target: String = "/x", _ lines: String...) -> String { request("GET", target, lines) }

/// A request with a body.
func post(_ body: String, to target: String = "/x", _ lines: String...) -> String {
    request("POST", target, lines + ["Content-Length: \(body.utf8.count)"]) + body
}

func request(_ method: String, _ target: String, _ lines: [String] = []) -> String {
    (["\(method) \(target) HTTP/1.1", "Host: gateway"] + lines).joined(separator: "\r\n")
        + "\r\n\r\n"
}

/// A client that asks and does not read the answer before it is told to.
final class ScriptedPeerThatWaits {
    private let peer: ScriptedPeer

    init(_ stream: any ByteStream) {
        stream.pauseReading()
        peer = ScriptedPeer(stream)
    }

    func send(_ text: String) { peer.send(text) }
    func read() { peer.stream.resumeReading() }
    func close() { peer.stream.close() }
}
