/// The model of a token bucket, written from the documentation.
///
/// The moment of a charge is not visible from outside, only that it lies between two. So every rule uses
/// the bound that makes a violation certain. Times are in seconds.
struct BucketModel {
    let burst: Int
    /// Seconds per charge.
    let interval: Double

    /// A charge, or one that may have been made.
    struct Charge {
        /// A fraction for what is left of one that was refunded.
        let cost: Double
        let earliest: Double
        let latest: Double

        func overlaps(_ other: Charge) -> Bool {
            earliest <= other.latest && other.earliest <= latest
        }
    }

    /// The gateway counts in units of 10 µs.
    private static let tolerance = 0.000_02

    /// More than burst + rate × time.
    struct Excess {
        let cost: Double
        let seconds: Double
        /// Index of the last charge.
        let last: Int
    }

    /// The first excess among charges that were certainly made; nil if there is none.
    ///
    /// - Parameter refunded: what time may have paid of charges that were taken back. If two of them were
    ///   held at the same time, the gateway may return it, too.
    func excess(in charges: [Charge], refunded: [Charge] = []) -> Excess? {
        let simultaneous = refunded.indices.filter { index in
            refunded.indices.contains { $0 != index && refunded[$0].overlaps(refunded[index]) }
        }.map { refunded[$0] }
        for first in charges {
            for (index, last) in charges.enumerated() where last.latest >= first.earliest {
                let within = charges.filter {
                    $0.earliest >= first.earliest && $0.latest <= last.latest
                }
                let cost = within.reduce(0) { $0 + $1.cost }
                let seconds = last.latest - first.earliest + Self.tolerance
                let time = Charge(cost: 0, earliest: first.earliest, latest: last.latest)
                let inexact = simultaneous.filter(time.overlaps).reduce(0) { $0 + $1.cost }
                if cost > Double(burst) + inexact + seconds / interval {
                    return Excess(cost: cost, seconds: seconds, last: index)
                }
            }
        }
        return nil
    }

    /// What time has paid of a charge at most, between its two moments.
    func rest(of charge: Charge) -> Charge {
        let held = charge.latest - charge.earliest + Self.tolerance
        return Charge(
            cost: min(charge.cost, held / interval), earliest: charge.earliest,
            latest: charge.latest)
    }

    /// Whether the bucket grants a cost at a time, even if all other charges were made, as late as
    /// possible.
    func mustGrant(_ cost: Double, at now: Double, after others: [Charge]) -> Bool {
        debt(of: cost, at: now, after: others.map { ($0.latest, $0.cost) })
            <= capacity - Self.tolerance
    }

    /// Whether the bucket refuses a cost at a time, even if the charges, which were certainly made
    /// before, were made as early as possible.
    func mustRefuse(_ cost: Double, at now: Double, after charges: [Charge]) -> Bool {
        debt(of: cost, at: now, after: charges.map { ($0.earliest, $0.cost) })
            > capacity + Self.tolerance
    }

    private var capacity: Double { Double(burst) * interval }

    /// The time until the bucket is full again, after the charges and one more of this cost.
    private func debt(
        of cost: Double, at now: Double, after charges: [(time: Double, cost: Double)]
    ) -> Double {
        var arrival = -Double.infinity
        for charge in charges.sorted(by: { $0.time < $1.time }) {
            arrival = max(arrival, charge.time) + charge.cost * interval
        }
        return max(arrival, now) + cost * interval - now
    }
}
