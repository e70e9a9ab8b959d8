/// Reads the responses on one connection, one after the other; used like `RequestReader`. Interim
/// responses are events of their own, up to a limit.
package struct ResponseReader {
    package typealias Event = ReadEvent<ResponseHead, ResponseHead>

    private var messages: MessageReader<ResponseHeadParser>

    package init(limits: Limits) {
        messages = MessageReader(ResponseHeadParser(), limits)
    }

    /// Whether the next response is one to HEAD, and so has no body whatever its fields say. Set
    /// before its first byte comes.
    package var answersHead: Bool {
        get { messages.parser.answersHead }
        set { messages.parser.answersHead = newValue }
    }

    /// Whether bytes of a response have come, of an interim one included, and its last one has not.
    package var isInMessage: Bool { messages.isInMessage }

    /// What comes next in `bytes` from `position` on; moves the position behind it. An error is final.
    package mutating func read(
        _ bytes: Span<UInt8>, from position: inout Int
    ) throws(WireError) -> Event {
        try messages.read(bytes, from: &position)
    }

    /// The other side sends no more: true if that completes a response. Throws if it cuts one short;
    /// false if there was none.
    package mutating func end() throws(WireError) -> Bool {
        try messages.end()
    }
}
