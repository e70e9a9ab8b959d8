import Basics
import HTTP

/// Collects the fields of one header block and builds the head of a message from them
/// (RFC 9113 8.2 and 8.3). nghttp2 has checked that names and values are valid, that pseudo fields
/// come first, once and complete, and that no field of the connection is among them.
///
/// Owned by a session, which receives one block at a time and reuses the memory. Fields beyond the
/// limits are counted and not stored.
struct HeaderBlock {
    private let limits: Limits
    /// Pseudo fields, then from `linesStart` on the lines in the format of `Fields`.
    private var text: [UInt8] = []
    private var linesStart: Int?
    private var path: Range<Int>?
    private var authority: Range<Int>?
    private var method: Method?
    private var status: Status?
    private var hasHost = false
    private var isSchemeKnown = true
    private var connectProtocol: ConnectProtocol?
    /// RFC 9113 8.2.3: may be split into several fields for better compression.
    private var cookie: [UInt8] = []
    private var contentLength: Int?
    private var expectsContinue = false
    private var hasUnknownExpectation = false
    private var hasVia = false
    /// In bytes, 32 added for each field (RFC 9113 6.5.2).
    private var size = 0
    private var count = 0
    /// The first one.
    private var error: WireError?

    /// `:protocol` (RFC 8441 4).
    private enum ConnectProtocol {
        case webSocket, other
    }

    /// Of all fields, also of those that are not stored: in bytes, 32 added for each.
    private(set) var decodedBytes = 0

    init(_ limits: Limits) {
        self.limits = limits
    }

    /// Prepares for the next block.
    mutating func removeAll() {
        var (text, cookie) = (text, cookie)
        text.removeAll(keepingCapacity: text.capacity <= Self.keptBytes)
        cookie.removeAll(keepingCapacity: cookie.capacity <= Self.keptBytes)
        self = HeaderBlock(limits)
        self.text = text
        self.cookie = cookie
    }

    /// Memory that an idle connection keeps, in bytes: enough for most heads.
    private static let keptBytes = 1024

    /// The size in memory, in bytes.
    var memoryBytes: Int { text.capacity + cookie.capacity }

    // MARK: Fields

    mutating func append(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        decodedBytes += name.count + value.count + 32
        guard error == nil else { return }
        if name.count > 0, name[0] == UInt8(ascii: ":") {
            appendPseudo(name, value)
        } else {
            appendRegular(name, value)
        }
    }

    private mutating func appendPseudo(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        if name.equalsIgnoringCase(":path") {
            guard value.count <= limits.uriBytes else { return fail(.targetTooLong) }
            path = store(value)
        } else if name.equalsIgnoringCase(":method") {
            guard value.count <= limits.methodBytes else { return fail(.methodTooLong) }
            guard let method = Method(value) else { return fail(.requestLine) }
            self.method = method
        } else if name.equalsIgnoringCase(":authority") {
            guard takes(name, value) else { return }
            authority = store(value)
        } else if name.equalsIgnoringCase(":scheme") {
            isSchemeKnown = value.equalsIgnoringCase("http") || value.equalsIgnoringCase("https")
        } else if name.equalsIgnoringCase(":protocol") {
            connectProtocol = value.equalsIgnoringCase("websocket") ? .webSocket : .other
        } else if name.equalsIgnoringCase(":status") {
            guard let code = value.decimalNumber, let status = Status(code) else {
                return fail(.statusLine)
            }
            self.status = status
        }
    }

    private mutating func store(_ value: Span<UInt8>) -> Range<Int> {
        let start = text.count
        text.append(copying: value)
        return start..<text.count
    }

    private mutating func appendRegular(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        beginLines()
        guard takes(name, value) else { return }
        switch name.count {
        case 3 where name.equalsIgnoringCase("via"): hasVia = true
        case 4 where status == nil && name.equalsIgnoringCase("host"):
            return appendHost(name, value)
        case 6 where name.equalsIgnoringCase("cookie"): return appendCookie(value)
        case 6 where status == nil && name.equalsIgnoringCase("expect"):
            if value.equalsIgnoringCase("100-continue") {
                expectsContinue = true
            } else {
                hasUnknownExpectation = true
            }
        case 14 where name.equalsIgnoringCase("content-length"):
            guard let length = value.decimalNumber else { return fail(.contentLength) }
            contentLength = length
        default: break
        }
        appendLine(name, value)
    }

    /// Counts a field; false if it exceeds a limit.
    private mutating func takes(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
        size += name.count + value.count + 32
        count += 1
        if size > limits.headerBytes || max(name.count, value.count) > Limits.fieldBytesMax {
            fail(.fieldsTooLarge)
        } else if count > limits.headerCount {
            fail(.tooManyFields)
        }
        return error == nil
    }

