import Basics
import Foundation
import Synchronization
import Testing

@testable import Gateway

@Suite struct LimitCellsTests {
    private func bucket(_ count: Int = 10, burst: Int = 3) throws -> TokenBucket {
        try #require(TokenBucket(count: count, per: .seconds(1), burst: burst))
    }

    private func instant(_ milliseconds: Int64) -> Instant {
        Instant(nanoseconds: milliseconds * 1_000_000)
    }

    /// A key in set 0 of any table, with this tag.
    private func key(_ tag: UInt64) -> UInt64 { tag << 48 }

    @Test func countsEachKeyByItself() throws {
        let (cells, bucket) = (LimitCells(), try bucket())
        for key: UInt64 in [1, 2, 2 << 48, 2 << 48 | 1] {
            let grants = (0..<5).map { _ in
                cells.charge(key, of: bucket, at: instant(5000)).isGranted
            }
            #expect(grants == [true, true, true, false, false])
        }
        #expect(cells.charge(2, of: bucket, at: instant(5100)).isGranted)
        #expect(!cells.charge(2, of: bucket, at: instant(5100)).isGranted)
    }

    @Test func isFullAtAnyTimeOfTheClock() throws {
        let bucket = try bucket(burst: 1)
        // At the start, and where 44 bits of 10 µs repeat.
        let range = Int64(1) << 44 * 10_000
        for start in [0, 1, range - 10_000, range, range + 10_000, 2 * range - 1] {
            let cells = LimitCells(sets: 1)
            let first = Instant(nanoseconds: start)
            #expect(cells.charge(7, of: bucket, at: first).isGranted)
            #expect(!cells.charge(7, of: bucket, at: first + .milliseconds(99)).isGranted)
            #expect(cells.charge(7, of: bucket, at: first + .milliseconds(101)).isGranted)
        }
    }

    @Test func refundsAreAvailableAgain() throws {
        let (cells, bucket) = (LimitCells(), try bucket())
        let charge = cells.charge(9, 3, of: bucket, at: instant(1000))
        #expect(charge.isGranted)
        #expect(!cells.allows(9, of: bucket, at: instant(1000)))
        cells.refund(9, 2, arrivalAfterCharge: charge.arrival, of: bucket, at: instant(1000))
        #expect(cells.allows(9, 2, of: bucket, at: instant(1000)))
        #expect(!cells.allows(9, 3, of: bucket, at: instant(1000)))
        cells.refund(10, 2, arrivalAfterCharge: charge.arrival, of: bucket, at: instant(1000))
        #expect(cells.allows(10, 3, of: bucket, at: instant(1000)), "an unknown key stays full")
        #expect(!cells.allows(10, 4, of: bucket, at: instant(1000)))
    }

    @Test func overwritesFullBuckets() throws {
        let (cells, bucket) = (LimitCells(sets: 1), try bucket())
        for round in 0..<100 as Range<UInt64> {
            for entry in 0..<8 as Range<UInt64> {
                let now = instant(Int64(1000 + round * 100))
                #expect(cells.charge(key(round * 8 + entry + 1), of: bucket, at: now).isGranted)
            }
        }
        #expect(cells.droppedKeys == 0)
        #expect(cells.liveKeys(at: instant(10_900)) == 8)
        #expect(cells.liveKeys(at: instant(11_000)) == 0)
    }

    @Test func dropsTheSmallestDebtOfAFullSet() throws {
        let (cells, bucket) = (LimitCells(sets: 1), try bucket())
        let now = instant(1000)
        for entry in 1...8 as ClosedRange<UInt64> {
            for _ in 0..<(entry == 5 ? 1 : 2) { _ = cells.charge(key(entry), of: bucket, at: now) }
        }
        #expect(cells.droppedKeys == 0)
        #expect(cells.charge(key(9), 3, of: bucket, at: now).isGranted)
        #expect(cells.droppedKeys == 1)
        #expect(cells.allows(key(5), 3, of: bucket, at: now), "dropped, so it counts as full")
        for entry in [1, 2, 3, 4, 6, 7, 8] as [UInt64] {
            #expect(!cells.allows(key(entry), 2, of: bucket, at: now))
        }
        #expect(!cells.allows(key(9), of: bucket, at: now))
    }

