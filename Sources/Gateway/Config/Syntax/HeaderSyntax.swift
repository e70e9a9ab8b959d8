/// The syntax of header fields, and the fields that a configuration must not set.
package enum HeaderSyntax {
    /// A token of RFC 9110, section 5.6.2.
    package static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isTokenByte)
    }

    /// A field value of RFC 9110, section 5.5: visible characters, spaces and tabs, UTF-8 allowed.
    static func isValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
    }

    /// Fields that frame a message or belong to one connection: the HTTP implementation sets them
    /// (RFC 9110, sections 7.6.1 and 8.6; RFC 9112, section 6).
    static func isConnectionField(_ name: String) -> Bool {
        connectionFields.contains(hyphenated(name))
    }

    /// In lower case, with `-` for `_`: equal for fields that servers confuse which make names of
    /// variables of them.
    static func hyphenated(_ name: String) -> String {
        name.lowercased().replacing("_", with: "-")
    }

    /// Fields that describe a backend's message, which is never relayed unchanged.
    static func describesMessage(_ name: String) -> Bool {
        ["content-type", "content-encoding", "content-range", "accept-ranges", "date"]
            .contains(name.lowercased())
    }

    /// Fields that the gateway sends with every call.
    static func isSentWithEveryCall(_ name: String) -> Bool {
        ["x-request-id", "traceparent", "tracestate", "gateway-deadline-ms"]
            .contains(hyphenated(name))
    }

    /// Fields that prove who the client is.
    static func isCredential(_ name: String) -> Bool {
        ["authorization", "proxy-authorization", "cookie", "x-api-key"]
            .contains(name.lowercased())
    }

    /// `Forwarded` and `X-Forwarded-...`: fields that any client can send, but only proxies should.
    package static func isForwarding(_ name: String) -> Bool {
        let name = name.lowercased()
        return name == "forwarded" || name.hasPrefix("x-forwarded-")
    }

    /// `Access-Control-...`: fields of the CORS protocol.
    package static func isCORS(_ name: String) -> Bool {
        name.lowercased().hasPrefix("access-control-")
    }

    private static let connectionFields = [
        "connection", "content-length", "expect", "keep-alive", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade", "host",
    ]

    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default:
            "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
