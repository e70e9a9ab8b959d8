import Testing

@testable import Basics

@Suite struct SlotTableTests {
    @Test func aFreedSlotIsUsedAgain() {
        var table = SlotTable<String>()
        let (first, second) = (table.insert("a"), table.insert("b"))
        #expect(table.remove(first) == "a")
        #expect(table.insert("c") == first)
        #expect(table[first] == "c" && table[second] == "b" && table.count == 2)
    }

    @Test func freeSlotsHaveNoValue() {
        var table = SlotTable<String>()
        let slot = table.insert("a")
        table.remove(slot)
        table[slot] = "b"
        #expect(table[slot] == nil && table[99] == nil && table[-1] == nil)
        #expect(table.remove(slot) == nil && table.count == 0)
    }

    @Test(arguments: [
        ([0], [1, 2, 3]), ([1], [0, 2, 3]), ([3], [0, 1, 2]), ([0, 1, 2, 3], []),
        ([2, 1], [0, 3]),
        ([3, 0], [1, 2]),
    ])
    func aListKeepsItsOrderWhenSlotsLeave(leaving: [Int], rest: [Int]) {
        var table = SlotTable<Int>()
        var list = SlotList()
        for value in 0..<4 { table.join(table.insert(value), &list) }
        for slot in leaving { table.leave(slot, &list) }
        #expect(list.count == rest.count && list.newest == rest.last)
        #expect(drained(&list, of: &table) == rest)
    }

    @Test func aSlotMayJoinAgain() {
        var table = SlotTable<Int>()
        var list = SlotList()
        for value in 0..<3 { table.join(table.insert(value), &list) }
        table.leave(0, &list)
        table.join(0, &list)
        #expect(drained(&list, of: &table) == [1, 2, 0])
    }

    private func drained(_ list: inout SlotList, of table: inout SlotTable<Int>) -> [Int] {
        var values: [Int] = []
        while let slot = list.oldest {
            table.leave(slot, &list)
            if let value = table.remove(slot) { values.append(value) }
        }
        return values
    }
}
