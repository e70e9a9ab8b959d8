import Basics
import Testing

/// When a budget asks its owner to free memory, and how much.
@Suite struct ByteBudgetTests {
    private final class Owner {
        let budget: ByteBudget
        var needs: [ByteBudget.ReclaimReason] = []
        /// The bytes that the next request frees.
        var bytesToFree = 0

        init(limit: Int) {
            budget = ByteBudget(limit: limit)
            budget.reclaim = { [unowned self] need in
                needs.append(need)
                budget.release(bytesToFree)
                bytesToFree = 0
            }
        }
    }

    @Test func reclaimsMemoryAboveThreeQuartersOfTheLimit() {
        let owner = Owner(limit: 100)
        #expect(owner.budget.reserve(75))
        #expect(owner.needs.isEmpty)
        #expect(owner.budget.reserve(1))
        owner.budget.adjust(by: 1)
        owner.budget.adjust(by: -3)
        owner.budget.adjust(by: 1)
        #expect(owner.needs == [.low, .low])
    }

    @Test func reclaimsMemoryBeforeItRefuses() {
        let owner = Owner(limit: 100)
        #expect(owner.budget.reserve(60))
        #expect(!owner.budget.reserve(50))
        #expect(owner.budget.bytesHeld == 60)
        owner.bytesToFree = 20
        #expect(owner.budget.reserve(50))
        #expect(owner.needs == [.bytes(50), .bytes(50)])
        #expect(owner.budget.bytesHeld == 90)
    }

    @Test func hasRoomAfterReclaimingMemory() {
        let owner = Owner(limit: 100)
        owner.budget.adjust(by: 110)
        #expect(!owner.budget.hasRoom())
        owner.bytesToFree = 20
        #expect(owner.budget.hasRoom())
        #expect(owner.needs == [.low, .bytes(1), .bytes(1)])
    }

    @Test func aNewLimitMovesTheThreshold() {
        let owner = Owner(limit: 100)
        owner.budget.limit = 1000
        #expect(owner.budget.reserve(750))
        #expect(owner.needs.isEmpty)
        owner.budget.limit = 900
        #expect(owner.budget.reserve(1))
        #expect(owner.needs == [.low])
    }
}
