/// The open containers of a scan, one bit each: set for an object, clear for an array.
///
/// The innermost sixty-four bits are in one word, the others in an inline array, so that no depth
/// allocates.
struct Nesting {
    /// How many containers can be open at once.
    static let depthMax = 1024

    private var innermost: UInt64 = 0
    private var outer: InlineArray<16, UInt64> = .init(repeating: 0)
    private(set) var depth = 0

    /// Whether the innermost open container is an object.
    @inline(__always)
    var isObject: Bool { innermost & 1 == 1 }

    /// The caller has checked that `depth` is below the limit.
    @inline(__always)
    mutating func push(isObject: Bool) {
        if depth & 63 == 0 { outer[(depth >> 6) & 15] = innermost }
        innermost = innermost << 1 | (isObject ? 1 : 0)
        depth &+= 1
    }

    @inline(__always)
    mutating func pop() {
        depth &-= 1
        innermost >>= 1
        if depth & 63 == 0 { innermost = outer[(depth >> 6) & 15] }
    }
}
