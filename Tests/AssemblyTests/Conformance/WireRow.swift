import Testing
import WorkerSupport

/// One input of a client, and its expected outcome.
struct WireRow: Sendable, CustomTestStringConvertible {
    let name: String
    /// What the client sends; each scalar is one byte, so that any byte can be written.
    let text: String
    /// The statuses of the responses in order; then `closed` where the connection ends, `waits`
    /// where the gateway expects more bytes. Any other connection must serve one more request.
    let outcome: String
    var method = "GET"
    /// Whether the client closes its side after its bytes.
    var ends = false
    /// Whether the input is short enough to be cut at many positions.
    var cuts = true

    var testDescription: String { name }

    init(
        _ name: String, _ text: String, _ outcome: String, method: String = "GET",
        ends: Bool = false, cuts: Bool = true
    ) {
        (self.name, self.text, self.outcome) = (name, text, outcome)
        (self.method, self.ends, self.cuts) = (method, ends, cuts)
    }

    var bytes: [UInt8] { text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
}

/// Builds the requests of the tables.
enum Sent {
    static let host = "Host: gateway\r\n"

    /// A request line, `Host` and more lines.
    static func line(_ line: String, _ fields: String = "", host: String = Sent.host) -> String {
        "\(line)\r\n\(host)\(fields)\r\n"
    }

    static func get(_ target: String = "/ok", _ fields: String = "", host: String = Sent.host)
        -> String
    {
        line("GET \(target) HTTP/1.1", fields, host: host)
    }

    /// A POST with these lines and what follows the head.
    static func post(_ fields: String, _ rest: String = "") -> String {
        line("POST /ok HTTP/1.1", fields) + rest
    }

    static func length(_ value: String, _ body: String = "hello") -> String {
        post("Content-Length: \(value)\r\n", body)
    }

    static func coding(_ value: String, _ body: String = "5\r\nhello\r\n0\r\n\r\n") -> String {
        post("Transfer-Encoding: \(value)\r\n", body)
    }

    static func chunked(_ body: String) -> String { coding("chunked", body) }

    /// A smuggled request, which must never be processed.
    static let hidden = get("/ok?smuggled")

    static func many(_ count: Int, _ text: String) -> String {
        String(repeating: text, count: count)
    }
}
