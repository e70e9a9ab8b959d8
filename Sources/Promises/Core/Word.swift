public import Synchronization

/// One machine word of a node, seen as atomic or as plain, whichever its node needs.
///
/// A node that is confined to one core is only ever touched by that core's thread, so a plain load
/// and a plain store do what a locked read-modify-write does elsewhere.
@usableFromInline @safe
struct Word {
    @usableFromInline let cell: UnsafeMutablePointer<Atomic<UInt>>
    @usableFromInline let isConfined: Bool

    @inlinable @inline(__always)
    init(_ cell: UnsafeMutablePointer<Atomic<UInt>>, isConfined: Bool) {
        unsafe self.cell = unsafe cell
        self.isConfined = isConfined
    }

    /// The bits, acquired: what was written before they were stored is visible.
    @inlinable @inline(__always)
    var bits: UInt { unsafe cell.pointee.load(ordering: .acquiring) }

    /// Sets bits and gives the word as it was.
    @inlinable @inline(__always)
    func insert(_ mask: UInt) -> UInt {
        if isConfined {
            let old = unsafe cell.pointee.load(ordering: .relaxed)
            unsafe cell.pointee.store(old | mask, ordering: .relaxed)
            return old
        }
        return unsafe cell.pointee.bitwiseOr(mask, ordering: .acquiringAndReleasing).oldValue
    }

    /// Clears bits and gives the word as it was.
    @inlinable @inline(__always)
    func remove(_ mask: UInt) -> UInt {
        if isConfined {
            let old = unsafe cell.pointee.load(ordering: .relaxed)
            unsafe cell.pointee.store(old & ~mask, ordering: .relaxed)
            return old
        }
        return unsafe cell.pointee.bitwiseAnd(~mask, ordering: .acquiringAndReleasing).oldValue
    }

    /// Adds, wrapping (so that a difference can be added too), and gives the sum.
    @inlinable @inline(__always)
    func add(_ amount: UInt) -> UInt {
        if isConfined {
            let sum = unsafe cell.pointee.load(ordering: .relaxed) &+ amount
            unsafe cell.pointee.store(sum, ordering: .relaxed)
            return sum
        }
        return unsafe cell.pointee.wrappingAdd(amount, ordering: .acquiringAndReleasing).newValue
    }

    /// Stores `new` if the word is `old`. On failure `old` becomes what the word is.
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

/// The state word: how a node was settled, and the waiters it still owes.
///
/// The rest of the word is the head of the waiter stack, newest first; nodes are 16 bytes aligned.
@usableFromInline
enum State {
    @inlinable static var fulfilled: UInt { 1 }
    @inlinable static var rejected: UInt { 2 }
    /// A thread is moving waiters and will check again: new waiters stay on the stack.
    @inlinable static var busy: UInt { 4 }

    @inlinable static var settled: UInt { 3 }
    @inlinable static var tags: UInt { 7 }
}

/// The claim word: who may settle a node, who owns its closure, how many consumers it has.
@usableFromInline
enum Claim {
    /// The caller that set this bit writes the outcome. It may not have been written yet.
    @inlinable static var decided: UInt { 1 }
    /// Link: its turn has come, the closure and the parent belong to the runner.
    /// Root: a cancellation closure is in place.
    @inlinable static var started: UInt { 2 }
    /// The closure is what cancellation calls, not what a turn calls.
    @inlinable static var root: UInt { 4 }
    /// It has an observer: counts as handled, does not keep the work going.
    @inlinable static var observed: UInt { 8 }
    /// The decision was a cancellation.
    @inlinable static var cancelled: UInt { 16 }
    /// A cancellation closure is being exchanged.
    @inlinable static var locked: UInt { 32 }
    /// It is a combinator's result, which waits for its input slots.
    @inlinable static var gathering: UInt { 64 }
    /// Diagnostics remember where the chain of this node began.
    @inlinable static var hasCreationSite: UInt { 128 }
    /// A link whose step wants to know of its cancellation, too.
    @inlinable static var watching: UInt { 256 }
    /// The work goes on when all consumers have withdrawn: a reader is shielded.
    @inlinable static var shielded: UInt { 512 }
    /// One consumer; the count has the bits up to 35.
    @inlinable static var consumer: UInt { 1024 }
    /// One consumer or observer that withdrew and whose empty node is still on the waiter stack.
    @inlinable static var withdrawn: UInt { 1 << 35 }

    /// The word after a cancellation took the decision: both in one step, so that a caller that
    /// arms a root sees either neither or what it was.
    static func cancelling(_ bits: UInt) -> UInt {
        bits | (bits & root != 0 ? decided | cancelled : decided)
    }

    @inlinable static func consumers(_ bits: UInt) -> UInt { (bits & (withdrawn - 1)) / consumer }
    @inlinable static func withdrawnNodes(_ bits: UInt) -> UInt { bits / withdrawn }
    @inlinable static func isHandled(_ bits: UInt) -> Bool {
        let others =
            decided | started | root | cancelled | locked | gathering | hasCreationSite | watching
        return bits & ~others != 0
    }
}
