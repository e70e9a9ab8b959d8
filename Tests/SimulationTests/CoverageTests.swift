import Simulation
import Testing

/// Seeds must reach every status, failure, fault and behaviour, so that the checkers prove something:
/// `cluster-simulation --coverage` in `script/test`.
@Suite struct CoverageTests {
    @Test func noSeedReachesNothing() {
        let missing = Coverage().missing
        for name in ["200", "503", "dns_error", "ejected", "headCalls", "grownEjections"] {
            #expect(missing.contains(name))
        }
    }

    @Test func whatASeedReachesIsNotMissing() {
        var coverage = Coverage()
        coverage.add(SeedResult.of(2, comparing: false).coverage)
        #expect(!coverage.missing.contains("200"))
        #expect(coverage.statuses[200, default: 0] > 0)
        #expect(!coverage.missing.isEmpty && coverage.missing.count < Coverage().missing.count)
    }
}
