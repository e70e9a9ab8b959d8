import Basics
import Testing

@testable import Gateway

/// Which hosts are available after a history of events: `0-` is a failed call to host 0, `0+` a
/// successful one, `0.` one without an outcome, `0x` a failed check, `0v` a successful one, `@5`
/// the time in seconds, `=1n` a reload that keeps host 1 as the first one and adds a second one,
/// `=01!` one that removes `eject`, `=01?` one that removes the health checks.
@Suite struct HostAvailabilityTests {
    private func availableHosts(_ history: String, hosts: Int, eject: Bool = true) -> [Int] {
        let plan = EjectPlan(after: 3, duration: .seconds(10))
        var availability = HostAvailability(hosts: hosts, eject: eject ? plan : nil)
        var now = Instant(nanoseconds: 1_000_000_000_000)
        for word in history.split(separator: " ") {
            if word.hasPrefix("=") {
                availability = availability.continued(
                    for: word.filter { $0.isNumber || $0 == "n" }.map { Int(String($0)) },
                    eject: word.hasSuffix("!") ? nil : plan, isChecked: !word.hasSuffix("?"),
                    at: now)
                continue
            }
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
        return availability.availableHosts(at: now)
    }

    @Test(arguments: [
        ("", [0, 1, 2]), ("0--", [0, 1, 2]), ("0---", [1, 2]), ("0--+--", [0, 1, 2]),
        ("0--..-", [1, 2]), ("0-- 1-- 2--", [0, 1, 2]), ("0---", [1, 2]),
        ("0--- @9", [1, 2]), ("0--- @10", [0, 1, 2]),
    ])
    func consecutiveFailuresEjectAHost(_ history: String, _ availableHosts: [Int]) {
        #expect(self.availableHosts(history, hosts: 3) == availableHosts)
    }

    /// Ten seconds, then twenty, and after a successful call ten again.
    @Test(arguments: [
        ("0--- @10 0---", [1, 2]), ("0--- @10 0--- @29", [1, 2]),
        ("0--- @10 0--- @30", [0, 1, 2]), ("0--- @10 0+--- @20", [0, 1, 2]),
        ("0--- @10 0--- @30 0--- @59", [1, 2]), ("0--- @10 0--- @30 0--- @60", [0, 1, 2]),
    ])
    func ejectionTimeGrows(_ history: String, _ availableHosts: [Int]) {
        #expect(self.availableHosts(history, hosts: 3) == availableHosts)
    }

    @Test func ejectionTimeGrowsTenfoldAtMost() {
        var history = ""
        var time = 0
        for number in 1...14 {
            history += " @\(time) 0---"
            time += 10 * min(number, 10)
        }
        #expect(availableHosts(history + " @\(time - 1)", hosts: 2) == [1])
        #expect(availableHosts(history + " @\(time)", hosts: 2) == [0, 1])
    }

    @Test(arguments: [
        (1, "0---", [0]), (2, "0--- 1---", [1]), (3, "0--- 1---", [1, 2]),
        (4, "0--- 1--- 2---", [2, 3]),
    ])
    func ejectsAtMostHalfOfTheHosts(_ hosts: Int, _ history: String, _ availableHosts: [Int]) {
        #expect(self.availableHosts(history, hosts: hosts) == availableHosts)
    }

    /// A host beyond the limit is ejected as soon as another one is available again.
    @Test func ejectsAHostOnceAnotherReturns() {
        #expect(availableHosts("0--- 1--- @10 1-", hosts: 2) == [0])
    }

    @Test func ignoresLateOutcomesOfAnEjectedHost() {
        #expect(availableHosts("0--- @5 0--- @10", hosts: 2) == [0, 1])
        #expect(availableHosts("0--- @5 0+ @10 0--- @29", hosts: 2) == [1], "its count is kept")
    }

    @Test func withoutEjectNoHostIsEjected() {
        #expect(availableHosts("0--------- 1-----", hosts: 2, eject: false) == [0, 1])
    }

    // MARK: Checks

    @Test(arguments: [
        ("0x", [0, 1]), ("0xx", [1]), ("0xvx", [0, 1]), ("0xxv", [0, 1]), ("0xx @100", [1]),
        ("0xx 1xx", []), ("0xx 1xx 1v", [1]), ("0xx 1---", [1]), ("1--- 0xx", [1]),
    ])
    func failedChecksMakeAHostUnavailable(_ history: String, _ availableHosts: [Int]) {
        #expect(self.availableHosts(history, hosts: 2) == availableHosts)
    }

    // MARK: Reload

    @Test(arguments: [
        ("0xx =01n", [1, 2]), ("0xx =n0", [0]), ("0xx =1", [0]), ("0x =10 1x", [0]),
        ("0x =0n 0vx", [0, 1]), ("0xx =01?", [0, 1]), ("0xx =01? =01", [0, 1]),
        ("0xx =01!", [1]),
    ])
    func reloadKeepsTheHealthOfHosts(_ history: String, _ availableHosts: [Int]) {
        #expect(self.availableHosts(history, hosts: 2) == availableHosts)
    }

    @Test(arguments: [
        ("0--- =0123n", [1, 2, 3, 4]), ("0--- =10n", [0, 2]), ("0--- =0123n @10", [0, 1, 2, 3, 4]),
        ("0-- =0123n 0-", [1, 2, 3, 4]), ("0-- =n123 0-", [0, 1, 2, 3]),
        ("0--- @10 =0123n 0--- @29", [1, 2, 3, 4]), ("0--- =0123!", [0, 1, 2, 3]),
        ("0--- =0123! =0123", [0, 1, 2, 3]), ("0--- =0123! =0123 0--", [0, 1, 2, 3]),
        ("0--- =0123?", [1, 2, 3]),
    ])
    func reloadKeepsTheEjectionsOfHosts(_ history: String, _ availableHosts: [Int]) {
        #expect(self.availableHosts(history, hosts: 4) == availableHosts)
    }

    /// Two of four hosts are ejected; with fewer hosts, only as many as may be.
    @Test(arguments: [
        ("0--- 1--- =01", [1]), ("0--- 1--- =012", [1, 2]), ("0--- 1--- =10", [1]),
        ("0--- 1--- =1", [0]), ("0--- @5 1--- @10 =01", [0]),
    ])
    func reloadKeepsAtMostHalfOfTheHostsEjected(_ history: String, _ availableHosts: [Int]) {
        #expect(self.availableHosts(history, hosts: 4) == availableHosts)
    }
}

@Suite struct RetryBudgetTests {
    /// A fifth of the calls, but at least three.
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

    @Test func endedCallsDoNotCount() {
        let budget = RetryBudget()
        for _ in 0..<100 { budget.beginCall() }
        for _ in 0..<100 { budget.endCall() }
        let shares = (0..<4).map { _ in budget.permit() }
        #expect(shares.count { $0 != nil } == 3)
    }
}
