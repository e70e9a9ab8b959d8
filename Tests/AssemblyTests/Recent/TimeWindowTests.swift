import Basics
import Testing

@testable import Assembly

/// The window of the last 30 to 60 seconds.
@Suite struct TimeWindowTests {
    private func seconds(_ seconds: Int64) -> Int64 { 1_000_000_000_000 + seconds * 1_000_000_000 }

    private func window() -> TimeWindow { TimeWindow(rows: 2, counters: 1) }

    /// The number of counted times of a row.
    private func total(_ window: TimeWindow, row: Int = 0) -> Int {
        let start = row * LogLinearBuckets.count
        return window.sums.isEmpty
            ? 0 : window.sums[start..<start + LogLinearBuckets.count].reduce(0) { $0 + Int($1) }
    }

    @Test func isEmptyBeforeTheFirstCount() {
        #expect(window().sums.isEmpty)
        #expect(window().threshold(0.99, of: 0, countMin: 1) == nil)
    }

    @Test func countsStayForAtLeastThirtyAndAtMostSixtySeconds() {
        var window = window()
        window.advance(to: seconds(0))
        window.count(1_000, in: 0)
        window.add(to: 0)
        for second in 1..<60 as Range<Int64> {
            window.advance(to: seconds(second))
            #expect(total(window) == 1, "\(second)")
            #expect(window.sums.last == 1)
        }
        window.advance(to: seconds(60))
        #expect(total(window) == 0 && window.sums.last == 0)
    }

    @Test func countsJustBeforeAHalfBeginsStayThirtySeconds() {
        var window = window()
        window.advance(to: seconds(0))
        window.advance(to: seconds(29))
        window.count(1_000, in: 0)
        window.advance(to: seconds(30))
        window.count(1_000, in: 0)
        #expect(total(window) == 2)
        window.advance(to: seconds(61))
        #expect(total(window) == 1)
    }

    @Test func aPauseClearsEverything() {
        var window = window()
        window.advance(to: seconds(0))
        window.count(1_000, in: 1)
        window.advance(to: seconds(1_000))
        #expect(total(window, row: 1) == 0)
    }

    @Test func theSpanReachesBackToTheOldestCount() {
        var window = window()
        #expect(window.span(at: seconds(0)) == 0)
        for second in [0, 29, 30, 59] as [Int64] {
            window.advance(to: seconds(second))
            #expect(window.span(at: seconds(second)) == second * 1_000_000_000)
        }
        window.advance(to: seconds(60))
        #expect(window.span(at: seconds(60)) == 30_000_000_000)
        window.advance(to: seconds(1_000))
        #expect(window.span(at: seconds(1_001)) == 1_000_000_000)
    }

    @Test func rowsAreApart() {
        var window = window()
        window.advance(to: seconds(0))
        window.count(1_000, in: 0)
        window.count(.max, in: 1)
        window.count(.max, in: 1)
        #expect(total(window, row: 0) == 1 && total(window, row: 1) == 2)
    }

    /// The bound of a bucket: a time equal to all others is not above it.
    @Test func theThresholdIsAboveNinetyNineOfAHundred() throws {
        var window = window()
        window.advance(to: seconds(0))
        for _ in 0..<99 { window.count(20_000, in: 0) }
        #expect(window.threshold(0.99, of: 0, countMin: 100) == nil)
        window.count(300_000, in: 0)
        let threshold = try #require(window.threshold(0.99, of: 0, countMin: 100))
        #expect(threshold > 20_000 && threshold < 300_000)
    }
}
