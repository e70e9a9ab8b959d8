import Promises
import Synchronization

/// Work that finishes at once.
final class Doubling: Work<Int, Int>, @unchecked Sendable {
    override func main(_ input: Int, _ resolver: consuming Resolver<Int>) {
        resolver.fulfill(input * 2)
    }
}

/// Work that runs until the test finishes it.
final class Stoppable: Work<Void, Int>, @unchecked Sendable {
    private let resolver = Journal<SharedResolver<Int>>()
    private let onStop: @Sendable () -> Void
    let isRunning = Atomic(false)

    init(onStop: @escaping @Sendable () -> Void) { self.onStop = onStop }

    override func main(_ input: Void, _ resolver: consuming Resolver<Int>) {
        isRunning.store(true, ordering: .relaxed)
        self.resolver.add(resolver.shared())
    }

    override func wasCancelled(because cause: (any Error)?) { onStop() }

    func finish() { resolver.entries.first?.fulfill(1) }
    func fail() { resolver.entries.first?.reject(Failure("failed")) }
}
