package import Basics

/// The method of a request. Known methods need no memory; any other token is stored unchanged,
/// because methods are case-sensitive (RFC 9110 9.1).
package enum Method: Sendable, Equatable {
    case get, head, post, put, patch, delete, options, trace, connect
    case other(Bytes)

    /// Reads a token of at most `Limits.methodBytes`; nil for other bytes.
    package init?(_ token: Span<UInt8>) {
        if let known = Method(known: token) {
            self = known
            return
        }
        guard FieldName.isToken(token) else { return nil }
        self = .other(Bytes(copying: token))
    }

    /// Reads a method from text, such as the text of a configuration.
    package init?(_ text: String) {
        self.init(Bytes(text).span)
    }

    /// Bytes that were checked to be a token.
    init(checked token: Span<UInt8>) {
        self = Method(known: token) ?? .other(Bytes(copying: token))
    }

    private init?(known token: Span<UInt8>) {
        switch token.count {
        case 3 where token.equals("GET"): self = .get
        case 3 where token.equals("PUT"): self = .put
        case 4 where token.equals("POST"): self = .post
        case 4 where token.equals("HEAD"): self = .head
        case 5 where token.equals("PATCH"): self = .patch
        case 5 where token.equals("TRACE"): self = .trace
        case 6 where token.equals("DELETE"): self = .delete
        case 7 where token.equals("OPTIONS"): self = .options
        case 7 where token.equals("CONNECT"): self = .connect
        default: return nil
        }
    }

    /// HEAD, whose response describes a body and has none (RFC 9110 9.3.2). A comparison with `==`
    /// in another module would call generic code.
    package var isHead: Bool { if case .head = self { true } else { false } }

    /// RFC 9110 9.2.1: requests no change.
    package var isSafe: Bool {
        switch self {
        case .get, .head, .options, .trace: true
        case .post, .put, .patch, .delete, .connect, .other: false
        }
    }

    /// RFC 9110 9.2.2: a repetition has no further effect, so the request may be retried.
    package var isIdempotent: Bool { isSafe || self == .put || self == .delete }

    /// RFC 9110 8.6: a body is meaningful, so its absence is stated with `Content-Length: 0`.
    package var anticipatesBody: Bool { self == .post || self == .put || self == .patch }
}

extension TextBuffer {
    /// Appends a method in wire format.
    package mutating func append(_ method: Method) {
        switch method {
        case .get: append(literal: "GET")
        case .head: append(literal: "HEAD")
        case .post: append(literal: "POST")
        case .put: append(literal: "PUT")
        case .patch: append(literal: "PATCH")
        case .delete: append(literal: "DELETE")
        case .options: append(literal: "OPTIONS")
        case .trace: append(literal: "TRACE")
        case .connect: append(literal: "CONNECT")
        case .other(let token): append(token)
        }
    }
}

extension Method: CustomStringConvertible {
    package var description: String {
        var text = TextBuffer(capacity: 16)
        text.append(self)
        return String(text)
    }
}
