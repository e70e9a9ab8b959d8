import Dispatch
import Promises
import Testing

/// F13 to F29: creating and settling.
@Suite(.timeLimit(.minutes(5))) struct CreatingRows {
    let context = ManualContext()

    @Test("F13: the work runs before the initialiser returns, and a throw rejects")
    func workRunsBeforeTheInitialiserReturns() {
        let journal = Journal<String>()
        let promise = Promise<Int>(on: context) { resolver in
            journal.add("work")
            resolver.fulfill(1)
        }
        journal.add("made")
        #expect(journal.entries == ["work", "made"])
        #expect(promise.value == 1)
        let thrown = Promise<Int>(on: context) { _ in throw Failure("x") }
        #expect(thrown.error is Failure)
    }

    @Test("F14 F23: work on a context runs later, on that context, and a throw rejects")
    func workRunsLaterOnItsContext() {
        let journal = Journal<String>()
        let good = Promise(on: context) { [context] () -> Int in
            journal.add("work \(context.isCurrent)")
            return 1
        }
        let bad = Promise<Int>(on: context) { throw Failure("x") }
        journal.add("made")
        #expect(good.isPending)
        context.drain()
        #expect(journal.entries == ["made", "work true"])
        #expect(good.value == 1)
        #expect(bad.error is Failure)
    }

    @Test("F15: a pending promise and its resolver") func aResolverSettlesItsPromise() {
        let resolver = Resolver<Int>(on: context)
        let promise = resolver.promise
        #expect(promise.isPending)
        resolver.reject(Failure("x"))
        #expect(promise.error is Failure)
    }

    @Test("F16 F17: already fulfilled, already rejected") func settledPromisesHaveTheirOutcome() {
        #expect(Promise.value(1).value == 1)
        #expect(Promise.value(()).value != nil)
        #expect(Promise<Int>.error(Failure("x")).error as? Failure == Failure("x"))
    }

    @Test("F19: following copies the outcome", arguments: [true, false])
    func followingCopiesTheOutcome(isGood: Bool) {
        let source = Resolver<Int>(on: context)
        let follower = Resolver<Int>(on: context)
        let promise = follower.promise
        follower.follow(source.promise)
        #expect(promise.isPending)
        if isGood { source.fulfill(1) } else { source.reject(Failure("x")) }
        context.drain()
        #expect(isGood ? promise.value == 1 : promise.error is Failure)
    }

    @Test("F19: following a settled promise, and being cancelled while following")
    func followingASettledPromiseAndCancelling() {
        let early = Resolver<Int>(on: context)
        let promise = early.promise
        early.follow(.value(4, on: context))
        context.drain()
        #expect(promise.value == 4)

        let journal = Journal<String>()
        let source = Resolver<Int>(on: context)
        source.onCancel { _ in journal.add("stopped") }
        let late = Resolver<Int>(on: context)
        let leaf = late.promise.map { $0 }
        late.follow(source.promise)
        leaf.cancel()
        context.drain()
        #expect(journal.entries == ["stopped"])
        _ = source.isCancelled
    }

    @Test("F25: a callback settles the promise") func aCallbackSettlesThePromise() {
        func fetch(_ completion: @escaping @Sendable (Int?, (any Error)?) -> Void) {
            onAnotherThread { completion(5, nil) }
        }
        func fetched() -> Promise<Int> {
            Promise(on: context) { resolver in
                fetch { value, error in
                    if let error { resolver.reject(error) } else { resolver.fulfill(value ?? 0) }
                }
            }
        }
        #expect(fetched().value == 5)
    }

    @Test("F26 F27: an object settles from its method, once")
    func anObjectSettlesOnceFromItsMethod() {
        final class Dialog {
            private var resolver: LocalResolver<String>?
            let answer: LocalPromise<String>
            init(_ local: LocalContext) {
                let resolver = LocalResolver<String>(on: local)
                answer = resolver.promise
                self.resolver = consume resolver
            }
            func didChoose(_ text: String) { resolver.take()?.fulfill(text) }
        }
        LocalContext.run(on: context) { local in
            let dialog = Dialog(local)
            dialog.didChoose("yes")
            dialog.didChoose("no")
            #expect(dialog.answer.value == "yes")
        }
    }

    @Test("F28: an early exit is a settled promise", arguments: [nil, "cached"])
    func anEarlyExitIsASettledPromise(cached: String?) {
        func load() -> Promise<String> {
            if let cached { return .value(cached, on: context) }
            return .error(Failure("missing"), on: context)
        }
        #expect(load().value == cached)
    }

    @Test("F28a: a framework's call becomes a promise in a few lines")
    func aFrameworkCallBecomesAPromise() {
        let queue = DispatchQueue(label: "adapter")
        func dispatched<Value: Sendable>(
            _ body: @escaping @Sendable () throws -> Value
        ) -> Promise<Value> {
            let resolver = Resolver<Value>(on: context).shared()
            queue.async { resolver.resolve(Result { try body() }) }
            return resolver.promise
        }
        let promise = dispatched { 6 * 7 }
        queue.sync {}
        #expect(promise.value == 42)
    }

    @Test("F29: a promise is chained, not wrapped, and cancellation reaches the work")
    func cancellationReachesTheWorkThroughALink() {
        let journal = Journal<String>()
        let inner = Resolver<Int>(on: context)
        inner.onCancel { _ in journal.add("stopped") }
        let source = inner.promise
        func wrapped() -> Promise<Int> { source.map { $0 + 1 } }
        wrapped().cancel()
        context.drain()
        #expect(journal.entries == ["stopped"])
        _ = inner.isCancelled
    }
}
