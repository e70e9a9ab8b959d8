import Promises
import Synchronization
import Testing

/// `SharedResolver`: the first of several calls decides, whether it fulfils, rejects or follows.
@Suite(.timeLimit(.minutes(5))) struct SharedResolverTests {
    let context = ManualContext()

    @Test func settlesFromACallbacksPair() {
        func outcome(_ value: Int?, _ error: (any Error)?) -> PromiseState<Int> {
            let resolver = Resolver<Int>(on: context).shared()
            #expect(resolver.resolve(value, error))
            #expect(!resolver.resolve(9, nil))
            return resolver.promise.state
        }
        #expect("\(outcome(1, nil))" == "fulfilled: 1")
        #expect("\(outcome(1, Failure("x")))" == "rejected: \(Failure("x"))")
        #expect("\(outcome(nil, nil))" == "rejected: invalidCallingConvention")
    }

    @Test func followsAnotherPromise() {
        let resolver = Resolver<Int>(on: context).shared()
        let other = Resolver<Int>(on: context)
        #expect(resolver.follow(other.promise))
        #expect(resolver.promise.isPending)
        other.fulfill(7)
        context.drain()
        #expect(resolver.promise.value == 7)
    }

    @Test func callsAfterFollowChangeNothing() {
        let resolver = Resolver<Int>(on: context).shared()
        let other = Resolver<Int>(on: context)
        resolver.follow(other.promise)
        #expect(!resolver.fulfill(1))
        #expect(!resolver.reject(Failure("x")))
        #expect(!resolver.resolve(2, nil))
        #expect(!resolver.follow(.value(3)))
        #expect(resolver.promise.isPending)
        other.fulfill(7)
        context.drain()
        #expect(resolver.promise.value == 7)
    }

    @Test func followAfterASettlementChangesNothing() {
        let resolver = Resolver<Int>(on: context).shared()
        let other = Resolver<Int>(on: context).shared()
        #expect(resolver.fulfill(1))
        #expect(!resolver.follow(other.promise))
        #expect(resolver.promise.value == 1)
        // The other promise has no new consumer, so its only consumer decides.
        let consumer = other.promise.map { $0 }
        consumer.cancel()
        #expect(other.isCancelled)
    }

    @Test func cancellationWithdrawsFromTheFollowedPromise() {
        let resolver = Resolver<Int>(on: context).shared()
        let other = Resolver<Int>(on: context).shared()
        let causes = Journal<String>()
        resolver.onCancel { _ in causes.add("first") }
        resolver.follow(other.promise)
        resolver.onCancel { _ in causes.add("second") }
        resolver.promise.cancel()
        context.drain()
        #expect(other.isCancelled)
        #expect(causes.entries == [])
    }

    /// `follow` drops the closure; the deinitialisers of its captures may use the resolver.
    @Test func aDroppedCancellationClosureMayUseTheResolver() {
        let resolver = Resolver<Int>(on: context).shared()
        let other = Resolver<Int>(on: context)
        let freed = Journal<Int>()
        let token = Token { [weak resolver] in
            resolver?.onCancel { _ in }
            freed.add(1)
        }
        resolver.onCancel { [token] _ in withExtendedLifetime(token) {} }
        _ = consume token
        resolver.follow(other.promise)
        #expect(freed.entries == [1])
        other.fulfill(2)
        context.drain()
        #expect(resolver.promise.value == 2)
    }

    @Test func droppingAFollowingResolverDoesNotAbandonItsPromise() {
        let other = Resolver<Int>(on: context)
        var resolver: SharedResolver<Int>? = Resolver<Int>(on: context).shared()
        let promise = resolver?.promise
        resolver?.follow(other.promise)
        resolver = nil
        #expect(promise?.isPending == true)
        other.fulfill(4)
        context.drain()
        #expect(promise?.value == 4)
    }

    @Test func aPromiseThatWouldFollowItselfIsRejected() {
        let resolver = Resolver<Int>(on: context).shared()
        resolver.follow(resolver.promise.map { $0 })
        #expect(resolver.promise.error as? PromiseError == .resolvedWithItself)
    }

    /// One thread follows, one fulfils, one sets `onCancel` and one cancels: there is one outcome,
    /// and cancelling after following withdraws from the followed promise.
    @Test(arguments: [false, true])
    func settlingFromSeveralThreadsDecidesOnce(cancels: Bool) async throws {
        for _ in 0..<300 {
            let resolver = Resolver<Int>().shared()
            let other = Resolver<Int>().shared()
            let wins = Atomic(0)
            var bodies: [@Sendable () -> Void] = [
                { if resolver.follow(other.promise) { wins.add(1, ordering: .relaxed) } },
                { if resolver.fulfill(1) { wins.add(1, ordering: .relaxed) } },
                { resolver.onCancel { _ in } },
            ]
            if cancels { bodies.append { resolver.promise.cancel() } }
            concurrently(bodies)
            other.fulfill(1)
            let outcome = await resolver.promise.settled.get()
            if !cancels {
                #expect(wins.load(ordering: .relaxed) == 1)
                #expect(try outcome.get() == 1)
            } else if case .failure(let error) = outcome {
                #expect(error is Cancelled)
            }
        }
    }
}

/// The short forms for promises without a value.
@Suite(.timeLimit(.minutes(5))) struct VoidTests {
    let context = ManualContext()

    @Test func resolversFulfilWithoutAnArgument() {
        let first = Resolver<Void>(on: context)
        let second = Resolver<Void>(on: context).shared()
        let third = GuaranteeResolver<Void>(on: context)
        let (one, two, three) = (first.promise, second.promise, third.guarantee)
        first.fulfill()
        #expect(second.fulfill())
        #expect(!second.fulfill())
        third.fulfill()
        let notes = Journal<Int>()
        one.done { notes.add(1) }.cauterize()
        two.done { notes.add(2) }.cauterize()
        three.done { notes.add(3) }
        context.drain()
        #expect(notes.entries == [1, 2, 3])
    }

    @Test func localResolversFulfilWithoutAnArgument() {
        let context = context
        let count = LocalContext.run(on: context) { local in
            let first = LocalResolver<Void>(on: local)
            let notes = LocalJournal<Int>()
            first.promise.done { notes.add(1) }.cauterize()
            local.value().done { notes.add(3) }.cauterize()
            first.fulfill()
            context.drain()
            return notes.entries.count
        }
        #expect(count == 2)
    }

    @Test func promisesAndGuaranteesAreFulfilledAtOnce() {
        let notes = Journal<Int>()
        Promise.value(on: context).done { notes.add(1) }.cauterize()
        Guarantee.value(on: context).done { notes.add(2) }
        context.drain()
        #expect(notes.entries == [1, 2])
    }
}
