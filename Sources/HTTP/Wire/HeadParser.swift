/// The difference between reading requests and reading responses: their heads. `MessageReader` does
/// the rest.
protocol HeadParser {
    associatedtype Head: Sendable
    associatedtype Interim: Sendable

    var limits: WireLimits { get }

    /// Whether a message has begun whose final head is not complete.
    var hasBegun: Bool { get }

    /// The head and its length in bytes; nil until it is complete.
    ///
    /// Each call gets all bytes of the head so far, from its first one on, and does not read again
    /// what the previous call has read. After a complete head the parser is ready for the next one.
    mutating func parse(_ bytes: Span<UInt8>) throws(WireError) -> (head: Head, length: Int)?

    /// The head as an interim one, which another head follows; nil if it is the final one.
    mutating func interim(_ head: Head) throws(WireError) -> Interim?

    /// How the body behind a final head is framed.
    static func framing(_ head: Head) -> BodyFraming
}
