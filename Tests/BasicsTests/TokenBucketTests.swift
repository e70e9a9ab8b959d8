import Testing

@testable import Basics

@Suite struct TokenBucketTests {
    private static let second: Int64 = 100_000

    private func bucket(
        _ count: Int, per period: Duration = .seconds(1), burst: Int
    ) throws -> TokenBucket {
        try #require(TokenBucket(count: count, per: period, burst: burst))
    }

    @Test func grantsTheBurstThenTheRate() throws {
        let bucket = try bucket(10, burst: 3)
        var arrival: Int64 = 0
        var granted: [Int64] = []
        // A request every 10 ms for a second.
        for now in stride(from: Self.second, to: 2 * Self.second, by: 1000) {
            guard let new = bucket.arrival(charging: 1, to: arrival, at: now) else { continue }
            arrival = new
            granted.append(now - Self.second)
        }
        // Three at once, then one each 100 ms after the first.
        #expect(granted == [0, 1000, 2000] + (1...9).map { $0 * 10_000 })
    }

    @Test func fillsUpToTheBurstAndNotFurther() throws {
        let bucket = try bucket(10, burst: 3)
        var arrival: Int64 = 0
        for now in [Self.second, 1000 * Self.second] {
            var granted = 0
            while let new = bucket.arrival(charging: 1, to: arrival, at: now) {
                arrival = new
                granted += 1
            }
            #expect(granted == 3)
        }
    }

    @Test func costCountsAsThatManyRequests() throws {
        let bucket = try bucket(10, burst: 10)
        let first = try #require(bucket.arrival(charging: 7, to: 0, at: 50))
        #expect(bucket.remaining(first, at: 50) == 3)
        #expect(bucket.arrival(charging: 4, to: first, at: 50) == nil)
        #expect(bucket.arrival(charging: 3, to: first, at: 50) != nil)
        #expect(bucket.arrival(charging: 11, to: 0, at: 50) == nil, "above the burst")
    }

    @Test func refundRestoresTheBucket() throws {
        for rate in [10, 7, 30_000] {
            let bucket = try bucket(rate, burst: 5)
            let first = try #require(bucket.arrival(charging: 2, to: 0, at: 12_345))
            let second = try #require(bucket.arrival(charging: 3, to: first, at: 12_345))
            #expect(bucket.arrival(charging: 1, to: second, at: 12_345) == nil)
            #expect(bucket.arrival(refunding: 3, to: second) == first)
            #expect(bucket.arrival(refunding: 2, to: first) <= 12_345)
        }
    }

