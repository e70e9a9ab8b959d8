import Dispatch
import Foundation
import Promises
import Testing

/// F86 to F97: coalescing, waiting, contexts.
@Suite(.timeLimit(.minutes(5))) struct TimeAndContextRows {
    let context = ManualContext()

    @Test("F86: concurrent callers share one outcome; later ones start the work again")
    func concurrentCallersShareOneOutcome() {
        let coalescer = Coalescer<String, Int>()
        let starts = Journal<String>()
        let resolvers = Journal<SharedResolver<Int>>()
        func request(_ key: String) -> Promise<Int> {
            coalescer.value(for: key, on: context) { [context] in
                starts.add(key)
                let resolver = Resolver<Int>(on: context).shared()
                resolvers.add(resolver)
                return resolver.promise
            }
        }
        let (first, second, other) = (request("a"), request("a"), request("b"))
        #expect(starts.entries == ["a", "b"])
        resolvers.entries[0].fulfill(1)
        context.drain()
        #expect(first.value == 1 && second.value == 1 && other.isPending)
        #expect(coalescer.count == 1)
        let third = request("a")
        #expect(starts.entries == ["a", "b", "a"])
        resolvers.entries[1].reject(Failure("b"))
        resolvers.entries[2].fulfill(3)
        context.drain()
        #expect(other.error is Failure && third.value == 3)
        #expect(coalescer.count == 0)
    }

    @Test("F86: the last withdrawal stops the work, and the next caller starts it again")
    func theLastWithdrawalStopsCoalescedWork() {
        let coalescer = Coalescer<Int, Int>()
        let journal = Journal<String>()
        let resolvers = Journal<SharedResolver<Int>>()
        func request() -> Promise<Int> {
            coalescer.value(for: 1, on: context) { [context] in
                journal.add("start")
                let resolver = Resolver<Int>(on: context).shared()
                resolver.onCancel { _ in journal.add("stop") }
                resolvers.add(resolver)
                return resolver.promise
            }
        }
        let (first, second) = (request(), request())
        first.cancel()
        context.drain()
        #expect(first.error is Cancelled && second.isPending)
        second.cancel()
        let third = request()
        context.drain()
        #expect(journal.entries == ["start", "start", "stop"])
        #expect(third.isPending && coalescer.count == 1)
        resolvers.entries[1].fulfill(1)
        context.drain()
        #expect(third.value == 1)
    }

    @Test("F86: a throwing start rejects, and is removed") func aThrowingStartRejectsAndIsRemoved()
    {
        let coalescer = Coalescer<Int, Int>()
        let failed = coalescer.value(for: 1, on: context) { throw Failure("x") }
        let second = coalescer.value(for: 1, on: context) { [context] in .value(2, on: context) }
        context.drain()
        #expect(failed.error is Failure && second.value == 2 && coalescer.count == 0)
    }

    @Test("F86: a start that waits for its own key rejects") func aStartForTheSameKeyRejects() {
        let coalescer = Coalescer<Int, Int>()
        let outer = coalescer.value(for: 1, on: context) { [context] in
            coalescer.value(for: 1, on: context) { .value(5, on: context) }
        }
        context.drain()
        // The result would wait for itself.
        #expect(outer.error as? PromiseError == .resolvedWithItself)
    }

    @Test("F88: wait returns the value, throws the error, or times out")
    func waitReturnsThrowsOrTimesOut() {
        onAnotherThread { Self.waits() }
    }

    private static func waits() {
        let thread = ThreadContext()
        defer { thread.stop() }
        let slow = Resolver<Int>(on: thread).shared()
        #expect(throws: PromiseError.timedOut) {
            try slow.promise.wait(for: .milliseconds(1))
        }
        #expect(!slow.isCancelled)
        DispatchQueue.global().async { slow.fulfill(7) }
        #expect((try? slow.promise.map { $0 + 1 }.wait()) == 8)
        #expect(throws: Failure("x")) {
            try Promise<Int>.value(1, on: thread).map { _ -> Int in throw Failure("x") }
                .wait(for: .seconds(30))
        }
    }

    @Test("F88: wait throws on the promise's own context unless it is settled")
    func waitThrowsOnItsOwnContext() throws {
        let resolver = Resolver<Int>(on: context)
        let promise = resolver.promise
        #expect(throws: PromiseError.waitOnOwnContext) { try promise.wait() }
        resolver.fulfill(1)
        #expect(try promise.wait() == 1)
    }

    @Test("F88: several threads wait for one promise") func severalThreadsWait() {
        let thread = ThreadContext()
        defer { thread.stop() }
        let resolver = Resolver<Int>(on: thread).shared()
        let seen = Journal<Int>()
        let waiter: @Sendable () -> Void = {
            if let value = try? resolver.promise.wait(for: .seconds(30)) { seen.add(value) }
        }
        concurrently([waiter, waiter, waiter, { resolver.fulfill(9) }])
        #expect(seen.entries == [9, 9, 9])
    }

    @Test("F89 F91: each handler may run on another context")
    func eachHandlerMayRunOnAnotherContext() {
        let other = ManualContext()
        let journal = Journal<String>()
        let end = Promise.value(1, on: context)
            .map { journal.add("one \($0)") }
            .map(on: other) { journal.add("two") }
        context.drain()
        #expect(journal.entries == ["one 1"])
        other.drain()
        #expect(journal.entries == ["one 1", "two"])
        #expect(end.context === other)
    }

    @Test("F90: a dispatch queue is a context in a dozen lines") func aDispatchQueueIsAContext()
        throws
    {
        final class QueueContext: ExecutionContext {
            let queue = DispatchQueue(label: "context")
            let key = DispatchSpecificKey<Bool>()
            init() { queue.setSpecific(key: key, value: true) }
            var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
            func enqueue(_ job: consuming PromiseJob) {
                let box = JobBox(job)
                queue.async { box.run() }
            }
            func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
                SharedPool.shared.schedule(after: delay, job)
            }
        }
        let context = QueueContext()
        let seen = try Promise.value(1, on: context).map { _ in context.isCurrent }
            .wait(for: .seconds(30))
        #expect(seen)
    }

    @Test("F92: a chain that begins in a handler inherits its context")
    func aNewChainInAHandlerInheritsItsContext() {
        let context = context
        let checks = Journal<Bool>()
        let outer = Promise.value(1, on: context).map { _ in
            checks.add(Promise.value(2).context === context)
            checks.add(Resolver<Int>().promise.context === context)
            checks.add(after(.zero).promise.context === context)
            checks.add(firstly { throw Failure("x") as Failure }.ofInts.context === context)
            checks.add(Promise<Int>.error(Failure("x")).context === context)
        }
        context.drain()
        #expect(outer.value != nil)
        #expect(checks.entries == [true, true, true, true, true])
        #expect(Promise.value(1).context === SharedPool.shared)
    }

    @Test("F92: the current context is known on local contexts and in nested loops")
    func theCurrentContextIsKnownInNestedLoops() {
        let context = context
        LocalContext.run(on: context) { local in
            let seen = local.value(1).map { _ in Promise.value(1).context === context }
            context.drain()
            #expect(seen.value == true)
        }
        let inner = ManualContext()
        let nested = Promise.value(1, on: context).map { _ -> [Bool] in
            let deep = Promise.value(1, on: inner).map { _ in Promise.value(1).context === inner }
            inner.drain()
            return [deep.value ?? false, Promise.value(1).context === context]
        }
        context.drain()
        #expect(nested.value == [true, true])
    }

    @Test("F92: links inherit the context of the chain") func linksInheritTheContext() {
        let context = context
        let checks = Journal<Bool>()
        @Sendable func here<Value>(_ value: Value) -> Value {
            checks.add(context.isCurrent)
            return value
        }
        let thread = ThreadContext()
        defer { thread.stop() }
        let resolver = Resolver<Int>(on: context)
        let end = resolver.promise.map { here($0) }
            .then { Promise.value($0, on: thread).map { $0 } }
            .map { here($0) }.recover { .error(here($0)) }.ensure { _ = here(0) }
            .atLeast(.milliseconds(1)).map { here($0) }
        onAnotherThread { [resolver = resolver.shared()] in resolver.fulfill(1) }
        while end.isPending { context.advance(by: .milliseconds(1)) }
        #expect(checks.entries == [true, true, true, true])
    }

    @Test("F94: hop changes the context for the rest of the chain") func hopChangesTheContext() {
        let other = ManualContext()
        let end = Promise.value(1, on: context).hop(to: other).map { $0 }
        #expect(end.context === other)
        context.drain()
        #expect(end.isPending)
        other.drain()
        #expect(end.value == 1)
    }

    @Test("F96: no protocol of thenables: promise types are concrete")
    func promiseTypesAreConcrete() {
        let promise: Promise<Int> = .value(1, on: context).map { $0 }.recover { throw $0 }
        context.drain()
        #expect(promise.value == 1)
    }

    @Test("F97: jobs that another thread enqueued earlier run first")
    func jobsOfOtherThreadsRunFirst() {
        let journal = Journal<String>()
        let promise = Promise.value(1, on: context)
        onAnotherThread { promise.whenSettled { _ in journal.add("first") } }
        promise.whenSettled { _ in journal.add("second") }
        context.drain()
        #expect(journal.entries == ["first", "second"])
    }

    @Test("F97: a manual context runs jobs and time when called")
    func aManualContextRunsJobsAndTime() {
        let journal = Journal<Int>()
        for number in 1...3 {
            Promise.value(number, on: context).whenSettled { _ in journal.add(number) }
        }
        after(.seconds(2), on: context).done { journal.add(9) }
        #expect(context.runOnce())
        #expect(journal.entries == [1])
        context.drain()
        #expect(journal.entries == [1, 2, 3])
        context.advance(by: .seconds(2))
        #expect(journal.entries == [1, 2, 3, 9])
        #expect(!context.runOnce() && context.now == .seconds(2))
    }
}

extension Promise<Int> {
    fileprivate var ofInts: Promise<Int> { self }
}

/// A job that an escaping closure can capture.
final class JobBox: @unchecked Sendable {
    private var job: PromiseJob?
    init(_ job: consuming PromiseJob) { self.job = consume job }
    func run() { job.take()?.run() }
}
