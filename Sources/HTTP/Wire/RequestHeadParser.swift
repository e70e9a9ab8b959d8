import Basics

/// Reads the head of a request (RFC 9112 3 to 5): one pass over bytes that do not move, then one
/// allocation for the whole head.
struct RequestHeadParser: HeadParser {
    let limits: WireLimits

    /// The offset of the request line, behind ignored empty lines.
    private var line = 0
    /// The request line has no LF before this offset.
    private var searched = 0
    private var suspended: Suspended?

    /// What was read of a head whose end has not arrived. An object, so that a reader is small.
    private final class Suspended {
        let first: RequestLine
        var section: FieldSection

        init(_ first: RequestLine, _ section: FieldSection) {
            self.first = first
            self.section = section
        }
    }

    /// Whether the method of the present head is HEAD. Known when the space behind the method has
    /// arrived, even if the rest is malformed.
    private(set) var isHead = false

    init(_ limits: WireLimits) {
        self.limits = limits
    }

    /// Whether anything but empty lines has arrived.
    var hasBegun: Bool { searched > line || suspended != nil }

    @inline(__always)
    mutating func parse(
        _ bytes: Span<UInt8>
    ) throws(WireError) -> (head: RequestHead, length: Int)? {
        if let suspended { return try resume(suspended, bytes) }
        guard let first = try firstLine(bytes) else { return nil }
        var section = FieldSection(at: first.end)
        guard let end = try read(&section, bytes) else {
            suspended = Suspended(first, section)
            return nil
        }
        return try complete(bytes.extracting(0..<end), first, section.control)
    }

    @inline(never)
    private mutating func resume(
        _ suspended: Suspended, _ bytes: Span<UInt8>
    ) throws(WireError) -> (head: RequestHead, length: Int)? {
        guard let end = try read(&suspended.section, bytes) else { return nil }
        return try complete(
            bytes.extracting(0..<end), suspended.first, suspended.section.control)
    }

    @inline(__always)
    private func read(
        _ section: inout FieldSection, _ bytes: Span<UInt8>
    ) throws(WireError) -> Int? {
        try section.read(
            bytes, bytesMax: limits.values.headerBytes, countMax: limits.values.headerCount)
    }

    /// The parser is ready for the next head.
    @inline(__always)
    private mutating func complete(
        _ bytes: Span<UInt8>, _ first: RequestLine, _ control: ControlFields
    ) throws(WireError) -> (head: RequestHead, length: Int) {
        let head = try Self.head(bytes, first, control)
        (line, searched, isHead) = (0, 0, false)
        suspended = nil
        return (head, bytes.count)
    }

    /// Nil: only responses can be interim.
    func interim(_ head: RequestHead) -> Never? { nil }

    static func framing(_ head: RequestHead) -> BodyFraming { head.framing }

    @inline(__always)
    private mutating func firstLine(_ bytes: Span<UInt8>) throws(WireError) -> RequestLine? {
        try skipEmptyLines(bytes)
        // A final CR may belong to an empty line.
        guard line < bytes.count, bytes[line] != ASCII.carriageReturn else { return nil }
        readMethod(bytes.extracting(line...))
        guard let end = bytes.firstLineFeed(from: searched) else {
            searched = bytes.count
            try RequestLine.check(unfinished: bytes.extracting(line...), limits.values)
            return nil
        }
        return try RequestLine(bytes, line..<end, limits.values)
    }

    /// RFC 9112 2.2.
    @inline(__always)
    private mutating func skipEmptyLines(_ bytes: Span<UInt8>) throws(WireError) {
        while line < bytes.count, bytes[line] == ASCII.carriageReturn {
            guard line &+ 1 < bytes.count else { return }
            guard bytes[line &+ 1] == ASCII.lineFeed, line < 2 * limits.values.leadingEmptyLines
            else {
                throw .requestLine
            }
            line &+= 2
            searched = line
        }
    }

    private mutating func readMethod(_ line: Span<UInt8>) {
        let headAndSpace = 5
        guard line.count >= headAndSpace else { return }
        isHead = line.extracting(first: headAndSpace).equals("HEAD ")
    }

    @inline(__always)
    private static func head(
        _ bytes: Span<UInt8>, _ first: RequestLine, _ control: ControlFields
    ) throws(WireError) -> RequestHead {
        try check(control, first.version)
        let framing = try BodyFraming.ofRequest(version: first.version, control)
        let text = [UInt8](copying: bytes.extracting(0..<(bytes.count &- 2)))
        return RequestHead(
            method: Method(checked: bytes.extracting(first.method)),
            target: Target(Bytes(text)[first.target], first.layout),
            version: first.version,
            fields: Fields(text: text, linesStart: first.end),
            keepsAlive: !control.saysClose && (first.version >= .http11 || control.saysKeepAlive),
            framing: framing,
            expectsContinue: control.expectsContinue && first.version >= .http11,
            hasUnknownExpectation: control.hasUnknownExpectation, hasVia: control.hasVia)
    }

    @inline(__always)
    private static func check(_ control: ControlFields, _ version: HTTPVersion) throws(WireError) {
        // RFC 9112 3.2: exactly one `Host`; before HTTP/1.1 at most one.
        if control.hostCount != 1 {
            if control.hostCount > 1 { throw .hostRepeated }
            if version >= .http11 { throw .hostMissing }
        } else if !control.isHostValid {
            throw .host
        }
    }
}
