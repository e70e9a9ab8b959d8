import Testing

@testable import Simulation

/// The bounds of a token bucket: a burst of two, and one each second.
@Suite struct BucketModelTests {
    private let bucket = BucketModel(burst: 2, interval: 1)

    private func charge(_ earliest: Double, _ latest: Double) -> BucketModel.Charge {
        BucketModel.Charge(cost: 1, earliest: earliest, latest: latest)
    }

    /// Three charges within 0.9 s are too many, within a second they are not.
    @Test(arguments: [(0.9, true), (1.0, false)])
    func findsMoreThanBurstAndRate(_ last: Double, _ isExcess: Bool) {
        let charges = [charge(0, 0), charge(0.5, 0.5), charge(last, last)]
        #expect((bucket.excess(in: charges) != nil) == isExcess)
    }

    /// Only the excess of what several charges at the same time returned is accepted.
    @Test func refundsWidenTheBoundByWhatTimeHasPaid() {
        let charges = [charge(0, 0), charge(0.5, 0.5), charge(0.8, 0.8)]
        let held = bucket.rest(of: charge(0, 0.7))
        #expect(bucket.excess(in: charges, refunded: [held]) != nil, "one alone is exact")
        #expect(bucket.excess(in: charges, refunded: [held, held]) == nil)
        let short = bucket.rest(of: charge(0.3, 0.301))
        #expect(bucket.excess(in: charges, refunded: [short, short]) != nil)
        let earlier = bucket.rest(of: charge(-2, -1))
        #expect(bucket.excess(in: charges, refunded: [earlier, earlier]) != nil)
    }

    @Test(arguments: [(0.25, 0.25), (3, 1)])
    func timePaysForOneChargeEachInterval(_ held: Double, _ paid: Double) {
        let rest = bucket.rest(of: charge(5, 5 + held))
        #expect(abs(rest.cost - paid) < 0.000_1)
        #expect(rest.earliest == 5 && rest.latest == 5 + held)
    }
}
