import Dispatch
import Promises
import Synchronization
import Testing

/// F124: promises in `async` code and `async` code in promises, cancellation in both directions.
@Suite(.timeLimit(.minutes(5))) struct AsyncTests {
    let thread = ThreadContext()

    @Test("F124: get returns the value or throws the error") func getReturnsTheValueOrThrows()
        async throws
    {
        #expect(try await Promise.value(1).map { $0 + 1 }.get() == 2)
        await #expect(throws: Failure("x")) {
            try await Promise<Int>.error(Failure("x")).get()
        }
        #expect(await Guarantee.value(3).map { $0 + 1 }.get() == 4)
    }

    @Test("F124: async work fulfils with its value or rejects with its error")
    func awaitingSettlesWithTheOutcomeOfTheWork() async {
        let value = Promise {
            await Task.yield()
            return 5
        }
        let error = Promise<Int> { () async throws -> Int in
            await Task.yield()
            throw Failure("x")
        }
        #expect(await value.settled.get().success == 5)
        #expect(await error.settled.get().failure as? Failure == Failure("x"))
    }

    @Test("F124: cancelling the task withdraws one consumer; others keep waiting")
    func cancellingATaskWithdrawsOneConsumer()
        async throws
    {
        let resolver = Resolver<Int>().shared()
        let other = resolver.promise.map { $0 }
        let task = Task { try await resolver.promise.get() }
        // The cancellation may come before the task waits, or while it waits.
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!resolver.isCancelled)
        resolver.fulfill(1)
        #expect(try await other.get() == 1)
    }

    @Test(
        "F124: a cancelled task resumes although the promise's context runs nothing",
        arguments: [true, false])
    func aCancelledTaskResumesWithoutThePromisesContext(isCancelledFirst: Bool) async {
        let context = ManualContext()
        let resolver = Resolver<Int>(on: context).shared()
        let other = resolver.promise.map { $0 }
        let task = Task {
            if isCancelledFirst { withUnsafeCurrentTask { $0?.cancel() } }
            return try await resolver.promise.get()
        }
        task.cancel()
        do {
            _ = try await task.value
            Issue.record("the task was cancelled")
        } catch is CancellationError {
            // The error that `async` code expects of a cancelled task.
        } catch {
            Issue.record("\(error)")
        }
        // Later outcomes have no task to resume.
        context.claim()
        context.drain()
        resolver.fulfill(1)
        context.drain()
        #expect(other.value == 1)
    }

    @Test("F124: a promise that another consumer cancelled throws Cancelled, with its cause")
    func aPromiseCancelledByAnotherConsumerThrowsCancelled() async {
        let promise = Promise<Int>.never()
        let task = Task { try await promise.get() }
        promise.cancel(because: Failure("why"))
        let error = await #expect(throws: Cancelled.self) { try await task.value }
        #expect(error?.cause as? Failure == Failure("why"))
    }

    @Test("F124: cancellation and outcome at the same time resume the task once")
    func cancellingWhileSettlingResumesOnce() async {
        for number in 0..<500 {
            let resolver = Resolver<Int>().shared()
            let task = Task { try await resolver.promise.get() }
            let canceller = Task { task.cancel() }
            resolver.fulfill(number)
            await canceller.value
            switch await task.result {
            case .success(let value): #expect(value == number)
            case .failure(let error): #expect(error is CancellationError)
            }
        }
    }

    @Test("F124: cancelling the promise cancels the task") func cancellingThePromiseCancelsTheTask()
        async
    {
        let stopped = AsyncStream<Bool>.makeStream()
        let started = AsyncStream<Void>.makeStream()
        let promise = Promise<Int>(awaiting: {
            started.continuation.yield()
            try? await Task.sleep(for: .seconds(600))
            stopped.continuation.yield(Task.isCancelled)
            return 1
        })
        for await _ in started.stream { break }
        promise.cancel()
        #expect(promise.error is Cancelled)
        for await isCancelled in stopped.stream {
            #expect(isCancelled)
            break
        }
    }

    @Test("F124: a task that throws CancellationError cancels the promise")
    func aTaskThatThrowsCancellationCancelsThePromise() async {
        let promise = Promise<Int>(awaiting: { throw CancellationError() })
        let error = await promise.settled.get().failure
        #expect((error as? Cancelled)?.cause is CancellationError)
    }

    @Test("F124: cancellation passes through tasks and promises to the innermost work")
    func cancellationPassesThroughTasksAndPromises() async {
        let stopped = AsyncStream<Void>.makeStream()
        let inner = Resolver<Int>().shared()
        inner.onCancel { _ in stopped.continuation.yield() }
        let middle = Promise<Int>(awaiting: { try await inner.promise.map { $0 + 1 }.get() })
        let task = Task { try await middle.map { $0 + 1 }.get() }
        task.cancel()
        for await _ in stopped.stream { break }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("F14 F124: with a context, async work stays on it") func asyncWorkStaysOnItsContext()
        async throws
    {
        let thread = thread
        let checks = try await Promise(on: thread) { () async throws -> [Bool] in
            var checks = [thread.isCurrent]
            await Task.yield()
            checks.append(thread.isCurrent)
            _ = try await Promise.value(1).map { $0 }.get()
            checks.append(thread.isCurrent)
            // A promise that is made here gets this context.
            checks.append(Promise.value(1).context === thread)
            return checks
        }.get()
        #expect(checks == [true, true, true, true])
        thread.stop()
    }

    @Test("F124: async work runs when a manual context runs its jobs")
    func asyncWorkRunsWhenAManualContextRunsIt() {
        let context = ManualContext()
        let journal = Journal<String>()
        LocalContext.run(on: context) { local in
            let end = local.awaiting {
                journal.add("begins \(context.isCurrent)")
                await after(.seconds(1), on: context).get()
                journal.add("ends \(context.isCurrent)")
                return 7
            }
            #expect(journal.entries == [])
            context.drain()
            #expect(journal.entries == ["begins true"])
            #expect(end.isPending)
            context.advance(by: .seconds(1))
            #expect(journal.entries == ["begins true", "ends true"])
            #expect(end.value == 7)
        }
    }

    @Test("F124: an actor on a context") func anActorRunsOnItsContext() async {
        actor Counter {
            private let executor: ContextExecutor
            private let context: any ExecutionContext
            private var count = 0

            init(_ context: any ExecutionContext) {
                self.context = context
                executor = ContextExecutor(context)
            }

            nonisolated var unownedExecutor: UnownedSerialExecutor {
                executor.asUnownedSerialExecutor()
            }

            func add() -> Bool {
                count += 1
                return context.isCurrent
            }

            nonisolated func addFromItsContext() -> Int {
                assumeIsolated {
                    $0.count += 1
                    return $0.count
                }
            }
        }
        let thread = thread
        let counter = Counter(thread)
        #expect(await counter.add())
        let count = try? await Promise.value(1, on: thread)
            .map { _ in counter.addFromItsContext() }.get()
        #expect(count == 2)
        thread.stop()
    }
}
