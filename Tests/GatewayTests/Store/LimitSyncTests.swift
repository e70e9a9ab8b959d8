import Basics
import Promises
import Reactor
import SimReactor
import Testing

@testable import Gateway

/// What is sent to the store, with many keys and a store that replies when the test says so.
@Suite struct LimitSyncTests {
    /// A store whose replies the test sends.
    private final class Store {
        let network = SimNetwork(seed: 1)
        let loop: SimLoop
        private(set) var sync: LimitSync?
        private(set) var runs: [Int] = []
        /// Uses of a key that are not sent.
        private(set) var dropped = 0
        private var pending: [Pending] = []

        private final class Pending {
            var resolver: LocalResolver<LimitStore.Verdict?>?
        }

        init() {
            loop = network.makeLoop("loop")
            sync = LimitSync(
                loop: loop, onDrop: { [unowned self] in dropped += 1 },
                add: { [unowned self] in add($0) })
        }

        private func add(_ charges: [StoreCharge]) -> LocalPromise<LimitStore.Verdict?> {
            runs.append(charges.count)
            let resolver = LocalResolver<LimitStore.Verdict?>(on: loop.local)
            let promise = resolver.promise
            let reply = Pending()
            reply.resolver = consume resolver
            pending.append(reply)
            return promise
        }

        var runsInFlight: Int { pending.count }

        func reply() {
            let first = pending.removeFirst()
            loop.timer(after: .zero) { first.resolver.take()?.fulfill(nil) }
            network.advance(by: .milliseconds(1))
        }

        /// Records one request of each key.
        func record(_ keys: Range<Int>, _ cells: LimitCells) throws {
            let bucket = try #require(TokenBucket(count: 10, per: .seconds(1), burst: 10))
            for key in keys {
                sync?.record(
                    LimitSync.Usage(
                        charge: StoreBucket(count: 10, per: .seconds(1), burst: 10)
                            .charge(1, key: Bytes("\(key)")), at: loop.now,
                        cellKey: UInt64(key), rate: bucket, slack: 0),
                    every: .seconds(1), cells)
            }
        }
    }

    /// The store computes from the sum what it would have from each charge at its time.
    @Test(arguments: UInt64(0)..<200) func aSumIsAsFarAheadAsItsCharges(_ seed: UInt64) throws {
        var random = Entropy(seed: seed)
        let rate = try #require(TokenBucket(count: 10, per: .seconds(1), burst: 10))
        let bucket = StoreBucket(count: 10, per: .seconds(1), burst: 10)
        var now = 1_000
        let before = Int64(now + Int.random(in: -500...500, using: &random)) * 8_000
        var expected = before
        var sum: LimitSync.Usage?
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            now += Int.random(in: 0...300, using: &random)
            let instant = Instant(nanoseconds: Int64(now) * 1_000_000)
            let time = StoreBucket.time(of: instant)
            let cost = Int.random(in: 1...3, using: &random)
            // A refund takes back no more than what is unpaid.
            let unpaid = (expected - time) / 80
            let isRefund = unpaid > 0 && Int.random(in: 0...3, using: &random) == 0
            let charge =
                isRefund
                ? bucket.refund(cost, unpaid: unpaid, key: Bytes(), slack: .zero)
                : bucket.charge(cost, key: Bytes())
            expected = (isRefund ? expected : max(expected, time)) + charge.charge
            var usage = LimitSync.Usage(
                charge: charge, at: instant, cellKey: 0, rate: rate, slack: 0)
            if let sum { usage.add(sum) }
            sum = usage
        }
        now += 50
        let sent = Instant(nanoseconds: Int64(now) * 1_000_000)
        let charge = try #require(sum).charge(at: sent)
        let start = StoreBucket.time(of: sent) - charge.age
        #expect(max(start, before) + charge.charge == expected)
    }

    @Test func aFullBatchIsSentEarly() throws {
        let (store, cells) = (Store(), LimitCells(sets: 16))
        try store.record(0..<4095, cells)
        #expect(store.runs.isEmpty)
        try store.record(0..<1, cells)
        #expect(store.runs.isEmpty, "a known key")
        try store.record(10_000..<10_001, cells)
        #expect(store.runs == Array(repeating: 64, count: LimitSync.runsMax))
    }

    @Test func aRunWaitsForTheReplyToAnEarlierOne() throws {
        let (store, cells) = (Store(), LimitCells(sets: 16))
        try store.record(0..<4096, cells)
        for run in 0..<64 {
            #expect(store.runsInFlight <= LimitSync.runsMax)
            #expect(store.runs.count == min(run + LimitSync.runsMax, 64))
            store.reply()
        }
        #expect(store.runsInFlight == 0)
        #expect(store.runs.reduce(0, +) == 4096)
    }

    @Test func theNumberOfKeysIsBounded() throws {
        let (store, cells) = (Store(), LimitCells(sets: 16))
        try store.record(0..<100_000, cells)
        while store.runsInFlight > 0 { store.reply() }
        store.network.advance(by: .seconds(2))
        while store.runsInFlight > 0 { store.reply() }
        let sent = store.runs.reduce(0, +)
        #expect(sent == 16_384 + LimitSync.runsMax * 64)
        #expect(store.dropped == 100_000 - sent, "every other one is counted")
        // The positive control: there is room again.
        try store.record(0..<10, cells)
        store.network.advance(by: .seconds(2))
        #expect(store.runs.last == 10)
        #expect(store.dropped == 100_000 - sent)
    }
}