    @Test(arguments: [
        (0, 20_000), (5_000, 15_000), (19_999, 1), (20_000, 0), (70_000, 0),
    ])
    func aRefundReturnsWhatTimeHasNotPaid(_ later: Int64, _ returned: Int64) throws {
        let bucket = try bucket(10, burst: 5)
        let charged = try #require(bucket.arrival(charging: 2, to: 0, at: 1_000_000))
        #expect(charged == 1_020_000)
        let now = 1_000_000 + later
        let arrival = try #require(bucket.arrival(charging: 2, to: charged, at: now))
        #expect(
            bucket.arrival(refunding: 2, arrivalAfterCharge: charged, to: arrival, at: now)
                == arrival - returned)
    }

    /// The interval is a fraction: the time after a part of a charge is rounded up by less than a point.
    @Test func chargesAfterAPartOfACharge() throws {
        let bucket = try bucket(7, burst: 5)
        let charged = try #require(bucket.arrival(charging: 1, to: 0, at: 12_345))
        let second = try #require(bucket.arrival(charging: 1, to: charged, at: 15_000))
        let rest = bucket.arrival(
            refunding: 1, arrivalAfterCharge: charged, to: second, at: 20_000)
        #expect(rest == second - (charged - 20_000))
        let next = try #require(bucket.arrival(charging: 1, to: rest, at: 20_000))
        #expect((14_285...14_287).contains(next - rest))
    }

    /// A bucket that is in debt for longer than the charge was held returns all of it.
    @Test func aBusyBucketReturnsTheWholeCharge() throws {
        for rate in [10, 7] {
            let bucket = try bucket(rate, burst: 5)
            let before = try #require(bucket.arrival(charging: 2, to: 0, at: 12_345))
            let charged = try #require(bucket.arrival(charging: 1, to: before, at: 12_345))
            let after = try #require(bucket.arrival(charging: 2, to: charged, at: 12_345))
            #expect(
                bucket.arrival(refunding: 1, arrivalAfterCharge: charged, to: after, at: 22_345)
                    == bucket.arrival(charging: 2, to: before, at: 12_345))
        }
    }

    @Test func waitIsTheTimeUntilTheRequestIsGranted() throws {
        for (count, period) in [(10, 1), (7, 1), (1000, 60), (5, 3600)] {
            let bucket = try bucket(count, per: .seconds(period), burst: 4)
            var arrival: Int64 = 0
            let now: Int64 = 987_654_321
            while let new = bucket.arrival(charging: 1, to: arrival, at: now) { arrival = new }
            let wait = bucket.wait(for: 1, arrival, at: now)
            #expect(wait > 0)
            #expect(bucket.arrival(charging: 1, to: arrival, at: now + wait - 1) == nil)
            #expect(bucket.arrival(charging: 1, to: arrival, at: now + wait) != nil)
        }
    }

    @Test(arguments: [100, 3, 7, 30_000]) func remainingIsWhatWouldBeGranted(_ count: Int) throws {
        let bucket = try bucket(count, burst: 20)
        var random: UInt64 = 5
        var arrival: Int64 = 0
        var now: Int64 = 1_000_000
        for _ in 0..<1000 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            now += Int64(random >> 54) * 100 / Int64(count)
            let remaining = bucket.remaining(arrival, at: now)
            #expect(bucket.arrival(charging: remaining + 1, to: arrival, at: now) == nil)
            if remaining > 0 {
                #expect(bucket.arrival(charging: remaining, to: arrival, at: now) != nil)
            }
            if let new = bucket.arrival(charging: 1, to: arrival, at: now) { arrival = new }
        }
    }

    /// More requests than granted, at every rate: exact over a long time, also where the interval is
    /// a fraction of the unit.
    @Test(arguments: [
        (100, 1), (1000, 60), (7, 1), (3, 1), (300, 1), (30_000, 1), (33_333, 1), (70_001, 1),
        (99_999, 1), (100_000, 1), (999_983, 60), (13, 3600), (999_999, 86_400),
    ])
    func grantsExactlyTheRate(_ count: Int, _ seconds: Int64) throws {
        let bucket = try bucket(count, per: .seconds(seconds), burst: 5)
        var arrival: Int64 = 0
        var granted = 0
        let period = seconds * Self.second
        // Unaligned, and five attempts in the time of one request, or three for each unit.
        let (start, end) = (period / 3 + 17, period / 3 + 17 + period * Int64(20_000 / count + 1))
        let step = max(1, period / Int64(count) / 5)
        for now in stride(from: start, to: end, by: Int(step)) {
            for _ in 0..<3 {
                guard let new = bucket.arrival(charging: 1, to: arrival, at: now) else { break }
                arrival = new
                granted += 1
            }
        }
        let expected = 5 + Int((end - start) * Int64(count) / period)
        #expect(abs(granted - expected) <= 2)
    }

    /// In every interval, not only from the start: the bound that clients may not exceed.
    @Test(arguments: [10, 7, 333, 30_000])
    func neverGrantsMoreThanBurstAndRate(_ count: Int) throws {
        let bucket = try bucket(count, burst: 8)
        var random: UInt64 = 99
        var arrival: Int64 = 0
        var now: Int64 = 77_777
        var granted: [Int64] = []
        for _ in 0..<1500 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            now += Int64(random >> 33) % (Self.second / Int64(count) + 1)
            if let new = bucket.arrival(charging: 1, to: arrival, at: now) {
                arrival = new
                granted.append(now)
            }
        }
        #expect(granted.count > 300)
        for (index, first) in granted.enumerated() {
            for last in [1, 8, 9, 20, 100] where index + last < granted.count {
                let passed = last + 1
                let time = granted[index + last] - first
                // One more where the interval is a fraction.
                let most = Double(time) / Double(Self.second) * Double(count) + 8 + 1
                #expect(Double(passed) <= most)
            }
        }
    }

    @Test func refusesWhatItCannotCount() {
        #expect(TokenBucket(count: 100_000, per: .seconds(1), burst: 1) != nil)
        #expect(TokenBucket(count: 100_001, per: .seconds(1), burst: 1) == nil)
        #expect(TokenBucket(count: 0, per: .seconds(1), burst: 1) == nil)
        #expect(TokenBucket(count: 1, per: .seconds(1), burst: 0) == nil)
        #expect(TokenBucket(count: 1, per: .seconds(86_400), burst: 366) != nil)
        #expect(TokenBucket(count: 1, per: .seconds(86_400), burst: 367) == nil)
        #expect(TokenBucket(count: 1_000_001, per: .seconds(60), burst: 1) == nil)
        #expect(TokenBucket(count: 1_000_000, per: .seconds(60), burst: 1_000_000) != nil)
        #expect(TokenBucket(count: 1, per: .seconds(Int64.max), burst: 1) == nil)
    }

    @Test func secondsAreRoundedUp() {
        #expect(TokenBucket.seconds(0) == 0)
        #expect(TokenBucket.seconds(1) == 1)
        #expect(TokenBucket.seconds(100_000) == 1)
        #expect(TokenBucket.seconds(100_001) == 2)
    }
}
