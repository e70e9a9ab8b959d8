import Foundation
import Promises
import Synchronization

struct Failure: Error, Equatable {
    let name: String
    init(_ name: String) { self.name = name }
}

/// An error that can be told from its like.
final class Reason: Error {}

/// What handlers wrote down, in order. For the thread that drives the test.
final class Notes<Entry> {
    var entries: [Entry] = []
    func add(_ entry: Entry) { entries.append(entry) }
}

/// What handlers wrote down, in order, on any thread.
///
/// With a lock of the C library: ThreadSanitizer knows nothing of Swift's `Mutex` on Linux.
final class Journal<Entry: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var list: [Entry] = []
    var entries: [Entry] { lock.withLock { list } }
    func add(_ entry: Entry) { lock.withLock { list.append(entry) } }
}

/// The ways in which Promises/A+ wants its clauses to be tried, and one more.
enum Way: CaseIterable {
    case alreadySettled, settledAtOnce, settledLater, settledByAnotherThread

    /// Hands a promise to `attach` and lets it be settled in this way.
    func settle(
        _ outcome: Result<Int, any Error>, attach: (Promise<Int>, ManualContext) -> Void
    ) {
        let context = ManualContext()
        let resolver = Resolver<Int>(on: context)
        let promise = resolver.promise
        switch self {
        case .alreadySettled:
            resolver.resolve(outcome)
            context.drain()
            attach(promise, context)
        case .settledAtOnce:
            attach(promise, context)
            resolver.resolve(outcome)
        case .settledLater:
            attach(promise, context)
            context.advance(by: .milliseconds(50))
            resolver.resolve(outcome)
        case .settledByAnotherThread:
            attach(promise, context)
            let shared = resolver.shared()
            onAnotherThread { shared.resolve(outcome) }
        }
        context.drain()
    }
}

/// Runs a body on a new thread, with a small stack if so wished, and waits for its end.
func onAnotherThread(stackBytes: Int? = nil, _ body: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
        body()
        done.signal()
    }
    if let stackBytes { thread.stackSize = stackBytes }
    thread.start()
    done.wait()
}

/// Runs bodies at the same time, each on a thread of its own, and waits for all.
func concurrently(_ bodies: [@Sendable () -> Void]) {
    let done = DispatchGroup()
    let isReady = Atomic(0)
    for body in bodies {
        done.enter()
        Thread {
            // All begin together, as well as the machine can.
            isReady.add(1, ordering: .acquiringAndReleasing)
            while isReady.load(ordering: .acquiring) < bodies.count { sched_yield() }
            body()
            done.leave()
        }.start()
    }
    done.wait()
}

/// Tells when it is freed.
final class Token: Sendable {
    private let onFree: @Sendable () -> Void
    init(onFree: @escaping @Sendable () -> Void = {}) { self.onFree = onFree }
    deinit { onFree() }
}

extension Result {
    var success: Success? { try? get() }
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

/// Tells how many copies of what it was given to are alive.
final class Census: Sendable {
    private let count = Atomic(0)

    var alive: Int { count.load(ordering: .acquiring) }

    /// An error that is counted while somebody holds it.
    func error() -> any Error { Counted(self) }

    private final class Counted: Error {
        private let census: Census
        init(_ census: Census) {
            self.census = census
            census.count.add(1, ordering: .acquiringAndReleasing)
        }
        deinit { census.count.subtract(1, ordering: .acquiringAndReleasing) }
    }
}
