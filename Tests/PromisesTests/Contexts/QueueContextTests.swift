import Dispatch
import Foundation
import Promises
import PromisesDispatch
import Synchronization
import Testing

/// F90: dispatch queues as contexts.
@Suite(.timeLimit(.minutes(5))) struct QueueContextTests {
    /// A queue of each kind.
    enum Kind: CaseIterable {
        case serial, concurrent, global

        var queue: DispatchQueue {
            switch self {
            case .serial: DispatchQueue(label: "serial")
            case .concurrent: DispatchQueue(label: "concurrent", attributes: .concurrent)
            case .global: DispatchQueue.global()
            }
        }
    }

    @Test("F90: handlers run on the queue, which is the current context", arguments: Kind.allCases)
    func handlersRunOnTheQueue(_ kind: Kind) async throws {
        let context = QueueContext(kind.queue)
        let seen = try await Promise.value(1, on: context).map { _ in
            dispatchPrecondition(condition: .onQueue(context.queue))
            return [context.isCurrent, Promise.value(2).context === context]
        }.get()
        #expect(seen == [true, true])
        #expect(!context.isCurrent)
    }

    @Test("F90: handlers of one promise run in the order of attachment", arguments: Kind.allCases)
    func handlersRunInOrder(_ kind: Kind) async throws {
        let context = QueueContext(kind.queue)
        let journal = Journal<Int>()
        let resolver = Resolver<Int>(on: context)
        let promise = resolver.promise
        for number in 0..<1_000 { promise.whenSettled { _ in journal.add(number) } }
        resolver.fulfill(1)
        for number in 1_000..<2_000 { promise.whenSettled { _ in journal.add(number) } }
        _ = try await promise.get()
        #expect(journal.entries == Array(0..<2_000))
    }

    @Test("F90: one handler at a time, from any settling thread", arguments: Kind.allCases)
    func handlersRunOneAtATime(_ kind: Kind) async throws {
        let context = QueueContext(kind.queue)
        let running = Atomic(0)
        let overlaps = Journal<Int>()
        let promises = (0..<500).map { number in
            Promise(on: SharedPool.shared) { number }.map(on: context) { number in
                if running.add(1, ordering: .relaxed).oldValue != 0 { overlaps.add(number) }
                running.subtract(1, ordering: .relaxed)
                return number
            }
        }
        #expect(try await all(promises).get() == Array(0..<500))
        #expect(overlaps.entries.isEmpty)
    }

    @Test("F90: jobs that other threads enqueued earlier run first")
    func jobsOfOtherThreadsKeepTheirOrder() async throws {
        let context = QueueContext(DispatchQueue(label: "order"))
        let journal = Journal<String>()
        let promise = Promise.value(1, on: context)
        let end = promise.map { _ -> Promise<Int> in
            onAnotherThread { promise.whenSettled { _ in journal.add("first") } }
            promise.whenSettled { _ in journal.add("second") }
            return promise.map { $0 }
        }
        _ = try await end.get().get()
        #expect(journal.entries == ["first", "second"])
    }

    @Test("F90: timers fire on the queue") func timersFireOnTheQueue() async throws {
        let context = QueueContext(DispatchQueue(label: "time"))
        let far = Promise<Int>.never(on: context).timeout(.seconds(1 << 40))
        let late = Promise<Int>.never(on: context).timeout(.milliseconds(5))
        await #expect(throws: PromiseError.timedOut) { try await late.get() }
        let seen = try await after(.milliseconds(1), on: context).promise
            .map { context.isCurrent }.get()
        #expect(seen)
        #expect(far.isPending)
        far.cancel()
    }

    @Test("F90: a cancelled timer releases its promise") func aCancelledTimerReleasesItsPromise()
        async throws
    {
        let context = QueueContext(DispatchQueue(label: "time"))
        weak let released: Reason? = try await {
            let reason = Reason()
            let limited = Promise<Int>.never(on: context).timeout(.seconds(3_600))
            _ = try await Promise.value(1, on: context).get()  // the timer runs now
            limited.cancel(because: reason)
            return reason
        }()
        _ = try await Promise.value(1, on: context).get()
        #expect(released == nil)
    }

    @Test("F90: other blocks of the queue run, and are not handlers")
    func otherBlocksOfTheQueueRun() async {
        let context = QueueContext(DispatchQueue(label: "fair"))
        let isFinished = Atomic(false)
        let rounds = Atomic(0)
        @Sendable func enqueueAgain() {
            rounds.add(1, ordering: .relaxed)
            if isFinished.load(ordering: .relaxed) { return }
            Promise.value(1, on: context).whenSettled { _ in enqueueAgain() }
        }
        enqueueAgain()
        let isHandler = await withCheckedContinuation { continuation in
            context.queue.async {
                isFinished.store(true, ordering: .relaxed)
                continuation.resume(returning: context.isCurrent)
            }
        }
        #expect(!isHandler)
        #expect(rounds.load(ordering: .relaxed) > 0)
    }

    @Test("F90: the main queue is a context") func theMainQueueIsAContext() async throws {
        let context = try await Promise.value(1, on: SharedPool.shared).map(on: .main) { _ in
            dispatchPrecondition(condition: .onQueue(.main))
            return Promise.value(2).context
        }.get()
        #expect(context === QueueContext.main)
    }

    @Test("F90: an executor of Swift's concurrency is a context, one handler at a time")
    func anExecutorIsASerialContext() async throws {
        final class Workers: TaskExecutor {
            let queue = DispatchQueue(label: "workers", attributes: .concurrent)
            func enqueue(_ job: consuming ExecutorJob) {
                let job = UnownedJob(job)
                queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
            }
        }
        let workers = Workers()
        let context = ExecutorContext(workers)
        let journal = Journal<Int>()
        let resolver = Resolver<Int>(on: context)
        let promise = resolver.promise
        for number in 0..<200 {
            promise.whenSettled { _ in
                dispatchPrecondition(condition: .onQueue(workers.queue))
                journal.add(context.isCurrent ? number : -1)
            }
        }
        resolver.fulfill(1)
        _ = try await promise.timeout(.seconds(50)).get()
        #expect(journal.entries == Array(0..<200))
    }

    @Test("F92: a task that a handler starts is not on the handler's context")
    func aTaskStartedByAHandlerIsNotOnItsContext() async throws {
        let context = SharedPool.shared
        let task = try await Promise.value(1, on: context)
            .map { _ in (context.isCurrent, Task { context.isCurrent }) }.get()
        #expect(task.0)
        #expect(await !task.1.value)
    }
}
