import Basics

/// Reads the head of a response (RFC 9112 4 and 5), resumable like `RequestHeadParser`.
struct ResponseHeadParser: HeadParser {
    let limits: WireLimits

    /// Whether the response is one to HEAD.
    var answersHead = false
    /// Whether the response may switch to another protocol (RFC 9110 7.8).
    var mayUpgrade = false
    /// The statuses of final responses whose fields are not used, and therefore not copied, unless
    /// they restrict the use of the content.
    var statusesWithoutFields: ClosedRange<Int>?
    /// The number of interim heads of the present response.
    private var interimResponses = 0

    /// The status line has no LF before this offset.
    private var searched = 0
    private var first: StatusLine?
    private var section = FieldSection(at: 0)

    init(_ limits: WireLimits) {
        self.limits = limits
    }

    var hasBegun: Bool { searched > 0 || first != nil || interimResponses > 0 }

    @inline(__always)
    mutating func parse(
        _ bytes: Span<UInt8>
    ) throws(WireError) -> (head: ResponseHead, length: Int)? {
        guard let first = try firstLine(bytes) else { return nil }
        guard
            let end = try section.read(
                bytes, bytesMax: limits.values.headerBytes, countMax: limits.values.headerCount)
        else {
            self.first = first
            return nil
        }
        let dropsFields =
            !answersHead && !section.control.restrictsUse
            && statusesWithoutFields?.contains(Int(first.status.code)) ?? false
        let head = try Self.head(
            bytes.extracting(0..<end), first, section.control, toHead: answersHead,
            dropsFields: dropsFields)
        searched = 0
        self.first = nil
        return (head, end)
    }

    @inline(__always)
    mutating func interim(_ head: ResponseHead) throws(WireError) -> ResponseHead? {
        guard head.status.isInterim else {
            interimResponses = 0
            return nil
        }
        if head.status.code == 101 {
            // RFC 9110 7.8: no upgrade was requested, so none can have been accepted.
            guard mayUpgrade else { throw .upgrade }
            interimResponses = 0
            return nil
        }
        interimResponses &+= 1
        guard interimResponses <= limits.values.interimResponses else {
            throw .tooManyInterimResponses
        }
        return head
    }

    /// After an upgrade, everything until the end belongs to the other protocol.
    static func framing(_ head: ResponseHead) -> BodyFraming {
        head.status.code == 101 ? .untilClose : head.framing
    }

    @inline(__always)
    private mutating func firstLine(_ bytes: Span<UInt8>) throws(WireError) -> StatusLine? {
        if let first { return first }
        guard let end = bytes.firstLineFeed(from: searched) else {
            searched = bytes.count
            guard bytes.count <= limits.values.statusLineBytes else { throw .statusLine }
            return nil
        }
        guard end < limits.values.statusLineBytes else { throw .statusLine }
        let first = try StatusLine(bytes, end: end)
        section = FieldSection(at: end &+ 1)
        return first
    }

    @inline(__always)
    private static func head(
        _ bytes: Span<UInt8>, _ first: StatusLine, _ control: ControlFields, toHead: Bool,
        dropsFields: Bool
    ) throws(WireError) -> ResponseHead {
        let framing = try BodyFraming.ofResponse(
            status: first.status, toHead: toHead, version: first.version, control)
        let isReusable = first.version >= .http11 || control.saysKeepAlive
        return ResponseHead(
            status: first.status, version: first.version,
            fields: dropsFields
                ? Fields()
                : Fields(
                    text: [UInt8](copying: bytes.extracting(0..<(bytes.count &- 2))),
                    linesStart: first.end),
            keepsAlive: isReusable && !control.saysClose && framing != .untilClose, framing: framing
        )
    }
}

/// `version SP status [SP reason] CRLF` (RFC 9112 4).
private struct StatusLine {
    let version: HTTPVersion
    let status: Status
    /// The offset behind the line.
    let end: Int

    /// Reads a line whose LF is at `end`. The reason is checked and dropped.
    @inline(__always)
    init(_ bytes: Span<UInt8>, end: Int) throws(WireError) {
        guard end >= 13, bytes[end &- 1] == ASCII.carriageReturn else {
            throw end >= 1 && bytes[end &- 1] != ASCII.carriageReturn ? .lineEnd : .statusLine
        }
        version = try HTTPVersion(bytes, at: 0)
        guard bytes[8] == ASCII.space, let status = Self.status(bytes[9], bytes[10], bytes[11]),
            end &- 1 == 12 || bytes[12] == ASCII.space
        else { throw .statusLine }
        guard bytes.firstControl(from: 12) == end &- 1 else { throw .statusLine }
        self.status = status
        self.end = end &+ 1
    }

    @inline(__always)
    private static func status(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> Status? {
        let zero = UInt8(ascii: "0")
        let (hundreds, tens, ones) = (first &- zero, second &- zero, third &- zero)
        guard hundreds < 10, tens < 10, ones < 10 else { return nil }
        return Status(Int(hundreds) &* 100 &+ Int(tens) &* 10 &+ Int(ones))
    }
}