    /// A debt of hours is little for a limit of a day, and one of 50 ms much for one of a second.
    @Test func dropsTheSmallestShareOfAFullSet() throws {
        let second = try bucket(10, burst: 1)
        let day = try #require(TokenBucket(count: 1000, per: .seconds(86_400), burst: 1000))
        let (cells, now) = (LimitCells(sets: 1), instant(1000))
        #expect(cells.charge(key(1), of: second, at: now).isGranted)
        for entry in 2...8 as ClosedRange<UInt64> {
            #expect(cells.charge(key(entry), of: day, at: now).isGranted)
        }
        for entry in 9...40 as ClosedRange<UInt64> {
            #expect(cells.charge(key(entry), of: day, at: now).isGranted)
        }
        #expect(!cells.allows(key(1), of: second, at: now), "still known")
        #expect(cells.droppedKeys == 32)
        // The positive control: a day's bucket that is nearly used up stays, and the second goes.
        let later = instant(1090)
        for entry in 1...8 as ClosedRange<UInt64> {
            #expect(!cells.allows(key(1), of: second, at: later))
            #expect(cells.charge(key(entry << 8), 999, of: day, at: later).isGranted)
        }
        #expect(cells.allows(key(1), of: second, at: later))
    }

    @Test func aRefusedRequestDropsNoKey() throws {
        let (cells, bucket) = (LimitCells(sets: 1), try bucket())
        for entry in 1...8 as ClosedRange<UInt64> {
            _ = cells.charge(key(entry), of: bucket, at: instant(1000))
        }
        #expect(!cells.charge(key(9), 4, of: bucket, at: instant(1000)).isGranted)
        #expect(cells.droppedKeys == 0 && cells.liveKeys(at: instant(1000)) == 8)
    }

    @Test func createsTheTableAtTheFirstUse() {
        let table = LimitTable(hashKey: KeyedHash.Key(1, 2))
        #expect(table.cellsIfUsed == nil)
        #expect(table.cells === table.cells)
        #expect(table.cellsIfUsed === table.cells)
    }

    @Test func countsAtMost131072Keys() {
        let table = LimitTable(hashKey: KeyedHash.Key(1, 2))
        #expect(table.cells.capacity == 131_072)
    }

    /// However many keys rate limits have, no failure is forgotten.
    @Test func authFailuresHaveATableOfTheirOwn() {
        let table = LimitTable(hashKey: KeyedHash.Key(1, 2))
        #expect(table.failureCells === table.failureCells)
        #expect(table.cellsIfUsed == nil)
        #expect(table.failureCells !== table.cells)
        #expect(table.failureCells.capacity == 8192)
    }

    // MARK: Several threads

    /// A clock that its users advance.
    private final class SharedClock: Sendable {
        private let nanoseconds = Atomic<Int64>(1_000_000_000_000)
        var now: Instant { Instant(nanoseconds: nanoseconds.load(ordering: .relaxed)) }
        func advance(_ time: Int64) -> Instant {
            Instant(nanoseconds: nanoseconds.add(time, ordering: .relaxed).newValue)
        }
    }

