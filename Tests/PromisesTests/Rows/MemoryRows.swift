import Promises
import Testing

/// F98 to F111: memory and cancellation.
@Suite struct MemoryRows {
    let context = ManualContext()

    @Test("F97 F98: a scope ties work to an owner", arguments: [true, false])
    func aScopeTiesWorkToItsOwner(isKept: Bool) {
        let stopped = Journal<Int>()
        let resolver = Resolver<Int>(on: context).shared()
        resolver.onCancel { _ in stopped.add(1) }
        let scope = PromiseScope(resolver.promise.map { $0 })
        if isKept { _ = scope.keep() } else { _ = consume scope }
        context.drain()
        #expect(stopped.entries == (isKept ? [] : [1]))
    }

    @Test("F99 F100: an unreferenced chain runs to its end") func anUnreferencedChainRunsToItsEnd()
    {
        let journal = Journal<Int>()
        let resolver = Resolver<Int>(on: context)
        resolver.promise.map { $0 + 1 }.done { journal.add($0) }.cauterize()
        resolver.fulfill(1)
        context.drain()
        #expect(journal.entries == [2])
    }

    @Test("F101: isCancelled reports whether consumers are left")
    func isCancelledReportsWhetherConsumersAreLeft() {
        let resolver = Resolver<Int>(on: context)
        var promise: Promise<Int>? = resolver.promise.map { $0 }
        let before = resolver.isCancelled
        promise?.cancel()
        promise = nil
        let after = resolver.isCancelled
        #expect(!before && after)
    }

    @Test("F102: the promise is rejected first, then the closure runs once")
    func onCancelRunsOnceAfterTheRejection() {
        let journal = Journal<String>()
        let resolver = Resolver<Int>(on: context).shared()
        let promise = resolver.promise
        resolver.onCancel { _ in journal.add("closure, pending \(promise.isPending)") }
        promise.cancel()
        promise.cancel()
        context.drain()
        #expect(journal.entries == ["closure, pending false"])
    }

    @Test("F103: cancelled from the write side") func theWriteSideMayCancel() {
        let resolver = Resolver<Int>(on: context)
        let child = resolver.promise.map { $0 }
        resolver.reject(Cancelled(because: Failure("why")))
        context.drain()
        guard case .cancelled(let cause) = child.state else {
            Issue.record("\(child.state)")
            return
        }
        #expect(cause is Failure)
    }

    @Test("F104: Swift's own CancellationError counts as a cancellation")
    func swiftsCancellationErrorIsACancellation() {
        let context = context
        let journal = Journal<Int>()
        let end = Promise<Int>.error(CancellationError(), on: context)
            .recover { _ in .value(1, on: context) }
        end.catch { _ in journal.add(1) }
        context.drain()
        #expect((end.error as? Cancelled)?.cause is CancellationError)
        #expect(journal.entries == [])
    }

    @Test("F105: a late success of cancelled work is ignored, and not an error")
    func aLateValueOfCancelledWorkIsIgnored() {
        let resolver = Resolver<Int>(on: context).shared()
        let promise = resolver.promise
        promise.cancel()
        #expect(!resolver.fulfill(1))
        #expect(promise.error is Cancelled)
    }

    @Test("F106: promises, work and pools are cancellable")
    func promisesWorkAndPoolsAreCancellable() {
        let resolver = Resolver<Int>(on: context).shared()
        let work = Doubling()
        let pool = CancellationPool()
        let cancellables: [any Cancellable] = [resolver.promise, work, pool]
        for recorder in cancellables { recorder.cancel(because: Failure("stop")) }
        #expect((resolver.promise.error as? Cancelled)?.cause is Failure)
        #expect(work.state == .cancelled)
        let late = Promise<Int>.never(on: context).cancelling(with: pool)
        #expect(late.error is Cancelled)
    }

    @Test("F107: a pool keeps neither promises nor other objects alive")
    func aPoolKeepsNothingAlive() {
        final class Recorder: Cancellable, Sendable {
            let journal: Journal<String>
            init(_ journal: Journal<String>) { self.journal = journal }
            func cancel(because cause: (any Error)?) { journal.add("cancelled") }
            deinit { journal.add("freed") }
        }
        let journal = Journal<String>()
        let pool = CancellationPool()
        do { pool.add(Recorder(journal)) }
        #expect(journal.entries == ["freed"])
        let recorder = Recorder(journal)
        pool.add(recorder)
        pool.drain()
        pool.add(recorder)
        #expect(journal.entries == ["freed", "cancelled", "cancelled"])
    }

    @Test("F107: a cancellation may add to the pool") func cancellingMayAddToThePool() {
        let pool = CancellationPool()
        let journal = Journal<String>()
        let resolver = Resolver<Int>(on: InlineContext.shared).shared()
        resolver.onCancel { [context] _ in
            let late = Promise<Int>.never(on: context).cancelling(with: pool)
            journal.add(late.isPending ? "pending" : "cancelled")
        }
        _ = resolver.promise.cancelling(with: pool)
        pool.drain()
        #expect(journal.entries == ["cancelled"])
    }

    @Test("F108: a pool is used inside a chain") func cancellingWithAPoolInAChain() {
        let pool = CancellationPool()
        let resolver = Resolver<Int>(on: context).shared()
        let end = resolver.promise.map { $0 }.cancelling(with: pool).map { $0 }
        pool.drain(because: Failure("shutdown"))
        context.drain()
        #expect(end.error is Cancelled && resolver.isCancelled)
    }

    @Test("F109: onCancel stops the task when the chain is cancelled")
    func onCancelStopsTheTask() {
        let stopped = Journal<Int>()
        let leaf = Promise<Int>(on: context) { resolver in
            resolver.onCancel { _ in stopped.add(1) }
            // The callback that would settle the promise holds the resolver.
            after(.seconds(10), on: context).done { resolver.fulfill(1) }
        }.map { $0 }
        leaf.cancel()
        context.drain()
        #expect(stopped.entries == [1])
    }

    @Test("F111: a stored promise and its handler's owner are a cycle until it is settled")
    func aStoredPromiseAndItsOwnerAreACycleUntilSettled() {
        final class Owner {
            var promise: LocalPromise<Int>?
            let token: Token
            init(_ token: Token) { self.token = token }
        }
        LocalContext.run(on: context) { local in
            let freed = Journal<Int>()
            let resolver = LocalResolver<Int>(on: local)
            do {
                let owner = Owner(Token { freed.add(1) })
                owner.promise = resolver.promise.map { value in
                    _ = owner.token
                    return value
                }
            }
            #expect(freed.entries == [])
            resolver.fulfill(1)
            context.drain()
            #expect(freed.entries == [1])
        }
    }
}
