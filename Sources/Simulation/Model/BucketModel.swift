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
        let cost: Int
        let earliest: Double
        let latest: Double
    }

    /// The gateway counts in units of 10 µs.
    private static let tolerance = 0.000_02

    /// More than burst + rate × time.
    struct Excess {
        let cost: Int
        let seconds: Double
        /// Index of the last charge.
        let last: Int
    }

    /// The first excess among charges that were certainly made; nil if there is none.
    func excess(in charges: [Charge]) -> Excess? {
        for first in charges {
            for (index, last) in charges.enumerated() where last.latest >= first.earliest {
                let within = charges.filter {
                    $0.earliest >= first.earliest && $0.latest <= last.latest
                }
                let cost = within.reduce(0) { $0 + $1.cost }
                let seconds = last.latest - first.earliest + Self.tolerance
                if Double(cost) > Double(burst) + seconds / interval {
                    return Excess(cost: cost, seconds: seconds, last: index)
                }
            }
        }
        return nil
    }

    /// Whether the bucket grants a cost at a time, even if all other charges were made, as late as
    /// possible.
    func mustGrant(_ cost: Int, at now: Double, after others: [Charge]) -> Bool {
        debt(of: cost, at: now, after: others.map { ($0.latest, $0.cost) })
            <= capacity - Self.tolerance
    }

    /// Whether the bucket refuses a cost at a time, even if the charges, which were certainly made
    /// before, were made as early as possible.
    func mustRefuse(_ cost: Int, at now: Double, after charges: [Charge]) -> Bool {
        debt(of: cost, at: now, after: charges.map { ($0.earliest, $0.cost) })
            > capacity + Self.tolerance
    }

    private var capacity: Double { Double(burst) * interval }

    /// The time until the bucket is full again, after the charges and one more of this cost.
    private func debt(
        of cost: Int, at now: Double, after charges: [(time: Double, cost: Int)]
    ) -> Double {
        var arrival = -Double.infinity
        for charge in charges.sorted(by: { $0.time < $1.time }) {
            arrival = max(arrival, charge.time) + Double(charge.cost) * interval
        }
        return max(arrival, now) + Double(cost) * interval - now
    }
}
