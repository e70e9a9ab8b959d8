package import Basics

/// The name of a header field: a token (RFC 9110 5.1), compared without regard to case.
///
/// A known name is a literal in the program text, so using it needs no reference count, in
/// particular none that workers would share.
package struct FieldName: Sendable {
    private enum Text {
        case literal(StaticString)
        case bytes(Bytes)
    }

    private let text: Text

    /// Nil if the bytes are no token.
    package init?(_ bytes: Bytes) {
        guard Self.isToken(bytes.span) else { return nil }
        text = .bytes(bytes)
    }

    /// Nil if the text is no token.
    package init?(_ string: String) {
        self.init(Bytes(string))
    }

    /// The bytes of the name, in the case in which it was written.
    package var span: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            switch text {
            case .literal(let literal): literal.span
            case .bytes(let bytes): unsafe _overrideLifetime(bytes.span, borrowing: self)
            }
        }
    }

    static func isToken(_ bytes: Span<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.first(notIn: .token, from: 0) == bytes.count
    }
}

extension FieldName: ExpressibleByStringLiteral {
    /// A name written in the program; one that is no token is a programming error, and traps in debug
    /// builds. Release builds, in which requests use these names, do not check them each time.
    package init(stringLiteral literal: StaticString) {
        assert(Self.isToken(literal.span), "a field name is a token")
        text = .literal(literal)
    }
}

extension FieldName: Equatable {
    package static func == (left: FieldName, right: FieldName) -> Bool {
        left.span.equalsIgnoringCase(right.span)
    }
}

extension FieldName: CustomStringConvertible {
    package var description: String { String(copying: span) }
}

extension FieldName {
    package static var accept: FieldName { "Accept" }
    package static var acceptEncoding: FieldName { "Accept-Encoding" }
    package static var allow: FieldName { "Allow" }
    package static var authorization: FieldName { "Authorization" }
    package static var cacheControl: FieldName { "Cache-Control" }
    package static var cookie: FieldName { "Cookie" }
    package static var contentEncoding: FieldName { "Content-Encoding" }
    package static var contentLanguage: FieldName { "Content-Language" }
    package static var contentLength: FieldName { "Content-Length" }
    package static var contentType: FieldName { "Content-Type" }
    package static var host: FieldName { "Host" }
    package static var requestID: FieldName { "X-Request-Id" }
    package static var retryAfter: FieldName { "Retry-After" }
    package static var serverTiming: FieldName { "Server-Timing" }
    package static var setCookie: FieldName { "Set-Cookie" }
    package static var traceparent: FieldName { "traceparent" }
    package static var tracestate: FieldName { "tracestate" }
    package static var wwwAuthenticate: FieldName { "WWW-Authenticate" }
}

extension FieldName {
    /// Whether a field belongs to one connection (RFC 9110 7.6.1) or frames a message: the writer
    /// of a head writes such fields itself and drops others.
    static func isOfConnection(_ name: Span<UInt8>) -> Bool {
        guard !name.isEmpty else { return false }
        return switch (name.count, name[0] | 0x20) {
        case (2, UInt8(ascii: "t")): name.equalsIgnoringCase("TE")
        case (4, UInt8(ascii: "h")): name.equalsIgnoringCase("Host")
        case (6, UInt8(ascii: "e")): name.equalsIgnoringCase("Expect")
        case (7, UInt8(ascii: "u")): name.equalsIgnoringCase("Upgrade")
        case (7, UInt8(ascii: "t")): name.equalsIgnoringCase("Trailer")
        case (10, UInt8(ascii: "c")): name.equalsIgnoringCase("Connection")
        case (10, UInt8(ascii: "k")): name.equalsIgnoringCase("Keep-Alive")
        case (14, UInt8(ascii: "c")): name.equalsIgnoringCase("Content-Length")
        case (16, UInt8(ascii: "p")): name.equalsIgnoringCase("Proxy-Connection")
        case (17, UInt8(ascii: "t")): name.equalsIgnoringCase("Transfer-Encoding")
        default: false
        }
    }
}
