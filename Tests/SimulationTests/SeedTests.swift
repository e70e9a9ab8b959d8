import Foundation
import Simulation
import Testing

/// The whole gateway in simulated clusters: fixed seeds, and fresh ones in every run. `script/test` runs more of
/// both in a release build, which does not check assertions.
@Suite struct SeedTests {
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func fixedSeedPasses(_ seed: UInt64) {
        check(seed)
    }

    /// Seeds that found a defect in the gateway or in the model; see docs/contribute/simulation.md.
    @Test(
        arguments: [
            31_390, 32_768, 1_001_626, 5_001_291, 8_009_955, 30_020_222, 30_059_773, 30_089_386,
            30_094_010, 1_795_298_159_602,
            1_795_298_167_247, 1_795_300_024_972, 1_795_301_253_208,
            1_795_301_298_613, 1_795_302_217_980, 1_795_305_815_712, 1_795_307_043_582,
            1_795_307_604_136, 810_006_772, 850_029_927, 870_001_808,
            870_064_579, 870_072_557,
        ] as [UInt64])
    func seedOfEarlierDefectPasses(_ seed: UInt64) { check(seed) }

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
