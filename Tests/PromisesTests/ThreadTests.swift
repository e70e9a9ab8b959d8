import Dispatch
import Foundation
import Promises
import Synchronization
import Testing

/// A context with its own thread, like an event loop.
final class ThreadContext: ExecutionContext {
    private let inbox = Inbox()
    private let wake = DispatchSemaphore(value: 0)
    private let stopped = DispatchSemaphore(value: 0)
    private let isStopping = Atomic(false)
    private let thread = Atomic<UInt>(0)

    init() {
        Thread { [self] in
            thread.store(pthread_self(), ordering: .releasing)
            let readyQueue = ReadyQueue()
            while !isStopping.load(ordering: .acquiring) {
                wake.wait()
                readyQueue.append(contentsOf: inbox.takeAll())
                while readyQueue.drain(atMost: 1_000) {}
            }
            stopped.signal()
        }.start()
    }

    func stop() {
        isStopping.store(true, ordering: .releasing)
        wake.signal()
        stopped.wait()
    }

    var isCurrent: Bool { thread.load(ordering: .acquiring) == pthread_self() }

    func enqueue(_ job: consuming PromiseJob) {
        if inbox.append(job) { wake.signal() }
    }

    func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
        SharedPool.shared.schedule(after: delay, job)
    }
}

/// Threads that attach, settle and cancel at the same time; also for ThreadSanitizer.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ThreadTests {
    @Test("F41: attaching while settling keeps the order of each thread")
    func attachingWhileSettlingKeepsOrderForEachThread() {
        let context = ThreadContext()
        for _ in 0..<300 {
            let resolver = Resolver<Int>(on: context).shared()
            let promise = resolver.promise
            let journal = Journal<Int>()
            concurrently([
                { for index in 0..<40 { promise.whenSettled { _ in journal.add(index) } } },
                { for index in 100..<140 { promise.whenSettled { _ in journal.add(index) } } },
                { resolver.fulfill(1) },
            ])
            let done = DispatchSemaphore(value: 0)
            promise.whenSettled { _ in done.signal() }
            done.wait()
            let entries = journal.entries
            #expect(entries.filter { $0 < 100 } == Array(0..<40))
            #expect(entries.filter { $0 >= 100 } == Array(100..<140))
        }
        context.stop()
    }

    @Test("F20: one of two settling threads wins") func oneOfTwoSettlingThreadsWins() {
        let context = ThreadContext()
        for _ in 0..<500 {
            let resolver = Resolver<Int>(on: context).shared()
            let wins = Atomic(0)
            let seen = Journal<Int>()
            let end = resolver.promise.map { value in
                seen.add(value)
                return value
            }
            concurrently([
                { if resolver.fulfill(1) { wins.add(1, ordering: .relaxed) } },
                { if resolver.fulfill(2) { wins.add(1, ordering: .relaxed) } },
            ])
            let done = DispatchSemaphore(value: 0)
            end.whenSettled { _ in done.signal() }
            done.wait()
            #expect(wins.load(ordering: .relaxed) == 1)
            #expect(seen.entries.count == 1)
        }
        context.stop()
    }

    @Test func settlingWhileCancellingAndAttaching() {
        let context = ThreadContext()
        let elsewhere = ThreadContext()
        for round in 0..<500 {
            let resolver = Resolver<[Int]>(on: context).shared()
            let stops = Atomic(0)
            resolver.onCancel { _ in stops.add(1, ordering: .relaxed) }
            let source = resolver.promise
            let inner = Resolver<[Int]>(on: elsewhere).shared()
            let children = (0..<4).map { index in
                source.map { $0 + [index] }.then { _ in inner.promise }
                    .hop(to: index.isMultiple(of: 2) ? context : elsewhere).map { $0.count }
            }
            concurrently([
                { for child in children { child.cancel() } },
                { resolver.fulfill([round]) },
                { inner.fulfill([1, 2, 3]) },
                { for _ in 0..<10 { source.map { $0 }.cancel() } },
            ])
            let done = DispatchSemaphore(value: 0)
            allSettled(children).done { _ in done.signal() }
            done.wait()
            for child in children { #expect(child.value == 3 || child.error is Cancelled) }
            #expect(stops.load(ordering: .relaxed) <= 1)
        }
        context.stop()
        elsewhere.stop()
    }

    @Test func freeingWithdrawnNodesWhileAttachingAndSettling() {
        let context = ThreadContext()
        for _ in 0..<100 {
            let resolver = Resolver<Int>(on: context).shared()
            let source = resolver.promise
            let consumer = source.map { $0 }
            let journal = Journal<Int>()
            concurrently([
                { for _ in 0..<200 { source.map { $0 }.cancel() } },
                { for _ in 0..<200 { source.map { $0 }.cancel() } },
                { for index in 0..<100 { source.whenSettled { _ in journal.add(index) } } },
                { resolver.fulfill(1) },
            ])
            let done = DispatchSemaphore(value: 0)
            consumer.then { _ in source }.whenSettled { _ in done.signal() }
            done.wait()
            let last = DispatchSemaphore(value: 0)
            source.whenSettled { _ in last.signal() }
            last.wait()
            #expect(journal.entries == Array(0..<100))
        }
        context.stop()
    }

    @Test("F102: onCancel during a cancellation runs") func onCancelDuringACancellationRuns() {
        let context = ThreadContext()
        for _ in 0..<500 {
            let resolver = Resolver<Int>(on: context).shared()
            let calls = Atomic(0)
            concurrently([
                { resolver.onCancel { _ in calls.add(1, ordering: .relaxed) } },
                { resolver.onCancel { _ in calls.add(1, ordering: .relaxed) } },
                { resolver.promise.cancel() },
            ])
            let done = DispatchSemaphore(value: 0)
            resolver.onCancel { _ in done.signal() }
            done.wait()
            // Closures that were registered before the last one have run by now.
            #expect(calls.load(ordering: .relaxed) == 2)
        }
        context.stop()
    }

    @Test func inputsOfCombinatorsSettleOnManyThreads() {
        let context = ThreadContext()
        for _ in 0..<200 {
            let resolvers = (0..<4).map { _ in Resolver<Int>(on: context).shared() }
            let inputs = resolvers.map(\.promise)
            let any = any(inputs.enumerated().map { (key: $0, promise: $1.hop(to: context)) })
            let race = race(inputs)
            let every = all(inputs)
            concurrently(
                resolvers.enumerated().map { index, resolver in
                    {
                        if index == 0 {
                            resolver.reject(Failure("x"))
                        } else {
                            resolver.fulfill(index)
                        }
                    }
                } + [{ every.cancel() }])
            let done = DispatchSemaphore(value: 0)
            allSettled([any.asVoid(), race.asVoid(), every.asVoid()]).done { _ in done.signal() }
            done.wait()
            #expect(any.value?.values == [1: 1, 2: 2, 3: 3])
            #expect(race.value != nil)
            #expect(every.error is Failure || every.error is Cancelled)
        }
        context.stop()
    }

    @Test("F109: another thread cancels local work") func anotherThreadCancelsLocalWork() {
        for _ in 0..<300 {
            let context = ManualContext()
            LocalContext.run(on: context) { local in
                let resolver = LocalResolver<Int>(on: local)
                let shared = resolver.promise.map { $0 }.shared
                let outside = shared.map { $0 }
                let sent = DispatchSemaphore(value: 0)
                Thread {
                    outside.cancel()
                    sent.signal()
                }.start()
                resolver.fulfill(1)
                context.drain()
                sent.wait()
                context.drain()
                #expect(outside.value == 1 || outside.error is Cancelled)
            }
        }
    }
}
