/// The next event that a reader found in the given bytes.
///
/// `Interim` is the head of a response with a status below 200 (RFC 9110 15.2); `Never` for requests,
/// which have none.
package enum ReadEvent<Head: Sendable, Interim: Sendable>: Sendable {
    /// All bytes are consumed, and the message is not complete.
    case needsMore
    /// The head of a message that precedes the final one.
    case interim(Interim)
    /// The head of a message.
    case head(Head)
    /// This range of the given bytes belongs to the body.
    case body(Range<Int>)
    /// This range of the given bytes belongs to the trailer section (RFC 9112 7.1.2): checked field
    /// lines, of which the first and the last may be cut, without the empty line that ends the
    /// section.
    case trailers(Range<Int>)
    /// The message is complete; further bytes belong to the next one.
    case complete
}
