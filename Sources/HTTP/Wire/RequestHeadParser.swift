import Basics

/// Reads the head of a request (RFC 9112 3 to 5): one pass over bytes that do not move, then one
/// allocation for the whole head.
struct RequestHeadParser: HeadParser {
    private let shared: SharedLimits

    /// The offset of the request line, behind ignored empty lines.
    private var line = 0
    /// The request line has no LF before this offset.
    private var searched = 0
    private var first: RequestLine?
    private var section = FieldSection(at: 0)

    /// Whether the method of the present head is HEAD. Known when the space behind the method has
    /// arrived, even if the rest is malformed.
    private(set) var isHead = false

    init(_ limits: SharedLimits) {
        shared = limits
    }

    var limits: Limits { shared.values }

    /// Whether anything but empty lines has arrived.
    var hasBegun: Bool { searched > line || first != nil }

    @inline(__always)
    mutating func parse(
        _ bytes: Span<UInt8>
    ) throws(WireError) -> (head: RequestHead, length: Int)? {
        guard let first = try firstLine(bytes) else { return nil }
        guard
            let end = try section.read(
                bytes, bytesMax: limits.headerBytes, countMax: limits.headerCount)
        else {
            self.first = first
            return nil
        }
        let head = try Self.head(bytes.extracting(0..<end), first, section.control)
        // Not the section, which begins again behind the next first line.
        (line, searched, isHead) = (0, 0, false)
        self.first = nil
        return (head, end)
    }

    /// Nil: only responses can be interim.
    func interim(_ head: RequestHead) -> Never? { nil }

    static func framing(_ head: RequestHead) -> BodyFraming { head.framing }

    @inline(__always)
    private mutating func firstLine(_ bytes: Span<UInt8>) throws(WireError) -> RequestLine? {
        if let first { return first }
        try skipEmptyLines(bytes)
        // A final CR may belong to an empty line.
        guard line < bytes.count, bytes[line] != ASCII.carriageReturn else { return nil }
        readMethod(bytes.extracting(line...))
        guard let end = bytes.firstLineFeed(from: searched) else {
            searched = bytes.count
            try RequestLine.check(unfinished: bytes.extracting(line...), limits)
            return nil
        }
        let first = try RequestLine(bytes, line..<end, limits)
        section = FieldSection(at: end &+ 1)
        return first
    }

    /// RFC 9112 2.2.
    @inline(__always)
    private mutating func skipEmptyLines(_ bytes: Span<UInt8>) throws(WireError) {
        while line < bytes.count, bytes[line] == ASCII.carriageReturn {
            guard line &+ 1 < bytes.count else { return }
            guard bytes[line &+ 1] == ASCII.lineFeed, line < 2 * limits.leadingEmptyLines else {
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
            expectsContinue: control.expectsContinue && first.version >= .http11)
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
        if control.hasUnknownExpectation { throw .expectation }
    }
}
