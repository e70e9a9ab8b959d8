package import Basics

/// Collects a body up to a limit. A body in one piece is copied once, into memory of its exact
/// size.
package struct BodyBuffer {
    /// In bytes.
    package let limit: Int
    private let expected: Int?
    private var bytes: [UInt8] = []
    /// Bytes collected so far.
    package private(set) var count = 0
    private let memoryOwner: (any MemoryOwner)?

    /// Whether a piece was refused because the worker's budget is exhausted, and not for the limit.
    package private(set) var lacksRoom = false

    /// The most memory that is reserved before a body arrives, in bytes. Most bodies fit, so that
    /// they need no reallocation, and clients that announce large bodies and send nothing use
    /// little.
    private static let reservedBytesMax = 64 * 1024

    /// - Parameters:
    ///   - framing: contains the length, if it is known
    ///   - limit: in bytes
    ///   - memoryOwner: reserves the memory
    package init(_ framing: BodyFraming, limit: Int, for memoryOwner: (any MemoryOwner)? = nil) {
        self.limit = limit
        self.memoryOwner = memoryOwner
        if case .length(let length) = framing { expected = length } else { expected = nil }
    }

    /// Whether the stated length exceeds the limit, so that nothing needs to be read.
    package var isTooLargeFromTheStart: Bool { (expected ?? 0) > limit }

    /// Stores a piece; false, and nothing is stored, if it exceeds the limit or the budget.
    package mutating func append(_ piece: Span<UInt8>) -> Bool {
        guard piece.count <= limit - bytes.count else { return false }
        if let memoryOwner, !memoryOwner.reserve(piece.count) {
            lacksRoom = true
            return false
        }
        if bytes.isEmpty {
            // Only received bytes are reserved in the budget, not announced ones.
            bytes.reserveCapacity(
                max(piece.count, min(expected ?? 0, limit, Self.reservedBytesMax)))
        }
        bytes.append(copying: piece)
        count = bytes.count
        return true
    }

    /// Returns the collected bytes and empties the buffer.
    package mutating func take() -> Bytes {
        let collected = bytes
        bytes = []
        count = 0
        return Bytes(collected)
    }
}
