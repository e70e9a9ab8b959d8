import Basics

/// Reads requests from the bytes of one connection, one after the other, with no idea of sockets.
///
///     var position = 0
///     reading: while true {
///         switch try reader.read(bytes, from: &position) {
///         case .head(let head): …
///         case .body(let range): keep(bytes.extracting(range))
///         case .complete: break reading        // bytes from `position` on belong to the next one
///         case .needsMore: break reading       // all consumed
///         }
///     }
///
/// Only a head that comes in pieces is copied here; a whole one is parsed where it lies. An error
/// is final: every later call throws it again.
package struct RequestReader {
    private enum State {
        case head
        case body(BodyReader)
        case failed(WireError)
    }

    private let limits: Limits
    private var state = State.head
    private var parser = RequestHeadParser()
    /// The beginning of a head whose rest has not come.
    private var partial: [UInt8] = []
    /// Whether what failed was the head of a HEAD request.
    private var failedOnHead = false

    package init(limits: Limits) {
        self.limits = limits
    }

    /// Whether bytes of a message have come and its last one has not.
    package var isInMessage: Bool {
        switch state {
        case .head: parser.hasBegun
        case .body: true
        case .failed: false
        }
    }

    /// What it keeps of a head whose rest has not come, in bytes.
    package var heldBytes: Int { partial.count }

    /// Whether the head that has begun, or was refused, is that of a HEAD request; false as long as its
    /// method is not known.
    package var asksHead: Bool {
        switch state {
        case .head: parser.asksHead(partial.span)
        case .failed: failedOnHead
        case .body: false
        }
    }

    /// Whether the next bytes belong to a head.
    package var isInHead: Bool {
        if case .head = state { true } else { false }
    }

    /// What comes next in `bytes` from `position` on; moves the position behind it.
    package mutating func read(
        _ bytes: Span<UInt8>, from position: inout Int
    ) throws(WireError) -> ReadEvent<RequestHead> {
        do throws(WireError) {
            switch state {
            case .failed(let error): throw error
            case .head: return try readHead(bytes, from: &position)
            case .body(let body): return try readBody(body, bytes, from: &position)
            }
        } catch {
            if case .head = state {
                if partial.isEmpty {
                    failedOnHead = parser.asksHead(bytes.extracting(position...))
                } else {
                    failedOnHead = parser.asksHead(partial.span)
                }
            }
            state = .failed(error)
            partial = []
            throw error
        }
    }

    /// The other side will send no more. Throws when that is in the middle of a request.
    package mutating func end() throws(WireError) {
        guard isInMessage else { return }
        state = .failed(.cutShort)
        throw .cutShort
    }

    private mutating func readHead(
        _ bytes: Span<UInt8>, from position: inout Int
    ) throws(WireError) -> ReadEvent<RequestHead> {
        guard position < bytes.count else { return .needsMore }
        let held = partial.count
        let given = bytes.extracting(position...)
        guard let (head, length) = try parse(given) else {
            position = bytes.count
            return .needsMore
        }
        position &+= length &- held
        partial = []
        parser = RequestHeadParser()
        state = .body(BodyReader(head.framing))
        return .head(head)
    }

    /// Parses what was given, behind what was held before; holds it if that is not a whole head.
    private mutating func parse(
        _ given: Span<UInt8>
    ) throws(WireError) -> (head: RequestHead, length: Int)? {
        let isFirst = partial.isEmpty
        if isFirst, let found = try parser.parse(given, limits) { return found }
        partial.append(copying: given)
        guard !isFirst else { return nil }
        let held = partial
        return try parser.parse(held.span, limits)
    }

    private mutating func readBody(
        _ body: BodyReader, _ bytes: Span<UInt8>, from position: inout Int
    ) throws(WireError) -> ReadEvent<RequestHead> {
        var body = body
        let event = try body.read(bytes, from: &position, limits)
        switch event {
        case .needsMore:
            state = .body(body)
            return .needsMore
        case .data(let range):
            state = .body(body)
            return .body(range)
        case .end:
            state = .head
            return .complete
        }
    }
}
