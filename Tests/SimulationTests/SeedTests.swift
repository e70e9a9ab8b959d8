import Simulation
import Testing

@Suite struct SeedTests {
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func aFixedSeedPasses(_ seed: UInt64) {
        let verdict = Verdict.of(seed)
        #expect(verdict.violations.isEmpty)
    }
}
