package import Basics

/// What one limit of a request is charged in the store, in the units of `LimitScript`.
package struct StoreCharge: Equatable {
    package let key: Bytes
    private(set) var charge: Int64
    /// The time of a whole burst.
    let tolerance: Int64
    /// The most that the arrival time may be ahead.
    let aheadMax: Int64
    /// How long ago the bucket was charged: 0 unless charges were collected.
    var age: Int64 = 0
    /// How much later than this charge another replica may report an earlier one.
    let lag: Int64

    init(key: Bytes, charge: Int64, tolerance: Int64, aheadMax: Int64, lag: Int64 = 0) {
        self.key = key
        self.charge = charge
        self.tolerance = tolerance
        self.aheadMax = aheadMax
        self.lag = lag
    }

    /// Adds another charge of the same key.
    mutating func add(_ other: StoreCharge) {
        charge = StoreBucket.sum(charge, other.charge)
    }
}

/// A token bucket in the units of the store.
///
/// Its interval is rounded up to whole units, so the store never grants more than the rate.
package struct StoreBucket: Equatable, Sendable {
    let interval: Int64
    let tolerance: Int64

    /// - Parameters:
    ///   - count: requests per period, from 1 to a million
    ///   - burst: the same
    package init(count: Int, per period: Duration, burst: Int) {
        let units = period.inNanoseconds / 1_000 * 8
        interval = max(1, (units + Int64(count) - 1) / Int64(count))
        tolerance = Self.product(interval, Int64(burst))
    }

    /// - Parameters:
    ///   - slack: how far the arrival time may be ahead beyond a burst
    ///   - lag: how late another replica may report a charge
    package func charge(
        _ cost: Int, key: Bytes, slack: Duration = .zero, lag: Duration = .zero
    ) -> StoreCharge {
        StoreCharge(
            key: key, charge: Self.product(interval, Int64(cost)), tolerance: tolerance,
            aheadMax: Self.sum(tolerance, slack.inNanoseconds / 1_000 * 8),
            lag: lag.inNanoseconds / 1_000 * 8)
    }

    /// The charge that takes back what time has not yet paid of another one, as `TokenBucket` does.
    ///
    /// - Parameter unpaid: how far the arrival time after the charge is ahead, in units of `TokenBucket`
    func refund(
        _ cost: Int, unpaid: Int64, key: Bytes, slack: Duration, lag: Duration = .zero
    ) -> StoreCharge {
        let all = charge(cost, key: key, slack: slack, lag: lag)
        let unpaid = Self.product(max(0, unpaid), Self.perCellUnit)
        return StoreCharge(
            key: key, charge: -min(unpaid, all.charge), tolerance: all.tolerance,
            aheadMax: all.aheadMax, lag: all.lag)
    }

    /// A time that the script returned, in units of `TokenBucket`, rounded up.
    package static func cellUnits(_ units: Int64) -> Int64 {
        max(0, min(units, most) + perCellUnit - 1) / perCellUnit
    }

    /// Units of the store in a unit of `TokenBucket`.
    private static let perCellUnit = TokenBucket.unit / 125

    /// 2^52, beyond which the numbers of the script are inexact: more than any valid bucket has.
    private static let most: Int64 = 1 << 52

    /// A time in the units of the store, since the epoch of the loop's clock.
    static func time(of instant: Instant) -> Int64 { instant.nanoseconds / 125 }

    private static func product(_ one: Int64, _ other: Int64) -> Int64 {
        let (product, overflow) = one.multipliedReportingOverflow(by: other)
        return overflow ? most : min(product, most)
    }

    fileprivate static func sum(_ one: Int64, _ other: Int64) -> Int64 {
        let (sum, overflow) = one.addingReportingOverflow(other)
        return overflow ? most : max(-most, min(sum, most))
    }
}
