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
        case length(Int)
        case chunked(ChunkedDecoder)
        case untilClose
        case over
    }

    private var state: State

    init(_ framing: BodyFraming) {
        switch framing {
        case .none: state = .over
        case .length(let length): state = .length(length)
        case .chunked: state = .chunked(ChunkedDecoder())
        case .untilClose: state = .untilClose
        }
    }

    /// Whether the end of the connection is the end of the body.
    var endsWithConnection: Bool {
        if case .untilClose = state { true } else { false }
    }

    mutating func read(
        _ bytes: Span<UInt8>, from position: inout Int, _ limits: Limits
    ) throws(WireError) -> Event {
        switch state {
        case .over: return .end
        case .length(let remaining):
            guard position < bytes.count else { return .needsMore }
            let start = position
            position = start &+ min(remaining, bytes.count &- start)
            let rest = remaining &- (position &- start)
            state = rest == 0 ? .over : .length(rest)
            return .data(start..<position)
        case .untilClose:
            guard position < bytes.count else { return .needsMore }
            let start = position
            position = bytes.count
            return .data(start..<position)
        case .chunked(var decoder):
            let event = try decoder.read(bytes, from: &position, limits)
            state = .chunked(decoder)
            return event
        }
    }
}
