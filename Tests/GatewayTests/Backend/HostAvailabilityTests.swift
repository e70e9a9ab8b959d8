import Basics
import Testing

@testable import Gateway

/// Which hosts are asked after what happened. A story is a line: `0-` is a failure of host 0, `0+` an
/// answer, `0.` nothing said, `0x` a bad check, `0v` a good one, `@5` the time in seconds.
@Suite struct HostAvailabilityTests {
    private func usable(_ story: String, hosts: Int, eject: Bool = true) -> [Int] {
        var availability = HostAvailability(
            hosts: hosts, eject: eject ? EjectPlan(after: 3, duration: .seconds(10)) : nil)
        var now = Instant(nanoseconds: 1_000_000_000_000)
        for word in story.split(separator: " ") {
            if word.hasPrefix("@") {
                let seconds = Int64(word.dropFirst()) ?? 0
                now = Instant(nanoseconds: 1_000_000_000_000 + seconds * 1_000_000_000)
                continue
            }
            guard let host = word.first.flatMap({ Int(String($0)) }) else { continue }
            for sign in word.dropFirst() {
                switch sign {
                case "-": availability.recordCall(to: host, .failure, at: now)
                case "+": availability.recordCall(to: host, .success, at: now)
                case ".": availability.recordCall(to: host, .none, at: now)
                default: availability.recordCheck(of: host, isHealthy: sign == "v")
                }
            }
        }
        #expect(
            availability.unavailableCount(at: now) == hosts
                - availability.availableHosts(at: now).count)
        return availability.availableHosts(at: now)
    }

    @Test(arguments: [
        ("", [0, 1, 2]), ("0--", [0, 1, 2]), ("0---", [1, 2]), ("0--+--", [0, 1, 2]),
        ("0--..-", [1, 2]), ("0-- 1-- 2--", [0, 1, 2]), ("0---", [1, 2]),
        ("0--- @9", [1, 2]), ("0--- @10", [0, 1, 2]),
    ])
    func failuresInARowEject(_ story: String, _ usable: [Int]) {
        #expect(self.usable(story, hosts: 3) == usable)
    }

    /// Ten seconds, then twenty, and after a good answer ten again.
    @Test(arguments: [
        ("0--- @10 0---", [1, 2]), ("0--- @10 0--- @29", [1, 2]),
        ("0--- @10 0--- @30", [0, 1, 2]), ("0--- @10 0+--- @20", [0, 1, 2]),
        ("0--- @10 0--- @30 0--- @59", [1, 2]), ("0--- @10 0--- @30 0--- @60", [0, 1, 2]),
    ])
    func theTimeOutGrows(_ story: String, _ usable: [Int]) {
        #expect(self.usable(story, hosts: 3) == usable)
    }

    @Test func itGrowsTenTimesAtMost() {
        var story = ""
        var time = 0
        for number in 1...14 {
            story += " @\(time) 0---"
            time += 10 * min(number, 10)
        }
        #expect(usable(story + " @\(time - 1)", hosts: 2) == [1])
        #expect(usable(story + " @\(time)", hosts: 2) == [0, 1])
    }

    @Test(arguments: [
        (1, "0---", [0]), (2, "0--- 1---", [1]), (3, "0--- 1---", [1, 2]),
        (4, "0--- 1--- 2---", [2, 3]),
    ])
    func neverMoreThanHalf(_ hosts: Int, _ story: String, _ usable: [Int]) {
        #expect(self.usable(story, hosts: hosts) == usable)
    }

    /// Who could not be ejected is, as soon as another one is back.
    @Test func whoComesTooLateIsEjectedLater() {
        #expect(usable("0--- 1--- @10 1-", hosts: 2) == [0])
    }

    @Test func whatComesLateFromAnEjectedHostIsNoNews() {
        #expect(usable("0--- @5 0--- @10", hosts: 2) == [0, 1])
        #expect(usable("0--- @5 0+ @10 0--- @29", hosts: 2) == [1], "its count is kept")
    }

    @Test func withoutEjectNothingIs() {
        #expect(usable("0--------- 1-----", hosts: 2, eject: false) == [0, 1])
    }

    // MARK: Checks

    @Test(arguments: [
        ("0x", [0, 1]), ("0xx", [1]), ("0xvx", [0, 1]), ("0xxv", [0, 1]), ("0xx @100", [1]),
        ("0xx 1xx", []), ("0xx 1xx 1v", [1]), ("0xx 1---", [1]), ("1--- 0xx", [1]),
    ])
    func badChecksLeaveOut(_ story: String, _ usable: [Int]) {
        #expect(self.usable(story, hosts: 2) == usable)
    }
}

@Suite struct RetryBudgetTests {
    /// A fifth, and three where a fifth is less.
    @Test(arguments: [(0, 3), (1, 3), (15, 3), (19, 3), (20, 4), (100, 20)])
    func retriesAreAShareOfTheCalls(_ calls: Int, _ most: Int) {
        let budget = RetryBudget()
        for _ in 0..<calls { budget.beginCall() }
        var taken: [Permit] = []
        while taken.count <= calls + 3, let share = budget.permit() { taken.append(share) }
        #expect(taken.count == most)
        taken.removeLast()
        let again = budget.permit()
        #expect(again != nil && budget.permit() == nil)
    }

    @Test func callsThatEndedAreNoneAnyMore() {
        let budget = RetryBudget()
        for _ in 0..<100 { budget.beginCall() }
        for _ in 0..<100 { budget.endCall() }
        let shares = (0..<4).map { _ in budget.permit() }
        #expect(shares.count { $0 != nil } == 3)
    }
}
