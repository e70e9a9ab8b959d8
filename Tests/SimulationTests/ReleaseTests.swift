import Testing

@testable import Simulation

/// Nothing of a run stays in memory: a search runs many seeds in one process.
@Suite struct ReleaseTests {
    @Test func streamsAreReleased() {
        var exchanges: [Weak<StreamExchange>] = []
        var streams: [Weak<HostStream>] = []
        for seed in 4_000_000...4_000_019 as ClosedRange<UInt64> {
            let cluster = Cluster(seed: seed, .streams)
            _ = cluster.runToEnd()
            exchanges += cluster.peers.compactMap { $0 as? StreamClient }.flatMap(\.exchanges).map {
                Weak($0)
            }
            streams += cluster.streamAttempts.map { Weak($0) }
        }
        #expect(exchanges.count > 20 && streams.count > 20)
        #expect(exchanges.count { $0.object != nil } == 0)
        #expect(streams.count { $0.object != nil } == 0)
    }

    private struct Weak<Object: AnyObject> {
        weak var object: Object?

        init(_ object: Object) { self.object = object }
    }
}
