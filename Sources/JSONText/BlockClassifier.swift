import CByteClasses

/// The classes of sixty-four bytes, as masks: one bit for each byte, the first byte in the lowest
/// bit.
typealias BlockClasses = tributary_tokens

/// Memory for the classes of consecutive blocks.
@safe
struct BlockMemory {
    /// How many blocks are classified with one call, so that the masks of one block are in memory
    /// long before they are read.
    static let blockCount = 4

    fileprivate let blocks: UnsafeMutableBufferPointer<BlockClasses>

    /// Calls the closure with memory on the stack.
    @inline(__always)
    static func with<Result>(_ body: (BlockMemory) -> Result) -> Result {
        unsafe withUnsafeTemporaryAllocation(of: BlockClasses.self, capacity: blockCount) {
            unsafe body(BlockMemory(blocks: $0))
        }
    }

    /// A block that was classified.
    @inline(__always)
    subscript(index: Int) -> BlockClasses { unsafe blocks[index & (BlockMemory.blockCount - 1)] }
}

/// The functions that classify blocks of bytes, compiled for one instruction set.
@safe
struct BlockClassifier: @unchecked Sendable {
    private let functions: UnsafePointer<tributary_classifier>

    private init(at index: Int) {
        unsafe functions = tributary_classifier_at(index)
    }

    /// The implementations that this processor can execute, the fastest one last.
    static var all: [BlockClassifier] {
        (0..<tributary_classifier_count()).map { BlockClassifier(at: $0) }
    }

    @inline(__always)
    static var fastest: BlockClassifier {
        BlockClassifier(at: tributary_classifier_count() &- 1)
    }

    /// Classifies the next blocks; missing bytes at the end count as spaces. Blocks after the end are
    /// not classified.
    @inline(__always)
    func classify(_ text: Lookahead, at offset: Int, into memory: BlockMemory) {
        guard let first = unsafe memory.blocks.baseAddress else { return }
        unsafe text.withBytes(from: offset) { start, count in
            unsafe functions.pointee.tokens(start, min(count, 64 &* BlockMemory.blockCount), first)
        }
    }

    /// The classes of UTF-8 that the bytes of one block are in, and whether the block can be a part
    /// of the inside of a string.
    @inline(__always)
    func utf8Classes(_ text: Lookahead, at offset: Int) -> (tributary_utf8, isInside: Bool) {
        var classes = tributary_utf8()
        var isInside = false
        unsafe text.withBytes(from: offset) { start, count in
            isInside = unsafe functions.pointee.utf8(start, min(count, 64), &classes) != 0
        }
        return (classes, isInside)
    }

    /// How many bytes from `offset` are plain bytes of a string, in steps of sixty-four.
    @inline(__always)
    func plainCount(_ text: Lookahead, from offset: Int) -> Int {
        var plain = 0
        unsafe text.withBytes(from: offset) { start, count in
            plain = unsafe functions.pointee.plain(start, count)
        }
        return plain
    }
}
