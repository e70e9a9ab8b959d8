/// Reads the requests on one connection, one after the other.
///
///     var position = 0
///     reading: while true {
///         switch try reader.read(bytes, from: &position) {
///         case .head(let head): …
///         case .body(let range): keep(bytes.extracting(range))
///         case .trailers: break                // or keep them
///         case .complete: break reading        // bytes from `position` on belong to the next one
///         case .needsMore: break reading       // all consumed
///         }
///     }
///
/// A concrete type, since generic code is specialised within its module only.
package struct RequestReader {
    package typealias Event = ReadEvent<RequestHead, Never>

    private var messages: MessageReader<RequestHeadParser>

    package init(limits: Limits) {
        messages = MessageReader(RequestHeadParser(), limits)
    }

    /// Whether bytes of a request have come and its last one has not.
    package var isInMessage: Bool { messages.isInMessage }

    /// Whether the next bytes belong to a head.
    package var isInHead: Bool { messages.isInHead }

    /// Size of the stored beginning of a head, in bytes.
    package var memoryBytes: Int { messages.memoryBytes }

    /// Whether the head that has begun, or was refused, is that of a HEAD request; false as long as its
    /// method is not known.
    package var isHeadRequest: Bool { messages.parser.isHead }

    /// What comes next in `bytes` from `position` on; moves the position behind it. An error is final.
    package mutating func read(
        _ bytes: Span<UInt8>, from position: inout Int
    ) throws(WireError) -> Event {
        try messages.read(bytes, from: &position)
    }

    /// The other side sends no more. Throws if that is in the middle of a request.
    package mutating func end() throws(WireError) {
        // No request ends with its connection (RFC 9112 6.3), so that nothing can be completed.
        _ = try messages.end()
    }
}
