import Foundation
import Simulation
import Testing

/// The whole gateway in simulated clusters, with assertions: fixed seeds, and fresh ones in every run.
/// `script/test` runs more fresh ones.
@Suite struct SeedTests {
    @Test(arguments: 1...43 as ClosedRange<UInt64>) func fixedSeedPasses(_ seed: UInt64) {
        check(seed)
    }

    /// A failure is reported with the command that repeats it.
    @Test(arguments: Seeds.fresh(10)) func freshSeedPasses(_ seed: UInt64) { check(seed) }

    private func check(_ seed: UInt64) {
        let result = SeedResult.of(seed)
        #expect(result.passed, "\(result.report)")
    }

    @Test func runsOfOneSeedAreEqual() {
        let hashes = (0..<3).map { _ in SeedResult.of(7, comparing: false).hash }
        #expect(Set(hashes).count == 1)
        #expect(hashes[0] != SeedResult.of(8, comparing: false).hash)
    }

    @Test func runsSelectedConnectionsOnly() {
        var options = RunOptions()
        options.connections = [0]
        let single = SeedResult.of(3, options)
        #expect(single.passed && single.requests > 0)
        #expect(single.requests < SeedResult.of(3, comparing: false).requests)
    }
}

enum Seeds {
    /// Different seeds in every run.
    static func fresh(_ count: UInt64) -> Range<UInt64> {
        let start = UInt64(Date().timeIntervalSince1970) * 1_000_003 % 1_000_000_000 + 1_000_000
        return start..<start + count
    }
}
