import Promises
import Testing

/// 2.1 A promise is pending, fulfilled or rejected. F3, F20.
@Suite(.timeLimit(.minutes(5))) struct Clause2_1Tests {
    @Test(arguments: Way.allCases) func fulfilledIsFinal(way: Way) {
        let context = ManualContext()
        let resolver = Resolver<Int>(on: context).shared()
        #expect(resolver.promise.isPending)
        #expect(resolver.fulfill(1))
        #expect(!resolver.fulfill(2))
        #expect(!resolver.reject(Failure("late")))
        #expect(resolver.promise.value == 1)
        way.settle(.success(1)) { promise, _ in
            promise.whenSettled { #expect((try? $0.get()) == 1) }
        }
    }

    @Test func rejectedIsFinalAndKeepsItsReason() {
        let reason = Reason()
        let resolver = Resolver<Int>(on: ManualContext()).shared()
        #expect(resolver.reject(reason))
        #expect(!resolver.fulfill(2))
        #expect(resolver.promise.error as? Reason === reason)
        #expect(resolver.promise.value == nil)
    }

    @Test func referenceValuesKeepTheirIdentity() {
        let token = Token()
        let context = ManualContext()
        let end = Promise.value(token, on: context).map { $0 }.recover { _ in .never() }
        context.drain()
        #expect(end.value === token)
    }
}
