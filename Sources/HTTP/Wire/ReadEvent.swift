/// What a reader found next in the bytes it was given.
package enum ReadEvent<Head: Sendable>: Sendable {
    /// Everything given is consumed, and the message is not over.
    case needsMore
    /// The head of a message.
    case head(Head)
    /// These of the given bytes belong to the body.
    case body(Range<Int>)
    /// The message is over; the next bytes belong to the next one.
    case complete
}
