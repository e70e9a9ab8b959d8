import Testing

@testable import Process

/// The results of reloads, as pages and metrics show them.
@Suite struct ReloadHistoryTests {
    private var history = ReloadHistory(startedAt: 100)

    @Test func theStartCountsAsASuccess() {
        #expect(history.counts.isLastSuccessful && history.counts.loadedAt == 100)
        #expect(history.status.last == nil && history.status.loadedAt == 100)
    }

    @Test mutating func aSuccessReplacesTheConfiguration() {
        history.begin()
        history.problems = ["a warning"]
        history.record(.done, at: 200)
        #expect(history.status.loadedAt == 200 && history.counts.loadedAt == 200)
        #expect(history.counts.succeeded == 1 && history.counts.isLastSuccessful)
        #expect(history.status.last?.result == .succeeded)
        #expect(history.status.last?.problems == ["a warning"])
        #expect(!history.hasFailed)
    }

    @Test(arguments: [
        (ReloadOutcome.failed, ReloadStatus.Result.failed, ["an error"]),
        (.refused(silentWorkers: [1, 2]), .refused, ["workers 1, 2 do not answer"]),
    ])
    mutating func aFailureKeepsTheConfiguration(
        _ outcome: ReloadOutcome, _ result: ReloadStatus.Result, _ problems: [String]
    ) {
        history.begin()
        history.problems = ["an error"]
        history.record(outcome, at: 200)
        #expect(history.status.loadedAt == 100 && history.counts.loadedAt == 100)
        #expect(history.counts.failed == 1 && !history.counts.isLastSuccessful)
        #expect(history.status.last?.result == result && history.status.last?.endedAt == 200)
        #expect(history.status.last?.problems == problems)
        #expect(history.hasFailed)
        history.record(.done, at: 300)
        #expect(!history.hasFailed && history.counts.isLastSuccessful)
    }

    /// While the process drains: no reload that counts.
    @Test mutating func anImpossibleReloadCountsNothing() {
        history.begin()
        history.record(.impossible, at: 200)
        #expect(history.counts.succeeded + history.counts.failed == 0)
        #expect(history.counts.isLastSuccessful && history.status.last == nil)
    }
}
