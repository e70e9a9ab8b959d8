import Promises
import Testing

/// The write side of a `Guarantee`, and its conversions to other contexts and to promises.
@Suite struct GuaranteeTests {
    let context = ManualContext()

    @Test func aResolverFulfilsItsGuarantee() {
        let resolver = GuaranteeResolver<Int>(on: context)
        let guarantee = resolver.guarantee
        let seen = Journal<Int>()
        guarantee.done { seen.add($0) }
        context.drain()
        #expect(seen.entries == [])
        resolver.fulfill(5)
        context.drain()
        #expect(seen.entries == [5])
    }

    @Test func droppingTheResolverAbandonsTheGuaranteesPromise() {
        func make() -> Guarantee<Int> { GuaranteeResolver<Int>(on: context).guarantee }
        let guarantee = make()
        let seen = Journal<Int>()
        guarantee.done { seen.add($0) }
        let promise = guarantee.promise
        context.drain()
        #expect(seen.entries == [])
        #expect(promise.error as? PromiseError == .abandoned)
    }

    @Test func theFirstCallOfASharedResolverFulfils() {
        let resolver = GuaranteeResolver<Int>(on: context).shared()
        let seen = Journal<Int>()
        resolver.guarantee.done { seen.add($0) }
        onAnotherThread { #expect(resolver.fulfill(1)) }
        #expect(!resolver.fulfill(2))
        context.drain()
        #expect(seen.entries == [1])
        let signal = GuaranteeResolver<Void>(on: context).shared()
        signal.guarantee.done { seen.add(3) }
        #expect(signal.fulfill())
        context.drain()
        #expect(seen.entries == [1, 3])
    }

    @Test func droppingTheLastSharedResolverAbandonsTheGuaranteesPromise() {
        func make() -> Guarantee<Int> { GuaranteeResolver<Int>(on: context).shared().guarantee }
        let promise = make().promise
        context.drain()
        #expect(promise.error as? PromiseError == .abandoned)
    }

    @Test("then of a promise continues with a guarantee, which a cancellation does not reach")
    func aPromiseContinuesWithAGuarantee() {
        let context = context
        let resolver = GuaranteeResolver<Int>(on: context)
        let guarantee = resolver.guarantee
        let seen = Journal<Int>()
        guarantee.done { seen.add($0) }
        let source = Promise.value(1, on: context)
        let waiting = source.then { _ in guarantee }
        let value: Promise<Int> = source.then { value in
            let next = value + 1
            return Guarantee.value(next, on: context)
        }
        let thrown = source.then { _ -> Guarantee<Int> in throw Failure("x") }
        let failed = thrown.then { _ in guarantee }
        context.drain()
        #expect(waiting.isPending)
        waiting.cancel()
        resolver.fulfill(7)
        context.drain()
        #expect(waiting.error is Cancelled)
        #expect(seen.entries == [7])
        #expect(value.value == 2)
        #expect(thrown.error as? Failure == Failure("x"))
        #expect(failed.error as? Failure == Failure("x"))
    }

    @Test func hopRunsHandlersOnTheOtherContext() {
        let other = ManualContext()
        let seen = Journal<Int>()
        let hopped = Guarantee.value(3, on: context).hop(to: other)
        hopped.done { seen.add($0) }
        context.drain()
        #expect(seen.entries == [])
        other.drain()
        #expect(seen.entries == [3])
    }

    @Test func thenContinuesWithAPromise() {
        let context = context
        let guarantee = Guarantee.value(2, on: context)
        let doubled: Promise<Int> = guarantee.then { Promise.value($0 * 2, on: context) }
        let failed = guarantee.then { value in
            let error = Failure("\(value)")
            return Promise<String>.error(error, on: context)
        }
        let thrown = guarantee.then { _ -> Promise<Int> in throw Failure("thrown") }
        let sure: Guarantee<Int> = guarantee.then { Guarantee.value($0 + 1, on: context) }
        let seen = Journal<Int>()
        sure.done { seen.add($0) }
        context.drain()
        #expect(doubled.value == 4)
        #expect(failed.error as? Failure == Failure("2"))
        #expect(thrown.error as? Failure == Failure("thrown"))
        #expect(seen.entries == [3])
    }

    @Test func cancellationDoesNotReachAGuarantee() {
        let context = context
        let resolver = GuaranteeResolver<Int>(on: context)
        let guarantee = resolver.guarantee
        let seen = Journal<String>()
        let next = guarantee.then { _ in
            seen.add("then")
            return Promise.value(1, on: context)
        }
        guarantee.done { seen.add("\($0)") }
        next.cancel()
        resolver.fulfill(8)
        context.drain()
        #expect(seen.entries == ["8"])
        #expect(next.error is Cancelled)
    }
}