    private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let done = DispatchSemaphore(value: 0)
        for index in 0..<count {
            let thread = Thread {
                body(index)
                done.signal()
            }
            thread.start()
        }
        for _ in 0..<count { done.wait() }
    }

    /// Four threads charge one key: the sum of their grants is burst + rate × time.
    @Test func isExactWithSeveralThreads() throws {
        let (threads, checks) = (4, 50_000)
        let (cells, bucket) = (LimitCells(), try bucket(1000, burst: 100))
        let clock = SharedClock()
        let granted = Atomic<Int>(0)
        let start = clock.now
        onThreads(threads) { _ in
            for _ in 0..<checks
            where cells.charge(42, of: bucket, at: clock.advance(100_000)).isGranted {
                granted.add(1, ordering: .relaxed)
            }
        }
        // 100 µs for each check, so a tenth of them is granted.
        let time = (clock.now - start).inMilliseconds
        let expected = 100 + Int(time)
        #expect(time == Double(threads * checks) / 10)
        #expect(abs(granted.load(ordering: .relaxed) - expected) <= threads)
    }

    // MARK: Another rate

    /// A debt of two days at 2/d is one of a second at 100/s.
    @Test func cutsTheDebtOfAnotherRate() throws {
        let cells = LimitCells(sets: 1)
        let day = try #require(TokenBucket(count: 2, per: .seconds(86_400), burst: 2))
        let second = try #require(TokenBucket(count: 100, per: .seconds(1), burst: 100))
        for _ in 0..<2 { #expect(cells.charge(7, of: day, at: instant(5_000)).isGranted) }
        // The positive control: the debt is that of the rate.
        #expect(!cells.allows(7, of: day, at: instant(5_000)))
        let refused = cells.charge(7, of: second, at: instant(5_000))
        let now = TokenBucket.time(of: instant(5_000))
        #expect(!refused.isGranted && second.wait(for: 1, refused.arrival, at: now) == 1_000)
        // 10 ms later there is room for one request, and not before.
        #expect(!cells.charge(7, of: second, at: instant(5_009)).isGranted)
        #expect(cells.charge(7, of: second, at: instant(5_010)).isGranted)
        #expect(!cells.charge(7, of: second, at: instant(5_010)).isGranted)
    }

    /// Looking at a bucket cuts its debt, too: `auth_failures` refuses without charging.
    @Test func lookingAtABucketCutsTheDebtOfAnotherRate() throws {
        let cells = LimitCells(sets: 1)
        let day = try #require(TokenBucket(count: 1, per: .seconds(86_400), burst: 1))
        let second = try bucket(10, burst: 1)
        #expect(cells.charge(7, of: day, at: instant(5_000)).isGranted)
        #expect(!cells.allows(7, of: second, at: instant(5_000)))
        #expect(cells.allows(7, of: second, at: instant(5_100)))
    }

    /// The time of a worker is that of its loop iteration: a charge of another worker, whose time is
    /// later, is no debt of another rate.
    @Test func keepsTheDebtThatAnotherWorkerHasAdded() throws {
        let cells = LimitCells(sets: 1)
        let bucket = try bucket(10, burst: 3)
        for _ in 0..<3 { #expect(cells.charge(7, of: bucket, at: instant(64_000)).isGranted) }
        #expect(!cells.charge(7, of: bucket, at: instant(5_000)).isGranted)
        #expect(!cells.charge(7, of: bucket, at: instant(64_099)).isGranted)
        #expect(cells.charge(7, of: bucket, at: instant(64_100)).isGranted)
    }

    /// Of two rates whose bursts take about as long, the debt may be that of another worker: it is
    /// cut if it is more than a minute longer.
    @Test func cutsTheDebtOfASimilarRateToAMinuteMore() throws {
        let cells = LimitCells(sets: 1)
        let seven = try #require(TokenBucket(count: 1, per: .seconds(3_600), burst: 7))
        let four = try #require(TokenBucket(count: 1, per: .seconds(3_600), burst: 4))
        #expect(cells.charge(7, 7, of: seven, at: instant(5_000)).isGranted)
        let now = TokenBucket.time(of: instant(5_000))
        #expect(cells.arrival(of: 7, in: four, at: instant(5_000)) == now + four.tolerance)
    }

    /// Whatever another process sends: at most a burst and the slack.
    @Test func raisesToABurstAndTheSlackAtMost() throws {
        let cells = LimitCells(sets: 1)
        let bucket = try bucket(10, burst: 3)
        let now = TokenBucket.time(of: instant(5_000))
        cells.raise(7, to: .max, of: bucket, at: instant(5_000))
        #expect(cells.arrival(of: 7, in: bucket, at: instant(5_000)) == now + bucket.tolerance)
        cells.raise(8, to: .max, of: bucket, slack: 500_000, at: instant(5_000))
        let charge = cells.charge(8, of: bucket, slack: 500_000, at: instant(5_000))
        #expect(charge.arrival == now + bucket.tolerance + 500_000, "the slack is no other rate")
    }

    /// Charges and refunds of several threads leave no debt behind.
    @Test func refundsOfSeveralThreadsAddUp() throws {
        let (cells, bucket) = (LimitCells(sets: 1), try bucket(1, burst: 1000))
        let now = Instant(nanoseconds: 1_000_000_000_000)
        #expect(cells.charge(key(1), 10, of: bucket, at: now).isGranted)
        onThreads(4) { index in
            for _ in 0..<20_000 {
                let charge = cells.charge(1 << 48, index + 1, of: bucket, at: now)
                guard charge.isGranted else { continue }
                cells.refund(
                    1 << 48, index + 1, arrivalAfterCharge: charge.arrival, of: bucket, at: now)
            }
        }
        let left = cells.arrival(of: key(1), in: bucket, at: now)
        #expect(bucket.remaining(left, at: TokenBucket.time(of: now)) == 990)
    }

    /// More keys than one set holds, from several threads: no key passes more than it may, apart
    /// from dropped ones and one for each racing thread.
    @Test func boundsEveryKeyOfACrowdedSet() throws {
        let (threads, keys, burst) = (4, 12, 5)
        let (cells, bucket) = (LimitCells(sets: 1), try bucket(1, burst: burst))
        let now = Instant(nanoseconds: 1_000_000_000_000)
        let grants = Atomic<Int>(0)
        onThreads(threads) { thread in
            for round in 0..<2000 {
                let key = UInt64((round + thread * 3) % keys + 1) << 48
                if cells.charge(key, of: bucket, at: now).isGranted {
                    grants.add(1, ordering: .relaxed)
                }
            }
        }
        let sum = grants.load(ordering: .relaxed)
        #expect(sum >= 8 * burst)
        #expect(sum <= keys * (burst + threads) + cells.droppedKeys * (burst + threads))
        #expect(cells.liveKeys(at: now) == 8)
    }
}
