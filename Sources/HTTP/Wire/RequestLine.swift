import Basics

/// `method SP target SP version CRLF`, one space each and nothing else (RFC 9112 3).
struct RequestLine {
    /// The position of the method in the bytes of the head.
    let method: Range<Int>
    /// The position of the target in the bytes of the head.
    let target: Range<Int>
    /// The parts of the target.
    let layout: TargetLayout
    let version: HTTPVersion
    /// The offset behind the line.
    let end: Int

    /// Reads a line whose LF is at the end of `line`.
    @inline(__always)
    init(_ bytes: Span<UInt8>, _ line: Range<Int>, _ limits: Limits) throws(WireError) {
        // First the checks that also apply to an unfinished line, so that the result does not
        // depend on how the bytes arrive.
        var tokenEnd = bytes.skipCommonBytes(from: line.lowerBound)
        if tokenEnd < line.upperBound, bytes[tokenEnd] != ASCII.space {
            tokenEnd = bytes.first(notIn: .token, from: tokenEnd)
        }
        let isToken =
            tokenEnd < line.upperBound && bytes[tokenEnd] == ASCII.space
            && tokenEnd > line.lowerBound && tokenEnd &- line.lowerBound <= limits.methodBytes
        let methodEnd = isToken ? tokenEnd : try Self.endOfMethod(bytes, line, limits.methodBytes)
        try Self.check(behindMethod: line.upperBound &- methodEnd, limits)
        let end = line.upperBound &- 1
        guard end > line.lowerBound, bytes[end] == ASCII.carriageReturn else { throw .lineEnd }
        let space = end &- 9
        guard space > methodEnd, bytes[space] == ASCII.space else { throw .requestLine }
        version = try HTTPVersion(bytes, at: space &+ 1)
        target = (methodEnd &+ 1)..<space
        guard target.count <= limits.uriBytes else { throw .targetTooLong }
        guard isToken else { throw .requestLine }
        method = line.lowerBound..<methodEnd
        if bytes.extracting(method).equals("CONNECT") { throw .connectRefused }
        guard let layout = TargetLayout(bytes, in: target),
            layout.form != .asterisk || bytes.extracting(method).equals("OPTIONS")
        else { throw .target }
        self.layout = layout
        self.end = line.upperBound &+ 1
    }

    /// Checks a line whose end has not arrived: its beginning, and the lengths of its parts.
    static func check(unfinished line: Span<UInt8>, _ limits: Limits) throws(WireError) {
        guard ByteSet.token.contains(line[0]) else { throw .requestLine }
        guard line.count > limits.methodBytes + 1 else { return }
        let methodEnd = try endOfMethod(line, 0..<line.count, limits.methodBytes)
        try check(behindMethod: line.count &- methodEnd, limits)
    }

    @inline(__always)
    private static func check(behindMethod count: Int, _ limits: Limits) throws(WireError) {
        guard count <= limits.uriBytes + " HTTP/1.1\r\n".utf8.count else { throw .targetTooLong }
    }

    /// The offset of the space behind a method, whose bytes are not checked but for the first one.
    @inline(never)
    private static func endOfMethod(
        _ bytes: Span<UInt8>, _ line: Range<Int>, _ bytesMax: Int
    ) throws(WireError) -> Int {
        let start = line.lowerBound
        guard ByteSet.token.contains(bytes[start]) else { throw .requestLine }
        let bound = min(line.upperBound, start &+ bytesMax &+ 1)
        var index = start
        while index < bound, bytes[index] != ASCII.space { index &+= 1 }
        guard index < bound else {
            throw index < line.upperBound && FieldName.isToken(bytes.extracting(start..<index))
                ? .methodTooLong : .requestLine
        }
        return index
    }
}

extension HTTPVersion {
    /// `HTTP/1.1` as a little-endian word.
    private static var text11: UInt64 { 0x312E_312F_5054_5448 }
    /// `HTTP/1.0` as a little-endian word.
    private static var text10: UInt64 { 0x302E_312F_5054_5448 }

    /// `HTTP/1.0` or `HTTP/1.1` (RFC 9112 2.3), the eight bytes at this offset.
    @inline(__always)
    init(_ text: Span<UInt8>, at offset: Int) throws(WireError) {
        if text.hasWord(Self.text11, at: offset) {
            self = .http11
        } else if text.hasWord(Self.text10, at: offset) {
            self = .http10
        } else {
            throw Self.error(of: text.extracting(offset..<(offset &+ 8)))
        }
    }

    private static func error(of text: Span<UInt8>) -> WireError {
        let isVersion =
            text.extracting(0..<5).equals("HTTP/") && text[6] == UInt8(ascii: ".")
            && text[5] &- UInt8(ascii: "0") < 10 && text[7] &- UInt8(ascii: "0") < 10
        return isVersion ? .versionNotSupported : .version
    }
}

extension [UInt8] {
    /// A copy of borrowed bytes, of exactly their size.
    init(copying bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
    }
}
