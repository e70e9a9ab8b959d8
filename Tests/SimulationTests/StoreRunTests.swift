import Testing

@testable import Simulation

/// Limits that replicas share, in simulated runs with faults of the store.
@Suite struct StoreRunTests {
    /// Without those that `SeedTests` runs, too.
    @Test(arguments: (1...20).filter { $0 % 4 != 1 } as [UInt64])
    func fixedSeedPasses(_ seed: UInt64) {
        let violations = StoreRun.violations(of: seed)
        #expect(violations.isEmpty, "\(StoreRunPlan(seed: seed)) \(violations)")
    }

    @Test(arguments: Seeds.fresh(8)) func freshSeedPasses(_ seed: UInt64) {
        let violations = StoreRun.violations(of: seed)
        #expect(violations.isEmpty, "\(violations)")
    }

    /// Every fault, several replicas and both kinds of synchronisation occur.
    @Test func seedsCoverWhatIsDrawn() {
        let plans = (1...200 as ClosedRange<UInt64>).map { StoreRunPlan(seed: $0) }
        let kinds = Set(plans.flatMap { $0.faults.map { "\($0.kind)" } })
        #expect(kinds.count == StoreFault.Kind.allCases.count)
        #expect(Set(plans.map(\.replicas.count)) == [1, 2, 3])
        #expect(plans.contains { $0.sync == nil } && plans.contains { $0.sync != nil })
        #expect(plans.contains { $0.faults.isEmpty })
    }

    // MARK: The checker can fail

    private func plan(_ isWanted: (StoreRunPlan) -> Bool) throws -> StoreRunPlan {
        for seed in 1...1000 as ClosedRange<UInt64> {
            let plan = StoreRunPlan(seed: seed)
            if isWanted(plan) { return plan }
        }
        throw NoPlan()
    }

    private struct NoPlan: Error {}

    private func request(
        _ began: Double, _ time: Double = 2, key: Int = 1, status: Int = 200
    ) -> StoreRunRecord.Request {
        StoreRunRecord.Request(
            worker: 0, replica: 0, key: key, began: began, ended: began + time, status: status)
    }

    @Test func aRequestThatTakesTooLongIsFound() throws {
        let plan = try plan { $0.faults.isEmpty }
        var record = StoreRunRecord()
        record.requests = [request(10, 61)]
        #expect(StoreRunCheck(plan, record).violations.isEmpty)
        record.requests = [request(10, 63)]
        #expect(StoreRunCheck(plan, record).violations.count == 1)
    }

    @Test func aRequestThatWaitsForAStoreThatIsDownIsFound() throws {
        let plan = try plan { $0.faults.first.map { $0.from < 1_500 && $0.until > 1_700 } ?? false }
        var record = StoreRunRecord()
        let from = Double(plan.faults[0].from)
        record.changes = [
            StoreRunRecord.Change(worker: 0, isUp: false, at: from + 10, text: ""),
            StoreRunRecord.Change(worker: 0, isUp: true, at: from + 100, text: ""),
        ]
        record.requests = [request(from + 5, 50)]
        #expect(StoreRunCheck(plan, record).violations.isEmpty)
        record.requests = [request(from + 15, 50)]
        #expect(StoreRunCheck(plan, record).violations.count == 1)
    }

    @Test func anErrorAndAMissingResponseAreFound() throws {
        let plan = try plan { $0.faults.isEmpty }
        var record = StoreRunRecord()
        record.requests = [request(10, status: 503)]
        record.unanswered = 1
        #expect(StoreRunCheck(plan, record).violations.count >= 2)
    }

    @Test func aChangeWithoutAFaultAndAStoreThatStaysDownAreFound() throws {
        let plan = try plan { $0.faults.isEmpty }
        var record = StoreRunRecord()
        record.requests = [request(10)]
        record.changes = [StoreRunRecord.Change(worker: 0, isUp: false, at: 100, text: "")]
        #expect(StoreRunCheck(plan, record).violations.count == 2)
    }

    @Test func aRequestTooManyIsFound() throws {
        let plan = try plan { $0.faults.isEmpty && $0.sync == nil }
        var record = StoreRunRecord()
        record.requests = (0..<(plan.burst + plan.workers)).map { _ in request(10, 0) }
        #expect(StoreRunCheck(plan, record).violations.isEmpty)
        record.requests.append(request(10, 0))
        #expect(StoreRunCheck(plan, record).violations.count == 1)
    }

    @Test func aRefusedRareKeyIsFound() throws {
        let plan = try plan { $0.faults.isEmpty }
        var record = StoreRunRecord()
        record.requests = [request(10, key: StoreRunPlan.rareKey, status: 429)]
        #expect(StoreRunCheck(plan, record).violations.count == 1)
    }
}
