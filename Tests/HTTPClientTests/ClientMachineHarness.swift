import Basics
import HTTP
import Reactor

@testable import HTTPClient

/// Drives a `ClientStateMachine` and records its actions as text.
struct ClientMachineHarness {
    private var machine: ClientStateMachine
    private var request = ClientRequest()
    private var collector = ResponseCollector()
    private var results: [String] = []
    private let responseBytesMax: Int
    var sendProgress = ClientStateMachine.SendProgress.all

    init(
        _ method: HTTP.Method = .get, isReused: Bool = false, responseBytesMax: Int = 1000,
        limits: Limits = Limits()
    ) {
        machine = ClientStateMachine(limits: WireLimits(limits))
        self.responseBytesMax = responseBytesMax
        if isReused {
            beginRequest(.get)
            receive(["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
            results = []
        }
        beginRequest(method)
    }

    /// All actions but waiting, in order.
    var outcome: String { results.joined(separator: ", ") }

    mutating func beginRequest(_ method: HTTP.Method) {
        request = ClientRequest(method, responseBytesMax: responseBytesMax)
        machine.beginRequest(method)
    }

    mutating func receive(_ pieces: [String]) {
        for piece in pieces {
            let bytes = Bytes(piece)
            var position = 0
            var isMore = true
            while isMore {
                let action = machine.receive(
                    bytes.span, from: &position, sendProgress: sendProgress)
                isMore = perform(action, bytes.span)
            }
        }
    }

    mutating func end() { _ = perform(machine.streamEnded(sendProgress: sendProgress), Span()) }

    mutating func reset() {
        _ = perform(machine.streamFailed(.connectionReset, sendProgress: sendProgress), Span())
    }

    static let endings: [@Sendable (inout ClientMachineHarness) -> Void] = [
        { $0.end() }, { $0.reset() },
    ]

    /// Performs an action as a connection does; false if the bytes contain nothing more.
    private mutating func perform(
        _ action: ClientStateMachine.Action, _ bytes: Span<UInt8>
    ) -> Bool {
        do throws(ClientFailure) {
            switch action {
            case .nothing: return false
            case .head(let head):
                try collector.begin(head, for: request)
                return true
            case .body(let range):
                try collector.append(bytes.extracting(range))
                return true
            case .interim, .trailers: return true
            case .end(let isReusable):
                record(collector.finish(toHead: request.method == .head), isReusable)
            case .fail(let failure, let mayResend): record(failure, mayResend)
            case .retire: results.append("retire")
            }
        } catch {
            machine.close()
            record(error, false)
        }
        return false
    }

    private mutating func record(_ response: ClientResponse?, _ isReusable: Bool) {
        let text = response.map { "\($0.status) \(String($0.content))" } ?? "no head"
        results.append("\(text) \(isReusable ? "keep" : "close")")
    }

    private mutating func record(_ failure: ClientFailure, _ mayResend: Bool) {
        let sent = failure.wasSent ? "" : ", unsent"
        results.append("\(failure.kind)\(sent)\(mayResend ? ", may resend" : "")")
    }
}

/// How the bytes of a text are split.
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
