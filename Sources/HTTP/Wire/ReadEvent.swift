/// What a reader found next in the bytes it was given.
///
/// `Interim` is the head of a response with a status below 200 (RFC 9110 15.2); `Never` for requests,
/// which have none.
package enum ReadEvent<Head: Sendable, Interim: Sendable>: Sendable {
    /// Everything given is consumed, and the message is not over.
    case needsMore
    /// The head of a message that precedes the final one.
    case interim(Interim)
    /// The head of a message.
    case head(Head)
    /// These of the given bytes belong to the body.
    case body(Range<Int>)
    /// These of the given bytes belong to the trailer section (RFC 9112 7.1.2): checked field lines,
    /// of which the first and the last may be cut, without the empty line that ends the section.
    case trailers(Range<Int>)
    /// The message is over; the next bytes belong to the next one.
    case complete
}
