package import Basics

/// Gathers a body up to a limit. One that comes in one piece is copied once, into its exact size.
package struct BodyBuffer {
    /// In bytes.
    package let limit: Int
    private let expected: Int?
    private var bytes: [UInt8] = []

    /// - Parameters:
    ///   - framing: tells the size, where it does.
    ///   - limit: in bytes.
    package init(_ framing: BodyFraming, limit: Int) {
        self.limit = limit
        if case .length(let length) = framing { expected = length } else { expected = nil }
    }

    /// Whether the announced size alone is beyond the limit, so that nothing needs to be read.
    package var isTooLargeFromTheStart: Bool { (expected ?? 0) > limit }

    /// How many bytes are held.
    package var count: Int { bytes.count }

    /// Keeps a piece; false if that would be more than the limit, and the piece is not kept then.
    package mutating func append(_ piece: Span<UInt8>) -> Bool {
        guard piece.count <= limit - bytes.count else { return false }
        if bytes.isEmpty {
            // Announced is not sent: no more than the limit is ever reserved.
            bytes.reserveCapacity(max(piece.count, min(expected ?? 0, limit)))
        }
        bytes.append(copying: piece)
        return true
    }

    /// What was gathered; the buffer is empty then.
    package mutating func take() -> Bytes {
        let gathered = bytes
        bytes = []
        return Bytes(gathered)
    }
}
