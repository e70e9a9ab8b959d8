import Basics
import HTTP
import Reactor

@testable import HTTPClient

/// One side of a conversation with a `ClientStateMachine`, and what came of it in words.
struct Exchanger {
    private var machine: ClientStateMachine
    private var results: [String] = []
    private let answerMax: Int
    var departure = ClientStateMachine.Departure.all

    init(
        _ method: HTTP.Method = .get, isReused: Bool = false, answerMax: Int = 1000,
        limits: Limits = Limits()
    ) {
        machine = ClientStateMachine(limits: limits)
        self.answerMax = answerMax
        if isReused {
            ask(.get)
            receive(["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
            results = []
        }
        ask(method)
    }

    /// Everything that was to be done, in order; waiting is left out.
    var outcome: String { results.joined(separator: ", ") }

    mutating func ask(_ method: HTTP.Method) {
        machine.ask(ClientRequest(method: method, head: Bytes(), answerBytesMax: answerMax))
    }

    mutating func receive(_ pieces: [String]) {
        for piece in pieces { note(machine.received(Bytes(piece).span, departure: departure)) }
    }

    mutating func end() { note(machine.ended(departure: departure)) }

    mutating func reset() { note(machine.failed(.connectionReset, departure: departure)) }

    static let endings: [@Sendable (inout Exchanger) -> Void] = [{ $0.end() }, { $0.reset() }]

    private mutating func note(_ action: ClientStateMachine.Action) {
        switch action {
        case .nothing: break
        case .answer(let answer, let mayStay):
            results.append("\(answer.status) \(String(answer.body)) \(mayStay ? "keep" : "close")")
        case .fail(let failure, let mayResend):
            let sent = failure.wasSent ? "" : ", unsent"
            results.append("\(failure.kind)\(sent)\(mayResend ? ", may resend" : "")")
        case .retire: results.append("retire")
        }
    }
}

/// How the bytes of a text arrive.
enum Cut: CaseIterable {
    case whole, once, everywhere

    func pieces(of text: String) -> [[String]] {
        let bytes = Array(text.utf8)
        switch self {
        case .whole: return [[text]]
        case .once:
            return (1..<bytes.count).map { cut in
                [
                    String(decoding: bytes[..<cut], as: UTF8.self),
                    String(decoding: bytes[cut...], as: UTF8.self),
                ]
            }
        case .everywhere: return [bytes.map { String(decoding: [$0], as: UTF8.self) }]
        }
    }
}

extension String {
    /// The first bytes of an ASCII text. (`prefix` would count CRLF as one character.)
    func prefix(characters count: Int) -> Substring {
        self[..<utf8.index(startIndex, offsetBy: count)]
    }
}
