import Foundation
import Promises
import Synchronization

struct Failure: Error, Equatable {
    let name: String
    init(_ name: String) { self.name = name }
}

/// An error with an identity.
final class Reason: Error {}

/// The entries that handlers add, in order. For the thread of the test.
final class LocalJournal<Entry> {
    var entries: [Entry] = []
    func add(_ entry: Entry) { entries.append(entry) }
}

/// The entries that handlers add, in order, on any thread.
///
/// Locked by Foundation's lock: ThreadSanitizer does not support Swift's `Mutex` on Linux.
final class Journal<Entry: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var list: [Entry] = []
    var entries: [Entry] { lock.withLock { list } }
    func add(_ entry: Entry) { lock.withLock { list.append(entry) } }
}

/// The ways of settling for which Promises/A+ tests its clauses, and one more.
enum Way: CaseIterable {
    case alreadySettled, settledAtOnce, settledLater, settledByAnotherThread

    /// Passes a promise to `attach` and settles it in this way.
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

/// Runs a body on a new thread, with a stack of a given size, and waits for its end.
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

/// Runs bodies at the same time, each on its own thread, and waits for all.
func concurrently(_ bodies: [@Sendable () -> Void]) {
    let done = DispatchGroup()
    let isReady = Atomic(0)
    for body in bodies {
        done.enter()
        Thread {
            // All start together, as far as the machine allows.
            isReady.add(1, ordering: .acquiringAndReleasing)
            while isReady.load(ordering: .acquiring) < bodies.count { sched_yield() }
            body()
            done.leave()
        }.start()
    }
    done.wait()
}

/// Calls a closure when it is freed.
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

/// Counts the errors that it made and that are alive.
final class ErrorCounter: Sendable {
    private let count = Atomic(0)

    var alive: Int { count.load(ordering: .acquiring) }

    /// An error that is counted while it is referenced.
    func error() -> any Error { Counted(self) }

    private final class Counted: Error {
        private let counter: ErrorCounter
        init(_ counter: ErrorCounter) {
            self.counter = counter
            counter.count.add(1, ordering: .acquiringAndReleasing)
        }
        deinit { counter.count.subtract(1, ordering: .acquiringAndReleasing) }
    }
}
