import Promises
import Testing

/// F1 to F12: types, states, inspection.
@Suite struct StateRows {
    let context = ManualContext()

    @Test("F1: only the resolver settles a promise") func onlyTheResolverSettles() {
        let resolver = Resolver<Int>(on: context)
        let promise: Promise<Int> = resolver.promise
        resolver.fulfill(1)
        #expect(promise.value == 1)
    }

    @Test("F2: write side and read side are separate objects") func writeAndReadSideAreSeparate() {
        final class Producer {
            private var resolver: LocalResolver<Int>?
            init(_ local: LocalContext) { resolver = LocalResolver(on: local) }
            var promise: LocalPromise<Int>? { resolver?.promise }
            func finish() { resolver.take()?.fulfill(3) }
        }
        LocalContext.run(on: context) { local in
            let producer = Producer(local)
            let promise = producer.promise
            producer.finish()
            #expect(promise?.value == 3)
        }
    }

    @Test("F3 F8: the three states are read without blocking") func stateIsReadWithoutBlocking() {
        let resolver = Resolver<Int>(on: context)
        let promise = resolver.promise
        #expect(promise.isPending && promise.value == nil && promise.error == nil)
        resolver.fulfill(1)
        #expect(!promise.isPending && promise.value == 1 && promise.error == nil)
        let failed = Promise<Int>.error(Failure("x"), on: context)
        #expect(!failed.isPending && failed.value == nil && failed.error is Failure)
    }

    @Test("F4 F18: a cancellation is a rejection with its own state")
    func cancelledIsAStateOfItsOwn() {
        let promise = Promise<Int>.cancelled(because: Failure("why"), on: context)
        guard case .cancelled(let cause) = promise.state else {
            Issue.record("\(promise.state)")
            return
        }
        #expect(cause is Failure)
        #expect(promise.error is Cancelled)
    }

    @Test("F5: a cancellation keeps its cause, a rejection stays a rejection")
    func aCancellationKeepsItsCause() {
        let leaf = Promise<Int>.cancelled(because: Failure("why"), on: context).map { $0 }
        let rejected = Promise<Int>.error(Failure("x"), on: context).map { $0 }
        context.drain()
        #expect((leaf.error as? Cancelled)?.cause as? Failure == Failure("why"))
        #expect(rejected.error as? Failure == Failure("x"))
    }

    @Test("F6: a guarantee has values only") func aGuaranteeHasValuesOnly() {
        let journal = Journal<Int>()
        let ten = Guarantee<Int>(on: context) { fulfill in
            fulfill(10)
            fulfill(11)
        }
        ten.map { $0 + 1 }.then { [context] in Guarantee.value($0 * 2, on: context) }
            .done { journal.add($0) }
        let end = ten.promise.then { Promise.value($0) }
        context.drain()
        #expect(journal.entries == [22])
        #expect(end.value == 10)
    }

    @Test("F6: an abandoned guarantee runs no handler, and its promise rejects")
    func anAbandonedGuaranteeRunsNoHandler() {
        let journal = Journal<Int>()
        let broken = Guarantee<Int>(on: context) { _ in }
        broken.done { journal.add($0) }
        let joined = broken.promise
        context.drain()
        #expect(journal.entries == [])
        #expect(joined.error as? PromiseError == .abandoned)
    }

    @Test("F7: a handler may continue with a value or with a promise", arguments: [1, 2])
    func aHandlerContinuesWithAValueOrAPromise(number: Int) {
        let next = Promise.value(number, on: context).then(
            fulfilled: { [context] number -> Promise<String> in
                number == 1 ? .value("value") : .value("promise", on: context).map { $0 }
            },
            rejected: { throw $0 })
        context.drain()
        #expect(next.value == (number == 1 ? "value" : "promise"))
    }

    @Test("F9: debugDescription states type and state") func debugDescriptionStatesTheState() {
        let resolver = Resolver<Int>(on: context)
        let promise = resolver.promise
        #expect("\(promise.debugDescription)" == "Promise<Int>(pending)")
        resolver.fulfill(1)
        #expect(promise.debugDescription == "Promise<Int>(fulfilled: 1)")
        LocalContext.run(on: context) { local in
            let failed = local.error(Failure("x"), as: Int.self)
            #expect(failed.debugDescription.hasPrefix("LocalPromise<Int>(rejected: "))
            #expect(local.value(2).debugDescription == "LocalPromise<Int>(fulfilled: 2)")
        }
        #expect(Guarantee.value(1).debugDescription == "Guarantee<Int>(fulfilled: 1)")
        #expect(
            Promise<Int>.cancelled(on: context).debugDescription == "Promise<Int>(cancelled)")
    }

    @Test("F10: any value is an error once it is wrapped") func anyValueIsAnErrorOnceWrapped() {
        struct RejectionReason: Error { let value: any Sendable }
        let promise = Promise<Int>.error(RejectionReason(value: "a string"), on: context)
        #expect((promise.error as? RejectionReason)?.value as? String == "a string")
    }

    @Test("F11: handlers receive a Result, which has no pending case", arguments: [true, false])
    func handlersReceiveAResult(isGood: Bool) {
        let journal = Journal<String>()
        let source: Promise<Int> =
            isGood ? .value(1, on: context) : .error(Failure("x"), on: context)
        source.whenSettled { result in
            switch result {
            case .success(let value): journal.add("\(value)")
            case .failure: journal.add("failure")
            }
        }
        context.drain()
        #expect(journal.entries == [isGood ? "1" : "failure"])
    }

    @Test("F12: the same outcome without its type") func outcomesWithoutTheirType() {
        let source = Promise.value(7, on: context)
        let void = source.asVoid()
        let any = source.map { $0 as any Sendable }
        context.drain()
        #expect(void.value != nil)
        #expect(any.value as? Int == 7)
    }
}
