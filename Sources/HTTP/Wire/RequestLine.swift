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
    init(_ bytes: Span<UInt8>, _ line: Range<Int>, _ limits: Limits) throws(WireError) {
        // First the checks that also apply to an unfinished line, so that the result does not
        // depend on how the bytes arrive.
        guard ByteSet.token.contains(bytes[line.lowerBound]) else { throw .requestLine }
        let methodEnd = try Self.endOfMethod(
            bytes.extracting(0..<line.upperBound), from: line.lowerBound, limits)
        try Self.check(behindMethod: line.upperBound &- methodEnd, limits)
        let end = line.upperBound &- 1
        guard end > line.lowerBound, bytes[end] == ASCII.carriageReturn else { throw .lineEnd }
        let space = end &- 9
        guard space > methodEnd, bytes[space] == ASCII.space else { throw .requestLine }
        version = try HTTPVersion(bytes.extracting((space &+ 1)..<end))
        target = (methodEnd &+ 1)..<space
        guard target.count <= limits.uriBytes else { throw .targetTooLong }
        method = line.lowerBound..<methodEnd
        let name = bytes.extracting(method)
        guard FieldName.isToken(name) else { throw .requestLine }
        if name.equals("CONNECT") { throw .connectRefused }
        guard let layout = TargetLayout(bytes.extracting(target)),
            layout.form != .asterisk || name.equals("OPTIONS")
        else { throw .target }
        self.layout = layout
        self.end = line.upperBound &+ 1
    }

    /// Checks a line whose end has not arrived: its beginning, and the lengths of its parts.
    static func check(unfinished line: Span<UInt8>, _ limits: Limits) throws(WireError) {
        guard ByteSet.token.contains(line[0]) else { throw .requestLine }
        guard line.count > limits.methodBytes + 1 else { return }
        let methodEnd = try endOfMethod(line, from: 0, limits)
        try check(behindMethod: line.count &- methodEnd, limits)
    }

    private static func check(behindMethod count: Int, _ limits: Limits) throws(WireError) {
        guard count <= limits.uriBytes + " HTTP/1.1\r\n".utf8.count else { throw .targetTooLong }
    }

    private static func endOfMethod(
        _ bytes: Span<UInt8>, from start: Int, _ limits: Limits
    ) throws(WireError) -> Int {
        let bound = min(bytes.count, start &+ limits.methodBytes &+ 1)
        var index = start
        while index < bound, bytes[index] != ASCII.space { index &+= 1 }
        guard index < bound else {
            throw index < bytes.count && FieldName.isToken(bytes.extracting(start..<index))
                ? .methodTooLong : .requestLine
        }
        guard index > start else { throw .requestLine }
        return index
    }
}

extension HTTPVersion {
    /// `HTTP/1.1` as a little-endian word.
    private static var text11: UInt64 { 0x312E_312F_5054_5448 }
    /// `HTTP/1.0` as a little-endian word.
    private static var text10: UInt64 { 0x302E_312F_5054_5448 }

    /// `HTTP/1.0` or `HTTP/1.1` (RFC 9112 2.3).
    init(_ text: Span<UInt8>) throws(WireError) {
        guard text.count == 8 else { throw .version }
        if text.hasWord(Self.text11, at: 0) {
            self = .http11
        } else if text.hasWord(Self.text10, at: 0) {
            self = .http10
        } else {
            let isVersion =
                text.extracting(0..<5).equals("HTTP/") && text[6] == UInt8(ascii: ".")
                && text[5] &- UInt8(ascii: "0") < 10 && text[7] &- UInt8(ascii: "0") < 10
            throw isVersion ? .versionNotSupported : .version
        }
    }
}

extension [UInt8] {
    /// A copy of borrowed bytes, of exactly their size.
    init(copying bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
    }
}
