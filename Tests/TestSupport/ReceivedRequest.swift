import Basics
import HTTP

/// A complete request as a scripted backend received it.
package struct ReceivedRequest {
    /// Virtual milliseconds since the backend was made.
    package let ms: Double
    package let port: UInt16
    /// Counted from 1, for each backend.
    package let connection: Int
    /// The number of the request on its connection, counted from 1.
    package let turn: Int
    package let method: String
    package let target: String
    /// The target without its query.
    package let path: String
    package let body: String
    /// All of its bytes.
    package let text: String
    private let fields: Fields

    /// The values of a header line, joined by ` | `; nil without one.
    package subscript(name: String) -> String? {
        guard let name = FieldName(name) else { return nil }
        let values = fields.all(name).map { "\($0)" }
        return values.isEmpty ? nil : values.joined(separator: " | ")
    }

    /// The names of all lines, in order.
    package var names: [String] { fields.map { String($0.name) } }

    /// The properties of a request that are not in its bytes.
    struct Origin {
        let ms: Double
        let port: UInt16
        let connection: Int
        let turn: Int
    }

    /// A backend that refuses no head of the gateway.
    private static var limits: Limits {
        var limits = Limits()
        limits.uriBytes = 1024 * 1024
        limits.headerBytes = 1024 * 1024
        return limits
    }

    /// Nil until the request is complete.
    init?(_ text: String, from origin: @autoclosure () -> Origin) {
        var reader = RequestReader(limits: Self.limits)
        var position = 0
        let bytes = Bytes(text)
        var head: RequestHead?
        var body = ""
        while let event = try? reader.read(bytes.span, from: &position) {
            switch event {
            case .needsMore: return nil
            case .head(let complete): head = complete
            case .body(let range): body += String(decoding: bytes.array[range], as: UTF8.self)
            case .trailers: break
            case .complete:
                guard let head else { return nil }
                self.init(head, body, text, origin())
                return
            }
        }
        return nil
    }

    private init(_ head: RequestHead, _ body: String, _ text: String, _ origin: Origin) {
        (ms, port) = (origin.ms, origin.port)
        (connection, turn) = (origin.connection, origin.turn)
        method = "\(head.method)"
        target = "\(head.target)"
        path = String(head.target.path)
        fields = head.fields
        self.body = body
        self.text = text
    }
}
