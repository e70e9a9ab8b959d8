/// Finds the end of a body with any framing.
struct BodyReader {
    /// The next event in the body.
    enum Event {
        case needsMore
        /// This range of the given bytes is data.
        case data(Range<Int>)
        /// This range of the given bytes is trailer fields.
        case trailers(Range<Int>)
        /// The body and its trailers are complete.
        case end
    }

    private enum State {
        case length
        case chunked
        case untilClose
        case over
    }

    private var state: State
    /// The bytes that a body of known length still has.
    private var remaining = 0
    private var decoder = ChunkedDecoder()

    init(_ framing: BodyFraming) {
        switch framing {
        case .none: state = .over
        case .length(let length):
            state = .length
            remaining = length
        case .chunked: state = .chunked
        case .untilClose: state = .untilClose
        }
    }

    /// Whether the end of the connection is the end of the body.
    var endsWithConnection: Bool { state == .untilClose }

    var isChunked: Bool { state == .chunked }

    /// The next event in a body that is not chunked.
    @inline(__always)
    mutating func read(_ bytes: Span<UInt8>, from position: inout Int) -> Event {
        if state == .over { return .end }
        guard position < bytes.count else { return .needsMore }
        let start = position
        if state == .length {
            position = start &+ min(remaining, bytes.count &- start)
            remaining &-= position &- start
            if remaining == 0 { state = .over }
        } else {
            position = bytes.count
        }
        return .data(start..<position)
    }

    /// The next event in a chunked body.
    mutating func readChunks(
        _ bytes: Span<UInt8>, from position: inout Int, _ limits: Limits
    ) throws(WireError) -> Event {
        try decoder.read(bytes, from: &position, limits)
    }
}
