import Basics
package import HTTP

/// The pseudo fields of a request (RFC 9113 8.3.1). Allocates no memory for a known method and a
/// target in origin form.
package struct H2RequestLine {
    let method: Method
    private let scheme: StaticString
    private let authority: Bytes
    private let path: Bytes

    package init(_ method: Method, _ target: Target, authority: FieldValue, isSecure: Bool) {
        self.method = method
        scheme = isSecure ? "https" : "http"
        self.authority = authority.bytes
        if target.form == .origin {
            path = target.text
        } else {
            var line = TextBuffer()
            line.append(originFormOf: target)
            path = Bytes(copying: line.span)
        }
    }

    /// Calls `body` with the method, the scheme, the authority and the path.
    func withPseudoFields<Result>(
        _ body: (
            UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>,
            UnsafeBufferPointer<UInt8>
        ) -> Result
    ) -> Result {
        method.withText { method in
            authority.span.withUnsafeBufferPointer { authority in
                path.span.withUnsafeBufferPointer { path in
                    body(method, scheme.buffer, authority, path)
                }
            }
        }
    }
}

extension Method {
    /// Calls `body` with the method in wire format.
    fileprivate func withText<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if case .other(let token) = self {
            return token.span.withUnsafeBufferPointer { body($0) }
        }
        let name: StaticString =
            switch self {
            case .get: "GET"
            case .head: "HEAD"
            case .post: "POST"
            case .put: "PUT"
            case .patch: "PATCH"
            case .delete: "DELETE"
            case .options: "OPTIONS"
            case .trace: "TRACE"
            case .connect: "CONNECT"
            case .other: ""
            }
        return body(name.buffer)
    }
}

extension StaticString {
    fileprivate var buffer: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
    }
}
