/// A moment on the monotonic clock, in nanoseconds since an arbitrary start.
///
/// Only differences are meaningful. It comes from an event loop (`now`), so that it is virtual in a
/// simulation; nothing else in the project reads a clock.
@usableFromInline
package struct Instant: Sendable, Hashable, Comparable {
    @usableFromInline package let nanoseconds: Int64

    @inlinable
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    @inlinable
    package static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// A later moment; saturates instead of trapping.
    @inlinable
    package static func + (moment: Instant, duration: Duration) -> Instant {
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(duration.inNanoseconds)
        return Instant(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// The time from `earlier` to `later`; negative when they are the other way round.
    @inlinable
    package static func - (later: Instant, earlier: Instant) -> Duration {
        .nanoseconds(
            later.nanoseconds.subtractingReportingOverflow(earlier.nanoseconds).partialValue)
    }
}

extension Duration {
    /// Whole nanoseconds, saturating at the ends of `Int64` (292 years).
    @inlinable
    package var inNanoseconds: Int64 {
        // Dividing 128 bits is slow. 10^9 is 2^9 times 5^9, and what is left of an hour's
        // attoseconds without their last nine bits fits into 64.
        if attoseconds >= 0, let shifted = Int64(exactly: attoseconds >> 9) {
            return shifted / 1_953_125
        }
        // Also because `components` traps beyond 2^63 seconds.
        if self >= .nanoseconds(Int64.max) { return .max }
        if self <= .nanoseconds(Int64.min) { return .min }
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// Milliseconds with their fraction, for people to read.
    package var inMilliseconds: Double { Double(inNanoseconds) / 1_000_000 }
}
