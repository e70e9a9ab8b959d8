/// Reads the responses on one connection in order; used like `RequestReader`. Interim responses are
/// separate events, up to a limit.
package struct ResponseReader {
    package typealias Event = ReadEvent<ResponseHead, ResponseHead>

    private var messages: MessageReader<ResponseHeadParser>

    package init(limits: WireLimits) {
        messages = MessageReader(ResponseHeadParser(limits))
    }

    /// A reader with limits of its own.
    package init(limits: Limits) {
        self.init(limits: WireLimits(limits))
    }

    /// Whether the next response is one to HEAD, and so has no body whatever its fields state. Set
    /// before its first byte arrives.
    package var answersHead: Bool {
        get { messages.parser.answersHead }
        set { messages.parser.answersHead = newValue }
    }

    /// Whether the next response may switch to another protocol. Set before its first byte arrives.
    package var mayUpgrade: Bool {
        get { messages.parser.mayUpgrade }
        set { messages.parser.mayUpgrade = newValue }
    }

    /// The statuses for which the fields of the next response are not used: its head has none, unless
    /// the content has a coding or `Cache-Control` forbids a cache to store it for everyone. Not
    /// applied to a response to HEAD. Set before its first byte arrives.
    package var statusesWithoutFields: ClosedRange<Int>? {
        get { messages.parser.statusesWithoutFields }
        set { messages.parser.statusesWithoutFields = newValue }
    }

    /// Whether a response has begun, interim responses included, and has not ended.
    package var isInMessage: Bool { messages.isInMessage }

    /// The next event in `bytes` from `position` on; moves the position behind it. An error is
    /// final.
    package mutating func read(
        _ bytes: Span<UInt8>, from position: inout Int
    ) throws(WireError) -> Event {
        try messages.read(bytes, from: &position)
    }

    /// The peer sends no more: true if that completes a response, false if there was none. Throws
    /// if it truncates one.
    package mutating func end() throws(WireError) -> Bool {
        try messages.end()
    }
}
