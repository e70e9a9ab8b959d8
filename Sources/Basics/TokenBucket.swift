/// A rate with a burst, decided by the generic cell rate algorithm (GCRA): a token bucket whose
/// whole state is one number, the theoretical arrival time.
///
/// The arrival time is when the bucket is full again. A request of cost c moves it by c intervals,
/// and is granted if it is then at most one burst ahead of the clock: so in any time T at most
/// `burst` + rate × T requests pass. This type holds only the rule; it is pure, and the times are
/// parameters and results.
///
/// Times are whole units of 10 µs. Most rates have an interval of whole units. The interval of
/// others, such as 7/s or 30000/s, is a fraction: their arrival times lie on a fixed lattice of
/// rounded points, which has the exact rate, so that no error adds up.
package struct TokenBucket: Sendable, Equatable {
    /// Requests per period.
    package let count: Int
    package let period: Duration
    /// The most requests that pass at once.
    package let burst: Int

    /// The interval is `numerator / denominator` units.
    private let numerator: Int64
    private let denominator: Int64
    /// Lattice points per interval; 1 for an interval of whole units, which needs no lattice.
    private let points: Int64
    /// How far the arrival time may be ahead of the clock, in units.
    package let tolerance: Int64

    /// One unit of time, in nanoseconds. An interval has at least one: 100,000 requests per second.
    package static let unit: Int64 = 10_000

    /// The longest time that an empty bucket may need until it is full, in units: 366 days.
    package static let horizon: Int64 = 366 * 86_400 * (1_000_000_000 / unit)

    /// The most requests of a period and of a burst.
    package static let countMax = 1_000_000

    /// Nil if the rate is above 100,000 requests per second, if the empty bucket would need more
    /// than 366 days, or if a number is outside of 1 to `countMax`.
    package init?(count: Int, per period: Duration, burst: Int) {
        let units = period.inNanoseconds / Self.unit
        guard (1...Self.countMax).contains(count), (1...Self.countMax).contains(burst),
            units >= count, units <= Self.horizon
        else { return nil }
        let divisor = Self.greatestCommonDivisor(units, Int64(count))
        let (numerator, denominator) = (units / divisor, Int64(count) / divisor)
        // At most 2^20 × 2^42, which does not overflow; nor does any product below.
        let refill = Self.quotientRoundedUp(Int64(burst) * numerator, denominator)
        guard refill <= Self.horizon else { return nil }
        self.count = count
        self.period = period
        self.burst = burst
        self.numerator = numerator
        self.denominator = denominator
        tolerance = refill
        // As fine as whole units and the products allow.
        points =
            denominator == 1
            ? 1
            : max(1, min(numerator / denominator, Int64(1) << 62 / numerator / denominator))
    }

    /// A moment in units.
    package static func time(of moment: Instant) -> Int64 { max(0, moment.nanoseconds) / unit }

    /// A duration in units.
    package static func units(of duration: Duration) -> Int64 {
        max(0, duration.inNanoseconds) / unit
    }

    /// The arrival time after a request; nil if the request is refused, which changes nothing.
    ///
    /// - Parameters:
    ///   - arrival: the present one; a time that has passed means that the bucket is full
    package func arrival(charging cost: Int, to arrival: Int64, at now: Int64) -> Int64? {
        let new = advanced(max(arrival, now), by: cost, isFresh: arrival <= now)
        assert(cost > 0 && new >= max(arrival, now), "a charge fills the bucket")
        return new - now <= tolerance ? new : nil
    }

    /// The arrival time after a whole charge is taken back.
    package func arrival(refunding cost: Int, to arrival: Int64) -> Int64 {
        advanced(arrival, by: -cost, isFresh: false)
    }

    /// The arrival time after what time has not yet paid of a charge is taken back.
    ///
    /// Time pays for the charges of a bucket one after the other. A bucket that took back what time has
    /// paid could grant more than `burst` + rate × T.
    ///
    /// `arrivalAfterCharge` does not change when an earlier charge is taken back. If both are taken back,
    /// the later one may return what time has paid, too: at most its cost, and at most what the rate
    /// allows between the charge and now.
    package func arrival(
        refunding cost: Int, arrivalAfterCharge: Int64, to arrival: Int64, at now: Int64
    ) -> Int64 {
        let unpaid = max(0, arrivalAfterCharge - now)
        let new = max(arrival - unpaid, self.arrival(refunding: cost, to: arrival))
        assert(new <= arrival, "a refund empties the bucket")
        return new
    }

    /// How many requests of cost 1 would be granted.
    package func remaining(_ arrival: Int64, at now: Int64) -> Int {
        let room = tolerance - max(0, arrival - now)
        guard room > 0 else { return 0 }
        let whole = Int(min(Int64(burst), room * denominator / numerator))
        // A time on the lattice is rounded up, so that there may be room for one more.
        return denominator > 1 && whole < burst
            && self.arrival(charging: whole + 1, to: arrival, at: now) != nil ? whole + 1 : whole
    }

    /// The time until a request of this cost is granted, in units.
    package func wait(for cost: Int, _ arrival: Int64, at now: Int64) -> Int64 {
        let new = advanced(max(arrival, now), by: cost, isFresh: arrival <= now)
        return max(0, new - now - tolerance)
    }

    /// The time until the bucket is full, in units.
    package func timeToFull(_ arrival: Int64, at now: Int64) -> Int64 { max(0, arrival - now) }

    /// Units as seconds, rounded up.
    package static func seconds(_ units: Int64) -> Int {
        Int(quotientRoundedUp(units, 1_000_000_000 / unit))
    }

    // MARK: Lattice

    /// The time `cost` intervals after an arrival time.
    ///
    /// - Parameter isFresh: whether the time is the clock's, and so perhaps not on the lattice. The time after
    ///   a part of a charge was taken back is not on it either; it is rounded up to the next point.
    private func advanced(_ time: Int64, by cost: Int, isFresh: Bool) -> Int64 {
        if denominator == 1 { return time + Int64(cost) * numerator }
        // The lattice repeats after `numerator` units, which are `perTurn` points.
        let perTurn = denominator * points
        let offset = time % numerator
        // The time of point n is n × numerator / perTurn, rounded up. The points are at least a
        // unit apart, so the point of a time that lies on the lattice is found without an error.
        var point = offset == 0 ? 0 : (offset - 1) * perTurn / numerator + 1
        // The point at or before the clock, so that a full bucket grants its whole burst.
        if isFresh, Self.quotientRoundedUp(point * numerator, perTurn) > offset { point -= 1 }
        point += Int64(cost) * points
        let turns = point >= 0 ? point / perTurn : -((perTurn - 1 - point) / perTurn)
        let rest = Self.quotientRoundedUp((point - turns * perTurn) * numerator, perTurn)
        return time - offset + turns * numerator + rest
    }

    private static func quotientRoundedUp(_ number: Int64, _ divisor: Int64) -> Int64 {
        (number + divisor - 1) / divisor
    }

    private static func greatestCommonDivisor(_ first: Int64, _ second: Int64) -> Int64 {
        var (larger, smaller) = (first, second)
        while smaller > 0 { (larger, smaller) = (smaller, larger % smaller) }
        return larger
    }
}
