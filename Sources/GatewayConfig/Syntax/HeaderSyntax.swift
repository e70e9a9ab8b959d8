/// What a header field may look like, and which ones are not the operator's to set.
package enum HeaderSyntax {
    /// A token of RFC 9110, section 5.6.2.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isTokenByte)
    }

    /// A field value of RFC 9110, section 5.5: visible characters, spaces and tabs, UTF-8 allowed.
    static func isValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
    }

    /// Fields that frame a message or belong to one connection: the wire sets them (RFC 9110,
    /// sections 7.6.1 and 8.6; RFC 9112, section 6).
    static func isOfTheWire(_ name: String) -> Bool {
        wire.contains(name.lowercased())
    }

    /// Fields that describe a backend's own message, which is never sent on as it is.
    static func isOfTheMessage(_ name: String) -> Bool {
        ["content-type", "content-encoding", "content-range", "accept-ranges", "date"]
            .contains(name.lowercased())
    }

    /// Fields that every call carries anyway.
    static func isSentAnyway(_ name: String) -> Bool {
        ["x-request-id", "traceparent", "gateway-deadline-ms"].contains(name.lowercased())
    }

    /// `Forwarded` and `X-Forwarded-...`: fields that any client can send and only proxies should.
    package static func isForwarding(_ name: String) -> Bool {
        let name = name.lowercased()
        return name == "forwarded" || name.hasPrefix("x-forwarded-")
    }

    private static let wire = [
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
