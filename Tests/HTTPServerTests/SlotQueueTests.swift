import Basics
import Testing

@testable import HTTPServer

/// Compares the queue with a plain array.
@Suite struct SlotQueueTests {
    private func order(_ queue: SlotQueue) -> [Int] {
        var rest = queue
        var order: [Int] = []
        while let first = rest.first {
            order.append(first)
            rest.remove(first)
        }
        return order
    }

    @Test func returnsTheSlotThatWasAddedFirst() {
        var queue = SlotQueue()
        #expect(queue.first == nil)
        for slot in [3, 0, 7] { queue.append(slot) }
        #expect(order(queue) == [3, 0, 7])
        queue.append(3)
        #expect(order(queue) == [3, 0, 7])
        queue.remove(3)
        queue.append(3)
        #expect(order(queue) == [0, 7, 3])
        queue.remove(100)
        #expect(queue.contains(7) && !queue.contains(1) && !queue.contains(100))
    }

    @Test func movedSlotKeepsItsPosition() {
        var queue = SlotQueue()
        for slot in [5, 6, 7] { queue.append(slot) }
        queue.move(from: 6, to: 1)
        #expect(order(queue) == [5, 1, 7])
        queue.move(from: 5, to: 0)
        queue.move(from: 7, to: 2)
        queue.move(from: 9, to: 3)
        #expect(order(queue) == [0, 1, 2])
    }

    @Test(arguments: 0..<UInt64(20)) func behavesLikeAnArray(seed: UInt64) {
        let entropy = Entropy(seed: seed)
        var queue = SlotQueue()
        var model: [Int] = []
        for _ in 0..<500 {
            let slot = entropy.below(12)
            switch entropy.below(3) {
            case 0:
                queue.append(slot)
                if !model.contains(slot) { model.append(slot) }
            case 1:
                queue.remove(slot)
                model.removeAll { $0 == slot }
            default:
                let target = entropy.below(12)
                guard let index = model.firstIndex(of: slot), !model.contains(target) else {
                    continue
                }
                queue.move(from: slot, to: target)
                model[index] = target
            }
            #expect(order(queue) == model)
        }
    }
}
