import Testing

@testable import Simulation

/// What the checkers accept without proof must stay rare, or they prove little.
@Suite struct ExcuseTests {
    @Test func excusesOfManySeedsAreRare() {
        var counts = ExcuseCounts()
        for seed in UInt64(1)...30 { counts.add(SeedResult.of(seed, comparing: false)) }
        #expect(counts.exceeded.isEmpty, "\(counts.text)")
        #expect(counts.text.contains("clientLeft"))
    }

    @Test func reportsExcuseThatMostRequestsUse() throws {
        let record = Cluster(seed: 1).runToEnd()
        for request in record.requests.compactMap({ $0 }) { record.excuses.add(.drain, request) }
        var counts = ExcuseCounts()
        counts.add(
            SeedResult(
                seed: 1, options: RunOptions(), violations: [], hash: 0,
                requests: record.requests.compactMap { $0 }.count, attempts: 0, streams: 0,
                coverage: Coverage(), excuses: record.excuses.counts))
        #expect(counts.exceeded.count == 1)
        #expect(try #require(counts.exceeded.first).hasPrefix("drain 100"))
    }

    @Test func countsRequestOnceForEachExcuse() throws {
        let record = Cluster(seed: 1).runToEnd()
        let request = try #require(record.requests.compactMap { $0 }.first)
        let log = ExcuseLog()
        #expect(!log.add(.memory, request, if: false))
        #expect(log.add(.memory, request) && log.add(.memory, request))
        #expect(log.counts == [.memory: 1])
    }
}
