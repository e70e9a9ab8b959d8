import HTTP
import Testing

@testable import Assembly

/// How many requests an endpoint retains, and how many a sample has.
@Suite struct RetentionLimitTests {
    @Test func admitsTwentyPerSecondAndReasonAndCountsTheRest() {
        var limit = RetentionLimit()
        let first = (0..<20).map { _ in limit.admit(.failed, second: 5) }
        #expect(first.allSatisfy { $0 == .failed })
        let more = [limit.admit(.failed, second: 5), limit.admit([.failed, .slow], second: 5)]
        #expect(more == [[], .slow])
        #expect(limit.excess[0] == 2 && limit.excess[2] == 0)
        let next = limit.admit(.failed, second: 6)
        #expect(next == .failed)
    }

    @Test(arguments: RequestOutcome.allCases)
    func everyOutcomeButOKIsAReason(_ outcome: RequestOutcome) {
        #expect(RetentionReason(outcome).isEmpty == (outcome == .ok))
    }

    @Test func everyReasonHasOneNameAndABitOfItsOwn() {
        #expect(Set(RetentionReason.named.map { "\($0.name)" }).count == 5)
        for (bit, named) in RetentionReason.named.enumerated() {
            #expect(named.reason.rawValue == 1 << UInt8(bit))
        }
    }

    @Test func aSampleHasEveryRequestUpToAThousandPerSecond() {
        var limit = SampleLimit()
        let accepted = (0..<1_001).map { _ in limit.accepts(second: 1) }
        #expect(accepted == Array(repeating: true, count: 1_000) + [false])
        let afterPause = limit.accepts(second: 3)
        #expect(afterPause, "the number of requests before says nothing")
    }

    @Test func beyondThatASampleHasOneInK() {
        var limit = SampleLimit()
        for _ in 0..<3_500 { _ = limit.accepts(second: 1) }
        let accepted = (0..<3_500).filter { _ in limit.accepts(second: 2) }.count
        #expect(limit.oneIn == 4 && accepted == 875)
    }
}
