import Synchronization

/// A number that several workers count up and down together. Usable on all threads.
package final class SharedCount: Sendable {
    private let number = Atomic<Int>(0)

    package init() {}

    package var value: Int { number.load(ordering: .relaxed) }

    package func increment() { number.add(1, ordering: .relaxed) }

    package func decrement() {
        let former = number.subtract(1, ordering: .relaxed).oldValue
        assert(former > 0, "counted down more often than up")
    }
}