    /// The lines begin behind the pseudo fields, with `Host`.
    private mutating func beginLines() {
        guard linesStart == nil else { return }
        linesStart = text.count
        guard let authority else { return }
        let host = Array(text[authority])
        appendLine(FieldName.host.span, host.span)
    }

    /// RFC 9113 8.3.1: `Host` may be there beside `:authority`, but must not differ from it.
    private mutating func appendHost(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        guard let authority else {
            hasHost = true
            guard Authority.isValid(value) else { return fail(.host) }
            return appendLine(name, value)
        }
        guard text.span.extracting(authority).equalsIgnoringCase(value) else {
            return fail(.hostRepeated)
        }
    }

    private mutating func appendCookie(_ value: Span<UInt8>) {
        if !cookie.isEmpty { cookie.append(literal: "; ") }
        cookie.append(copying: value)
        if cookie.count > Limits.fieldBytesMax { fail(.fieldsTooLarge) }
    }

    private mutating func appendLine(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        text.append(copying: name)
        text.append(literal: ": ")
        text.append(copying: value)
        text.append(literal: "\r\n")
    }

    private mutating func fail(_ error: WireError) {
        if self.error == nil { self.error = error }
    }

    // MARK: Heads

    /// Whether there are more fields, or larger ones, than the limits allow.
    var exceedsLimits: Bool {
        switch error {
        case .fieldsTooLarge, .tooManyFields: true
        default: false
        }
    }

    /// Whether the block is the head of a HEAD request, as far as it was read.
    var isHeadRequest: Bool { method == .head }

    /// The head of a request.
    ///
    /// - Parameter endsStream: no body follows
    mutating func request(endsStream: Bool) throws(WireError) -> RequestHead {
        let (text, linesStart) = try finishLines()
        guard var method else { throw .requestLine }
        let opensWebSocket = try opensWebSocket(method)
        if opensWebSocket { method = .get }
        guard let path, isSchemeKnown, let target = Target(Bytes(text)[path]),
            target.form == .origin || (target.form == .asterisk && method == .options)
        else { throw .target }
        if let authority {
            guard Authority.isValid(text.span.extracting(authority)) else { throw .host }
        } else if !hasHost {
            throw .hostMissing
        }
        return RequestHead(
            method: method, target: target, version: .http2,
            fields: Fields(text: text, linesStart: linesStart), keepsAlive: true,
            framing: endsStream || opensWebSocket ? .none : framing,
            expectsContinue: expectsContinue && !opensWebSocket,
            hasUnknownExpectation: hasUnknownExpectation, hasVia: hasVia,
            opensWebSocket: opensWebSocket)
    }

    /// Whether a request is an extended CONNECT for a WebSocket; throws for other tunnels. nghttp2 has
    /// checked that `:protocol` stands beside CONNECT only, and was announced.
    private func opensWebSocket(_ method: Method) throws(WireError) -> Bool {
        guard method == .connect else { return false }
        switch connectProtocol {
        // It has no path (RFC 9113 8.5).
        case nil: throw .connectRefused
        case .other: throw .connectProtocol
        case .webSocket: return true
        }
    }

    /// The head of a response, an interim one included.
    ///
    /// - Parameter hasBody: a body follows
    mutating func response(hasBody: Bool) throws(WireError) -> ResponseHead {
        let (text, linesStart) = try finishLines()
        guard let status else { throw .statusLine }
        return ResponseHead(
            status: status, version: .http2, fields: Fields(text: text, linesStart: linesStart),
            keepsAlive: true, framing: hasBody ? framing : .none)
    }

    /// The fields behind a body.
    mutating func trailers() throws(WireError) -> Fields {
        guard !hasUnknownExpectation else { throw .expectation }
        let (text, linesStart) = try finishLines()
        return Fields(text: text, linesStart: linesStart)
    }

    /// The end of the stream marks the end of a body whose length is not stated, as the last chunk
    /// does in HTTP/1.1. Trailers may follow a body of any stated length, also of 0.
    private var framing: BodyFraming { contentLength.map { .length($0) } ?? .chunked }

    /// Completes the lines; returns a copy of exactly their size, which the head keeps.
    private mutating func finishLines() throws(WireError) -> (text: [UInt8], linesStart: Int) {
        beginLines()
        let cookie = cookie
        if !cookie.isEmpty { appendLine(FieldName.cookie.span, cookie.span) }
        if let error { throw error }
        var copy: [UInt8] = []
        copy.append(copying: text.span)
        return (copy, linesStart ?? 0)
    }
}

extension Span<UInt8> {
    /// Digits and nothing else, as a number.
    fileprivate var decimalNumber: Int? {
        guard (1...19).contains(count) else { return nil }
        var number = 0
        for index in indices {
            let digit = self[index] &- UInt8(ascii: "0")
            let (scaled, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflow2) = scaled.addingReportingOverflow(Int(digit))
            guard digit < 10, !overflow, !overflow2 else { return nil }
            number = sum
        }
        return number
    }
}
