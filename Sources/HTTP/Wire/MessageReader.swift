import Basics

/// Reads the messages on one connection in order, independent of sockets: head, framing, body,
/// trailers. `RequestReader` and `ResponseReader` use it; both are in this module, so that the
/// compiler specialises it for each.
///
/// Only a head that arrives in pieces is copied; a complete one is parsed in place. An error is
/// final: every later call throws it again.
struct MessageReader<Parser: HeadParser> {
    typealias Event = ReadEvent<Parser.Head, Parser.Interim>

    private enum State {
        case head
        case body
        case failed(WireError)
    }

    private var state = State.head
    /// Unchanged after an error.
    var parser: Parser
    /// The body of the present message. Not part of the state, so that it is changed in place.
    private var body = BodyReader(.none)
    /// The beginning of an incomplete head.
    private var partial: [UInt8] = []

    init(_ parser: Parser) {
        self.parser = parser
    }

    /// Whether a message has begun and has not ended.
    var isInMessage: Bool {
        switch state {
        case .head: parser.hasBegun
        case .body: true
        case .failed: false
        }
    }

    /// Whether the next bytes belong to a head.
    var isInHead: Bool {
        if case .head = state { true } else { false }
    }

    /// Size of the stored beginning of a head, in bytes.
    var memoryBytes: Int { partial.count }

    /// The next event in `bytes` from `position` on; moves the position behind it.
    mutating func read(
        _ bytes: Span<UInt8>, from position: inout Int
    ) throws(WireError) -> Event {
        do throws(WireError) {
            switch state {
            case .failed(let error): throw error
            case .head: return try readHead(bytes, from: &position)
            case .body: return try readBody(bytes, from: &position)
            }
        } catch {
            throw fail(error)
        }
    }

    /// The peer sends no more: true if that completes a message, false if there was none. Throws if
    /// it truncates one.
    mutating func end() throws(WireError) -> Bool {
        switch state {
        case .failed(let error): throw error
        case .body where body.endsWithConnection:
            state = .head
            return true
        case .head, .body:
            guard isInMessage else { return false }
            throw fail(.cutShort)
        }
    }

    private mutating func fail(_ error: WireError) -> WireError {
        state = .failed(error)
        partial = []
        return error
    }

    private mutating func readHead(
        _ bytes: Span<UInt8>, from position: inout Int
    ) throws(WireError) -> Event {
        guard position < bytes.count else { return .needsMore }
        let held = partial.count
        guard let (head, length) = try parse(bytes.extracting(position...)) else {
            position = bytes.count
            return .needsMore
        }
        position &+= length &- held
        if held > 0 { partial = [] }
        if let interim = try parser.interim(head) { return .interim(interim) }
        body = BodyReader(Parser.framing(head))
        state = .body
        return .head(head)
    }

    /// Parses the given bytes behind the stored ones; stores them if the head is incomplete.
    @inline(__always)
    private mutating func parse(
        _ given: Span<UInt8>
    ) throws(WireError) -> (head: Parser.Head, length: Int)? {
        guard partial.isEmpty else { return try parseBehindPartial(given) }
        if let found = try parser.parse(given) { return found }
        partial.append(copying: given)
        return nil
    }

    @inline(never)
    private mutating func parseBehindPartial(
        _ given: Span<UInt8>
    ) throws(WireError) -> (head: Parser.Head, length: Int)? {
        partial.append(copying: given)
        let held = partial
        return try parser.parse(held.span)
    }

    private mutating func readBody(
        _ bytes: Span<UInt8>, from position: inout Int
    ) throws(WireError) -> Event {
        let event =
            body.isChunked
            ? try body.readChunks(bytes, from: &position, parser.limits.values)
            : body.read(bytes, from: &position)
        switch event {
        case .needsMore: return .needsMore
        case .data(let range): return .body(range)
        case .trailers(let range): return .trailers(range)
        case .end:
            state = .head
            return .complete
        }
    }
}
