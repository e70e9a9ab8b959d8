import Foundation
import Simulation
import Testing

/// The whole gateway, drawn from seeds: the same ones in every run, and some that nobody has seen.
@Suite struct SeedTests {
    @Test(arguments: 1...150 as ClosedRange<UInt64>) func aFixedSeedPasses(_ seed: UInt64) {
        check(seed)
    }

    /// What found a fault once, in the gateway or in a judge; see docs/simulation.md.
    @Test(
        arguments: [
            5_001_291, 8_009_955, 30_020_222, 30_059_773, 30_089_386, 30_094_010, 1_795_298_159_602,
            1_795_298_167_247, 1_795_300_024_972, 1_795_301_253_208,
            1_795_301_298_613, 1_795_302_217_980, 1_795_305_815_712, 1_795_307_043_582,
            1_795_307_604_136,
        ] as [UInt64])
    func aSeedThatFoundSomethingPasses(_ seed: UInt64) { check(seed) }

    /// A failing one is told with the command that shows it again.
    @Test(arguments: Seeds.fresh(50)) func aFreshSeedPasses(_ seed: UInt64) { check(seed) }

    private func check(_ seed: UInt64) {
        let verdict = Verdict.of(seed)
        #expect(verdict.isFine, "\(verdict.report)")
    }

    @Test func twoRunsOfASeedAreOne() {
        let hashes = (0..<3).map { _ in Verdict.of(7, comparing: false).hash }
        #expect(Set(hashes).count == 1)
        #expect(hashes[0] != Verdict.of(8, comparing: false).hash)
    }

    @Test func requestsOfOtherConnectionsStayTheSame() {
        var options = RunOptions()
        options.connections = [0]
        let alone = Verdict.of(3, options)
        #expect(alone.isFine && alone.requests > 0)
        #expect(alone.requests < Verdict.of(3, comparing: false).requests)
    }
}

enum Seeds {
    /// Different ones in every run.
    static func fresh(_ count: UInt64) -> Range<UInt64> {
        let start = UInt64(Date().timeIntervalSince1970) * 1_000_003 % 1_000_000_000 + 1_000_000
        return start..<start + count
    }
}
