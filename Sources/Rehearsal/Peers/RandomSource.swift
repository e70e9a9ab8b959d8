import Basics

/// Chance that belongs to one thing: what is drawn for a request, a call, an attempt depends on the
/// seed and on its name, and on nothing that was drawn before. So a run from which other requests were
/// taken away still has the same ones left.
package struct RandomSource {
    private let seed: UInt64
    private let entropy: Entropy

    package init(seed: UInt64) {
        self.seed = seed
        entropy = Entropy(seed: seed)
    }

    /// The dice of a part, by its name.
    package func dice(_ name: StaticString, _ numbers: Int...) -> RandomSource {
        var hash = seed ^ 0xcbf2_9ce4_8422_2325
        func mix(_ word: UInt64) { hash = (hash ^ word) &* 0x0000_0100_0000_01B3 }
        name.withUTF8Buffer { bytes in unsafe bytes.forEach { mix(UInt64($0)) } }
        for number in numbers { mix(UInt64(truncatingIfNeeded: number) &+ 0x9E37_79B9_7F4A_7C15) }
        return RandomSource(seed: hash ^ hash >> 29)
    }

    package func word() -> UInt64 { entropy.next() }

    /// True with this probability, 0 to 1.
    package func chance(_ probability: Double) -> Bool { entropy.chance(probability) }

    package func number(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + entropy.below(range.count)
    }

    /// One of a list that is not empty.
    package func pick<Item>(_ items: [Item]) -> Item { items[entropy.below(items.count)] }

    /// Something with this probability, else nothing.
    package func maybe<Item>(_ probability: Double, _ item: @autoclosure () -> Item) -> Item? {
        chance(probability) ? item() : nil
    }

    /// Each of a list with this probability, in order.
    package func some<Item>(_ items: [Item], _ probability: Double) -> [Item] {
        items.filter { _ in chance(probability) }
    }
}
