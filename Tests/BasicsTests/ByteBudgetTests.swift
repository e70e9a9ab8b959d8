import Basics
import Testing

/// When the owner of a budget is asked to free memory, and for what.
@Suite struct ByteBudgetTests {
    private final class Owner {
        let budget: ByteBudget
        var needs: [ByteBudget.Need] = []
        /// What is freed when asked for.
        var spare = 0

        init(limit: Int) {
            budget = ByteBudget(limit: limit)
            budget.reclaim = { [unowned self] need in
                needs.append(need)
                budget.give(spare)
                spare = 0
            }
        }
    }

    @Test func asksForMemoryAboveThreeQuartersOfTheLimit() {
        let owner = Owner(limit: 100)
        #expect(owner.budget.take(75))
        #expect(owner.needs.isEmpty)
        #expect(owner.budget.take(1))
        owner.budget.adjust(by: 1)
        owner.budget.adjust(by: -3)
        owner.budget.adjust(by: 1)
        #expect(owner.needs == [.short, .short])
    }

    @Test func asksForRoomBeforeItRefuses() {
        let owner = Owner(limit: 100)
        #expect(owner.budget.take(60))
        #expect(!owner.budget.take(50))
        #expect(owner.budget.held == 60)
        owner.spare = 20
        #expect(owner.budget.take(50))
        #expect(owner.needs == [.room(50), .room(50)])
        #expect(owner.budget.held == 90)
    }

    @Test func findsRoomForMoreWhereSomeIsFreed() {
        let owner = Owner(limit: 100)
        owner.budget.adjust(by: 110)
        #expect(!owner.budget.hasRoom())
        owner.spare = 20
        #expect(owner.budget.hasRoom())
        #expect(owner.needs == [.short, .room(1), .room(1)])
    }

    @Test func aNewLimitHasThreeQuartersOfItsOwn() {
        let owner = Owner(limit: 100)
        owner.budget.limit = 1000
        #expect(owner.budget.take(750))
        #expect(owner.needs.isEmpty)
        owner.budget.limit = 900
        #expect(owner.budget.take(1))
        #expect(owner.needs == [.short])
    }
}
