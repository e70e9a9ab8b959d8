/// The response of a scripted backend to one request.
package struct Reply: Sendable {
    /// Milliseconds from the request's last byte.
    package let after: Int
    /// The bytes to send; nil for none.
    package let text: String?
    package let ending: Ending

    package enum Ending: Sendable {
        /// The connection stays open.
        case stays
        /// The backend closes its connection.
        case closes
        /// The connection is reset.
        case resets
    }

    /// 200 with a body of JSON.
    package static func ok(_ body: String, after: Int = 0, _ lines: String...) -> Reply {
        Reply(after: after, text: responseText(200, body, lines), ending: .stays)
    }

    package static func status(
        _ code: Int, _ body: String = "{}", after: Int = 0, _ lines: String...
    )
        -> Reply
    {
        Reply(after: after, text: responseText(code, body, lines), ending: .stays)
    }

    /// These bytes, unchanged.
    package static func raw(_ text: String, after: Int = 0) -> Reply {
        Reply(after: after, text: text, ending: .stays)
    }

    /// Sends nothing and keeps the connection.
    package static let hangs = Reply(after: 0, text: nil, ending: .stays)

    package static func closes(after: Int = 0) -> Reply {
        Reply(after: after, text: nil, ending: .closes)
    }

    package static func resets(after: Int = 0) -> Reply {
        Reply(after: after, text: nil, ending: .resets)
    }

    /// Sends the beginning of a response and closes.
    package static func breaksOff(after: Int = 0) -> Reply {
        Reply(
            after: after, text: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"half\":",
            ending: .closes)
    }

    private static func responseText(_ code: Int, _ body: String, _ lines: [String]) -> String {
        let fields = (["Content-Length: \(body.utf8.count)"] + lines).joined(separator: "\r\n")
        return "HTTP/1.1 \(code) Status\r\n\(fields)\r\n\r\n\(body)"
    }
}
