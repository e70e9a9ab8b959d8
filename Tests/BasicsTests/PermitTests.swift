import Testing

@testable import Basics

@Suite struct PermitTests {
    private let permits = Permits()

    @Test func countsUpToTheLimit() {
        let held = [permits.take(below: 2), permits.take(below: 2)]
        #expect(held.allSatisfy { $0 != nil } && permits.inUse == 2)
        #expect(permits.take(below: 2) == nil)
        #expect(permits.take(below: 3) != nil, "the limit may change")
        withExtendedLifetime(held) {}
    }

    @Test func releasesWhenTheLastOwnerDropsIt() {
        var first = permits.take(below: 1)
        var second = first
        first = nil
        #expect(second != nil && permits.inUse == 1)
        second = nil
        #expect(first == nil && permits.inUse == 0)
    }

    @Test func releasesOnce() {
        let permit = permits.take(below: 1)
        let other = permits.take(below: 2)
        permit?.release()
        #expect(permits.inUse == 1)
        permit?.release()
        #expect(permits.inUse == 1)
        withExtendedLifetime((permit, other)) {}
    }

    /// For example a request whose client does not wait any longer, and which its backend still handles.
    @Test func workHoldsTheUnitBeyondTheRelease() {
        let permit = permits.take(below: 1)
        permit?.workBegan()
        permit?.workBegan()
        permit?.release()
        permit?.workEnded()
        #expect(permits.inUse == 1)
        permit?.workEnded()
        #expect(permits.inUse == 0)
    }

    @Test func endOfWorkReleasesNothingByItself() {
        let permit = permits.take(below: 1)
        permit?.workBegan()
        permit?.workEnded()
        #expect(permits.inUse == 1)
        permit?.release()
        #expect(permits.inUse == 0)
    }

    @Test func doesNotReleaseAgainWhenDroppedAfterRelease() {
        var permit = permits.take(below: 1)
        let other = permits.take(below: 2)
        permit?.release()
        permit = nil
        #expect(permit == nil && permits.inUse == 1)
        withExtendedLifetime(other) {}
    }

    @Test func notifiesAfterEachRelease() {
        var counts: [Int] = []
        permits.afterRelease { counts.append(permits.inUse) }
        let first = permits.take(below: 2)
        var second = permits.take(below: 2)
        first?.release()
        second = nil
        #expect(second == nil && counts == [1, 0])
        permits.afterRelease(nil)
        permits.take(below: 1)?.release()
        #expect(counts == [1, 0])
    }
}
