import Promises
import Synchronization
import Testing

/// Behaviours 44 to 52.
@Suite(.timeLimit(.minutes(5))) struct CancellationTests {
    let context = ManualContext()

    @Test("F105, F109 (B44): cancelling a leaf stops its root once")
    func cancellingALeafStopsItsRootOnce() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<String>()
            let root = LocalResolver<Int>(on: local)
            root.onCancel { notes.add("stopped, \(($0 as? Failure)?.name ?? "no cause")") }
            let leaf = root.promise.map { $0 }.then { local.value($0) }.map { $0 }
            leaf.cancel(because: Failure("client"))
            leaf.cancel(because: Failure("again"))
            context.drain()
            #expect(notes.entries == ["stopped, client"])
            guard case .cancelled(let cause) = leaf.state else {
                Issue.record("not cancelled")
                return
            }
            #expect(cause as? Failure == Failure("client"))
        }
    }

    @Test("F105: cancelling reaches the adopted promise") func cancelReachesTheAdoptedPromise() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<String>()
            let inner = LocalResolver<Int>(on: local)
            inner.onCancel { _ in notes.add("inner stopped") }
            let adopted = inner.promise
            let leaf = local.value(0).then { _ in adopted }.map { $0 }
            context.drain()
            leaf.cancel()
            context.drain()
            #expect(notes.entries == ["inner stopped"])
        }
    }

    @Test("F98 (B45): work goes on while one consumer is left")
    func workGoesOnWhileOneConsumerIsLeft() {
        LocalContext.run(on: context) { local in
            let root = LocalResolver<Int>(on: local)
            let source = root.promise
            let first = source.map { $0 }
            let second = source.map { $0 + 1 }
            first.cancel()
            context.drain()
            #expect(source.isPending)
            root.fulfill(1)
            context.drain()
            #expect(first.error is Cancelled)
            #expect(second.value == 2)
        }
    }

    @Test("F98 (B46): work stops when the last consumer withdraws")
    func workStopsWhenTheLastConsumerWithdraws() {
        LocalContext.run(on: context) { local in
            let root = LocalResolver<Int>(on: local)
            let source = root.promise
            let first = source.map { $0 }
            let second = source.map { $0 }
            first.cancel()
            second.cancel()
            #expect(source.error is Cancelled)
            let isCancelled = root.isCancelled
            #expect(isCancelled)
        }
    }

    @Test("B47: cancelling a settled promise does nothing")
    func cancellingASettledPromiseDoesNothing() {
        let promise = Promise.value(1, on: context)
        promise.cancel()
        #expect(promise.value == 1)
    }

    @Test("F102: onCancel after cancelling runs in a turn of its own")
    func onCancelAfterCancellingRunsInItsOwnTurn() {
        let journal = Journal<String>()
        let resolver = Resolver<Int>(on: context)
        resolver.promise.cancel()
        resolver.onCancel { _ in journal.add("late") }
        resolver.onCancel { _ in journal.add("later") }
        #expect(journal.entries == [])
        context.drain()
        #expect(journal.entries == ["late", "later"])
    }

    @Test("F102: several onCancel closures run in order") func severalOnCancelClosuresRunInOrder() {
        let journal = Journal<Int>()
        let resolver = Resolver<Int>(on: context)
        resolver.onCancel { _ in journal.add(1) }
        resolver.onCancel { _ in journal.add(2) }
        resolver.promise.cancel()
        context.drain()
        #expect(journal.entries == [1, 2])
        resolver.fulfill(1)
    }

    @Test("`follow` drops all closures of `onCancel`")
    func followDropsTheOnCancelClosures() {
        let journal = Journal<Int>()
        let other = Resolver<Int>(on: context).shared()
        let resolver = Resolver<Int>(on: context).shared()
        weak var weakToken: Token?
        do {
            let token = Token()
            weakToken = token
            for number in 0..<3 {
                resolver.onCancel { [token] _ in
                    _ = token
                    journal.add(number)
                }
            }
        }
        #expect(weakToken != nil)
        resolver.follow(other.promise)
        #expect(weakToken == nil)
        resolver.promise.cancel()
        context.drain()
        #expect(journal.entries == [])
        #expect(other.isCancelled)
    }

    @Test("a resolver that follows another promise knows that its promise was cancelled")
    func isCancelledAfterFollow() {
        let other = Resolver<Int>(on: context).shared()
        let resolver = Resolver<Int>(on: context).shared()
        resolver.follow(other.promise)
        #expect(!resolver.isCancelled)
        resolver.promise.cancel()
        #expect(resolver.isCancelled)
        #expect(other.isCancelled)

        // The promise that it follows is cancelled, and not its own.
        let stopped = Resolver<Int>(on: context).shared()
        let follower = Resolver<Int>(on: context).shared()
        follower.follow(stopped.promise.shielded())
        stopped.reject(Cancelled())
        context.drain()
        #expect(follower.promise.error is Cancelled)
        #expect(!follower.isCancelled)
    }

    @Test("`follow` withdraws from the other promise if the own one was cancelled before")
    func followAfterACancellationWithdraws() {
        let first = Resolver<Int>(on: context).shared()
        let shared = Resolver<Int>(on: context).shared()
        shared.promise.cancel()
        #expect(!shared.follow(first.promise))
        #expect(first.isCancelled)

        let second = Resolver<Int>(on: context).shared()
        let reader = second.promise.map { $0 }
        let resolver = Resolver<Int>(on: context)
        resolver.promise.cancel()
        resolver.follow(second.promise)
        #expect(!second.isCancelled, "another consumer needs it")
        reader.cancel()
        #expect(second.isCancelled)

        LocalContext.run(on: context) { local in
            let third = LocalResolverBox(local)
            let resolver = LocalResolverBox(local)
            resolver.promise.cancel()
            resolver.follow(third.promise)
            #expect(third.isCancelled)
        }
    }

    @Test("a second `follow` does not withdraw from its promise")
    func aSecondFollowDoesNotWithdraw() {
        let (first, second) = (
            Resolver<Int>(on: context).shared(), Resolver<Int>(on: context).shared()
        )
        let resolver = Resolver<Int>(on: context).shared()
        resolver.follow(first.promise)
        resolver.promise.cancel()
        #expect(!resolver.follow(second.promise))
        #expect(!second.isCancelled)
    }

    @Test func settlingFreesTheOnCancelClosure() {
        let freed = Journal<Int>()
        let resolver = Resolver<Int>(on: context)
        let promise = resolver.promise
        let token = Token { freed.add(1) }
        resolver.onCancel { [token] _ in _ = token }
        withExtendedLifetime(token) {}
        resolver.fulfill(1)
        #expect(promise.value == 1)
    }

    @Test func shieldedKeepsCancellationFromTheWork() {
        LocalContext.run(on: context) { local in
            let root = LocalResolver<Int>(on: local)
            let source = root.promise
            let shield = source.shielded()
            shield.map { $0 }.cancel()
            context.drain()
            #expect(source.isPending)
            #expect(shield.error is Cancelled)
            root.fulfill(1)
            context.drain()
            #expect(source.value == 1)
        }
    }

    @Test("F107 (B48): a pool cancels its promises") func poolCancelsItsPromises() {
        let pool = CancellationPool()
        let resolver = Resolver<Int>(on: context)
        let promise = resolver.promise.cancelling(with: pool)
        for _ in 0..<100 { _ = Promise.value(1, on: context).cancelling(with: pool) }
        pool.drain(because: Failure("shutdown"))
        #expect((promise.error as? Cancelled)?.cause is Failure)
        let late = Promise<Int>.never(on: context).cancelling(with: pool)
        #expect(late.error is Cancelled)
        _ = resolver.isCancelled
    }

    @Test("F107: a pool drained by another thread cancels on the local context")
    func poolDrainedByAnotherThreadCancelsOnTheLocalContext() {
        let pool = CancellationPool()
        LocalContext.run(on: context) { local in
            let resolver = LocalResolver<Int>(on: local)
            let promise = resolver.promise.cancelling(with: pool)
            onAnotherThread { pool.drain() }
            #expect(promise.isPending)
            context.drain()
            #expect(promise.error is Cancelled)
            _ = resolver.isCancelled
        }
    }

    @Test("F100 (B49): an unreferenced chain runs") func anUnreferencedChainRuns() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<Int>()
            let resolver = LocalResolver<Int>(on: local)
            resolver.promise.map { $0 + 1 }.then { local.value($0) }
                .done { notes.add($0) }.cauterize()
            resolver.fulfill(1)
            context.drain()
            #expect(notes.entries == [2])
        }
    }

    @Test("F98 (B50): dropping a scope cancels its promise", arguments: [true, false])
    func droppingAScopeCancelsItsPromise(keeps: Bool) {
        let resolver = Resolver<Int>(on: context)
        let promise = resolver.promise.map { $0 }
        let scope = PromiseScope(promise)
        if keeps { _ = scope.keep() } else { _ = consume scope }
        #expect(promise.isPending == keeps)
        _ = resolver.isCancelled
    }

    @Test("F22 (B51): a dropped resolver rejects") func droppedResolverRejects() {
        let journal = Journal<String>()
        do {
            let resolver = Resolver<Int>(on: context)
            resolver.promise.catch { journal.add("\($0)") }
        }
        context.drain()
        #expect(journal.entries == ["abandoned"])
        let shared = Promise<Int>(on: context) { _ in }
        #expect(shared.error as? PromiseError == .abandoned)
    }

    @Test("F110 (B52): captures are freed after settling") func capturesAreFreedAfterSettling() {
        LocalContext.run(on: context) { local in
            weak var weakToken: Token?
            let resolver = LocalResolver<Int>(on: local)
            let promise = resolver.promise
            let child: LocalPromise<Int>
            do {
                let token = Token()
                weakToken = token
                child = promise.map { [token] value in
                    _ = token
                    return value
                }
            }
            #expect(weakToken != nil)
            resolver.fulfill(1)
            context.drain()
            #expect(weakToken == nil)
            #expect(promise.value == 1)
            #expect(child.value == 1)
        }
    }

    @Test("F110: captures are freed by cancelling") func capturesAreFreedByCancelling() {
        LocalContext.run(on: context) { local in
            weak var weakToken: Token?
            let resolver = LocalResolver<Int>(on: local)
            let source = resolver.promise
            let stays = source.map { $0 }
            do {
                let token = Token()
                weakToken = token
                source.map { [token] value in
                    _ = token
                    return value
                }.cancel()
            }
            #expect(weakToken == nil)
            #expect(stays.isPending)
            _ = resolver.isCancelled
        }
    }

    @Test("F124: get withdraws when its task is cancelled")
    func getWithdrawsWhenItsTaskIsCancelled() async throws {
        let resolver = Resolver<Int>()
        let promise = resolver.promise
        let task = Task { try await promise.get() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(promise.error is Cancelled)
        resolver.fulfill(1)
        let value = try await Promise.value(3).map { $0 + 1 }.get()
        #expect(value == 4)
        let soon = await after(.milliseconds(1)).map { 5 }.get()
        #expect(soon == 5)
    }
}
