public import Synchronization

/// Access to one machine word of a node, atomic or plain, as the node needs it.
///
/// Only one thread accesses a confined node, so a plain load and a plain store replace an atomic
/// read-modify-write.
@usableFromInline @safe
struct NodeWord {
    @usableFromInline let cell: UnsafeMutablePointer<Atomic<UInt>>
    @usableFromInline let isConfined: Bool

    @inlinable @inline(__always)
    init(_ cell: UnsafeMutablePointer<Atomic<UInt>>, isConfined: Bool) {
        unsafe self.cell = unsafe cell
        self.isConfined = isConfined
    }

    /// The bits, loaded with acquire ordering: what was written before they were stored is visible.
    @inlinable @inline(__always)
    var bits: UInt { unsafe cell.pointee.load(ordering: .acquiring) }

    /// Sets bits and returns the word as it was.
    @inlinable @inline(__always)
    func insert(_ mask: UInt) -> UInt {
        if isConfined {
            let old = unsafe cell.pointee.load(ordering: .relaxed)
            unsafe cell.pointee.store(old | mask, ordering: .relaxed)
            return old
        }
        return unsafe cell.pointee.bitwiseOr(mask, ordering: .acquiringAndReleasing).oldValue
    }

    /// Clears bits and returns the word as it was.
    @inlinable @inline(__always)
    func remove(_ mask: UInt) -> UInt {
        if isConfined {
            let old = unsafe cell.pointee.load(ordering: .relaxed)
            unsafe cell.pointee.store(old & ~mask, ordering: .relaxed)
            return old
        }
        return unsafe cell.pointee.bitwiseAnd(~mask, ordering: .acquiringAndReleasing).oldValue
    }

    /// Adds with wrapping, so that a negative amount can be added too, and returns the sum.
    @inlinable @inline(__always)
    func add(_ amount: UInt) -> UInt {
        if isConfined {
            let sum = unsafe cell.pointee.load(ordering: .relaxed) &+ amount
            unsafe cell.pointee.store(sum, ordering: .relaxed)
            return sum
        }
        return unsafe cell.pointee.wrappingAdd(amount, ordering: .acquiringAndReleasing).newValue
    }

    /// Stores `new` if the word is `old`. On failure `old` becomes the current word.
    @inlinable @inline(__always)
    func replace(_ old: inout UInt, with new: UInt) -> Bool {
        if isConfined {
            unsafe cell.pointee.store(new, ordering: .relaxed)
            return true
        }
        let (exchanged, found) = unsafe cell.pointee.weakCompareExchange(
            expected: old, desired: new,
            successOrdering: .acquiringAndReleasing, failureOrdering: .acquiring)
        if !exchanged { old = found }
        return exchanged
    }
}

/// The bits of the state word: how a node was settled. The other bits are the head of the stack of
/// waiters that must still be delivered.
///
/// The stack has the newest waiter first; nodes are aligned to 16 bytes, so the low bits of their
/// addresses are free.
@usableFromInline
enum StateBits {
    @inlinable static var fulfilled: UInt { 1 }
    @inlinable static var rejected: UInt { 2 }
    /// A thread is moving waiters and will check the stack again: new waiters stay on it.
    @inlinable static var busy: UInt { 4 }

    @inlinable static var settled: UInt { 3 }
    @inlinable static var tags: UInt { 7 }
}

/// The bits of the control word: whether a node is decided, which thread owns its closure, and how
/// many consumers it has.
@usableFromInline
enum ControlBits {
    /// The thread that set this bit writes the outcome, which may not be written yet.
    @inlinable static var decided: UInt { 1 }
    /// Link: its step runs or has run; the closure and the parent belong to the running thread.
    /// Root: a cancellation closure is set.
    @inlinable static var started: UInt { 2 }
    /// A root, which a resolver settles: its closure runs on cancellation, not in a turn.
    @inlinable static var root: UInt { 4 }
    /// The node has an observer: its error counts as handled, but its work is not kept going.
    @inlinable static var observed: UInt { 8 }
    /// A cancellation decided it.
    @inlinable static var cancelled: UInt { 16 }
    /// A thread is exchanging the cancellation closure.
    @inlinable static var locked: UInt { 32 }
    /// The node is the result of a combinator, which waits for its input slots.
    @inlinable static var combinatorResult: UInt { 64 }
    /// Diagnostics have recorded where the chain of this node began.
    @inlinable static var hasCreationSite: UInt { 128 }
    /// A link whose step also runs after its cancellation.
    @inlinable static var watching: UInt { 256 }
    /// The work goes on when all consumers have withdrawn, because a reader is shielded.
    @inlinable static var shielded: UInt { 512 }
    /// One consumer; the count takes the bits 10 to 34.
    @inlinable static var consumer: UInt { 1024 }
    /// One withdrawal of a consumer or observer. The signed bits 35 to 63 count the withdrawals
    /// since the last sweep of the waiter stack, less the nodes that the sweep kept.
    @inlinable static var withdrawn: UInt { 1 << 35 }

    /// The control word after a cancellation has decided the node. `decided` and `cancelled` are
    /// set in one step, so that a thread that arms a root reads both or neither.
    static func cancelling(_ bits: UInt) -> UInt { bits | decided | cancelled }

    @inlinable static func consumers(_ bits: UInt) -> UInt { (bits & (withdrawn - 1)) / consumer }

    /// The signed count of the bits 35 to 63.
    static func withdrawals(_ bits: UInt) -> Int { Int(bitPattern: bits) >> 35 }
    @inlinable static func isHandled(_ bits: UInt) -> Bool {
        let others =
            decided | started | root | cancelled | locked | combinatorResult | hasCreationSite
            | watching
        return bits & ~others != 0
    }
}
