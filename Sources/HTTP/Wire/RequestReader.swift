/// Reads the requests on one connection in order.
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
/// A concrete type, since generic code is specialised within its module only. It cannot be copied:
/// other modules would copy all of it to read one property.
package struct RequestReader: ~Copyable {
    package typealias Event = ReadEvent<RequestHead, Never>

    private var messages: MessageReader<RequestHeadParser>

    package init(limits: WireLimits) {
        messages = MessageReader(RequestHeadParser(limits))
    }

    /// A reader with limits of its own.
    package init(limits: Limits) {
        self.init(limits: WireLimits(limits))
    }

    /// Whether a request has begun and has not ended.
    package var isInMessage: Bool { messages.isInMessage }

    /// Whether the next bytes belong to a head.
    package var isInHead: Bool { messages.isInHead }

    /// Size of the stored beginning of a head, in bytes.
    package var memoryBytes: Int { messages.memoryBytes }

    /// Whether the present or rejected head belongs to a HEAD request; false until its method is
    /// known.
    package var isHeadRequest: Bool { messages.parser.isHead }

    /// The next event in `bytes` from `position` on; moves the position behind it. An error is
    /// final.
    package mutating func read(
        _ bytes: Span<UInt8>, from position: inout Int
    ) throws(WireError) -> Event {
        try messages.read(bytes, from: &position)
    }

    /// The peer sends no more. Throws in the middle of a request.
    package mutating func end() throws(WireError) {
        // The end of a connection completes no request (RFC 9112 6.3).
        _ = try messages.end()
    }
}
