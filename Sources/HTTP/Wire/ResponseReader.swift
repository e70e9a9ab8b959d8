import Basics

/// Reads the answers on one connection, one after the other; used like `RequestReader`. Interim
/// answers are read over, up to a limit.
package struct ResponseReader {
    private enum State {
        case head
        case body(BodyReader)
        case failed(WireError)
    }

    private let limits: Limits
    private var state = State.head
    private var parser = ResponseHeadParser()
    private var partial: [UInt8] = []
    private var interimAnswers = 0

    /// Whether the next answer is one to HEAD, and so has no body whatever its fields say. Set
    /// before its first byte comes.
    package var answersHead = false

    /// Whether a byte of the current answer has come, an interim one included.
    package private(set) var hasBegun = false

    package init(limits: Limits) {
        self.limits = limits
    }

    /// What comes next in `bytes` from `position` on; moves the position behind it.
    package mutating func read(
        _ bytes: Span<UInt8>, from position: inout Int
    ) throws(WireError) -> ReadEvent<ResponseHead> {
        do throws(WireError) {
            switch state {
            case .failed(let error): throw error
            case .head: return try readHead(bytes, from: &position)
            case .body(let body): return try readBody(body, bytes, from: &position)
            }
        } catch {
            state = .failed(error)
            partial = []
            throw error
        }
    }

    /// The other side will send no more: true when that completes an answer, which is then over.
    /// Throws when it cuts one short; false when there was none.
    package mutating func end() throws(WireError) -> Bool {
        if case .failed(let error) = state { throw error }
        if case .body(let body) = state, body.endsWithConnection {
            beginNext()
            return true
        }
        guard hasBegun else { return false }
        state = .failed(.cutShort)
        throw .cutShort
    }

    private mutating func readHead(
        _ bytes: Span<UInt8>, from position: inout Int
    ) throws(WireError) -> ReadEvent<ResponseHead> {
        while position < bytes.count {
            hasBegun = true
            let held = partial.count
            let given = bytes.extracting(position...)
            guard let (head, length) = try parse(given) else {
                position = bytes.count
                return .needsMore
            }
            position &+= length &- held
            partial = []
            parser = ResponseHeadParser()
            if try !isInterim(head) {
                state = .body(BodyReader(head.framing))
                return .head(head)
            }
        }
        return .needsMore
    }

    /// Parses what was given, behind what was held before; holds it if that is not a whole head.
    private mutating func parse(
        _ given: Span<UInt8>
    ) throws(WireError) -> (head: ResponseHead, length: Int)? {
        let isFirst = partial.isEmpty
        if isFirst, let found = try parser.parse(given, limits, toHead: answersHead) {
            return found
        }
        partial.append(copying: given)
        guard !isFirst else { return nil }
        let held = partial
        return try parser.parse(held.span, limits, toHead: answersHead)
    }

    private mutating func isInterim(_ head: ResponseHead) throws(WireError) -> Bool {
        guard head.status.isInterim else { return false }
        // RFC 9110 7.8: nothing was offered, so nothing can have been accepted.
        guard head.status.code != 101 else { throw .upgrade }
        interimAnswers += 1
        guard interimAnswers <= limits.interimAnswers else { throw .tooManyInterimAnswers }
        return true
    }

    private mutating func readBody(
        _ body: BodyReader, _ bytes: Span<UInt8>, from position: inout Int
    ) throws(WireError) -> ReadEvent<ResponseHead> {
        var body = body
        switch try body.read(bytes, from: &position, limits) {
        case .needsMore:
            state = .body(body)
            return .needsMore
        case .data(let range):
            state = .body(body)
            return .body(range)
        case .end:
            beginNext()
            return .complete
        }
    }

    private mutating func beginNext() {
        state = .head
        hasBegun = false
        interimAnswers = 0
    }
}
