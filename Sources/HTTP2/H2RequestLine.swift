import Basics
package import HTTP

/// The pseudo fields of a request (RFC 9113 8.3.1).
package struct H2RequestLine {
    let method: Method
    private let methodText: [UInt8]
    private let scheme: StaticString
    private let authority: Bytes
    private let path: Bytes

    package init(_ method: Method, _ target: Target, authority: FieldValue, isSecure: Bool) {
        self.method = method
        var text = TextBuffer(capacity: 16)
        text.append(method)
        var copy: [UInt8] = []
        copy.append(copying: text.span)
        methodText = copy
        scheme = isSecure ? "https" : "http"
        self.authority = authority.bytes
        var line = TextBuffer()
        line.append(originFormOf: target)
        path = Bytes(copying: line.span)
    }

    /// Calls `body` with the method, the scheme, the authority and the path.
    func withPseudoFields<Result>(
        _ body: (
            UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>,
            UnsafeBufferPointer<UInt8>
        ) -> Result
    ) -> Result {
        let scheme = UnsafeBufferPointer(
            start: scheme.utf8Start, count: scheme.utf8CodeUnitCount)
        return methodText.withUnsafeBufferPointer { method in
            authority.span.withUnsafeBufferPointer { authority in
                path.span.withUnsafeBufferPointer { path in body(method, scheme, authority, path) }
            }
        }
    }
}
