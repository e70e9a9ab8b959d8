package import Basics

/// Gathers a body up to a limit. One that comes in one piece is copied once, into its exact size.
package struct BodyBuffer {
    /// In bytes.
    package let limit: Int
    private let expected: Int?
    private var bytes: [UInt8] = []
    private let memoryOwner: Exchange?

    /// Whether a piece was refused because the core holds too much, and not for the limit.
    package private(set) var lacksRoom = false

    /// What is reserved for a body before it comes, in bytes: most bodies fit, so that they grow in
    /// place, and many clients that announce large ones and send nothing take little.
    private static let reservedBytesMax = 64 * 1024

    /// - Parameters:
    ///   - framing: tells the size, where it does.
    ///   - limit: in bytes.
    ///   - memoryOwner: whose bytes they are.
    package init(_ framing: BodyFraming, limit: Int, for memoryOwner: Exchange? = nil) {
        self.limit = limit
        self.memoryOwner = memoryOwner
        if case .length(let length) = framing { expected = length } else { expected = nil }
    }

    /// Whether the announced size alone is beyond the limit, so that nothing needs to be read.
    package var isTooLargeFromTheStart: Bool { (expected ?? 0) > limit }

    /// Keeps a piece; false if that would be more than the limit, or than there is room for, and
    /// the piece is not kept then.
    package mutating func append(_ piece: Span<UInt8>) -> Bool {
        guard piece.count <= limit - bytes.count else { return false }
        if let memoryOwner, !memoryOwner.reserve(piece.count) {
            lacksRoom = true
            return false
        }
        if bytes.isEmpty {
            // Announced is not sent, and only what was sent counts as held.
            bytes.reserveCapacity(
                max(piece.count, min(expected ?? 0, limit, Self.reservedBytesMax)))
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
