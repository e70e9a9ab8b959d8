import Basics

/// A random source for one subject, e.g. a request, a call or an attempt.
///
/// The values depend on the seed and on the subject's name, not on what was drawn before: when a run is
/// repeated with fewer requests, those that remain are the same.
package struct RandomSource {
    private let seed: UInt64
    private let entropy: Entropy

    package init(seed: UInt64) {
        self.seed = seed
        entropy = Entropy(seed: seed)
    }

    /// An independent source for a part of the subject, selected by name.
    package func derived(_ name: StaticString, _ numbers: Int...) -> RandomSource {
        var hash = seed ^ 0xcbf2_9ce4_8422_2325
        func mix(_ word: UInt64) { hash = (hash ^ word) &* 0x0000_0100_0000_01B3 }
        name.withUTF8Buffer { bytes in unsafe bytes.forEach { mix(UInt64($0)) } }
        for number in numbers { mix(UInt64(truncatingIfNeeded: number) &+ 0x9E37_79B9_7F4A_7C15) }
        return RandomSource(seed: hash ^ hash >> 29)
    }

    package func nextWord() -> UInt64 { entropy.next() }

    /// True with this probability, 0 to 1.
    package func chance(_ probability: Double) -> Bool { entropy.chance(probability) }

    package func number(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + entropy.below(range.count)
    }

    /// One element of a list that is not empty.
    package func pick<Item>(_ items: [Item]) -> Item { items[entropy.below(items.count)] }

    /// The item with this probability, otherwise nil.
    package func maybe<Item>(_ probability: Double, _ item: @autoclosure () -> Item) -> Item? {
        chance(probability) ? item() : nil
    }

    /// The items that are selected, each with this probability, in order.
    package func some<Item>(_ items: [Item], _ probability: Double) -> [Item] {
        items.filter { _ in chance(probability) }
    }
}
