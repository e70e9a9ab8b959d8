import Promises
import Synchronization
import Testing

/// A local input of `any` is its own input slot: nothing is allocated for it. This must not change
/// its behaviour.
@Suite(.timeLimit(.minutes(5))) struct OwnInputSlotTests {
    let context = ManualContext()

    private func resolvers(_ count: Int, _ local: LocalContext) -> [LocalResolverBox] {
        (0..<count).map { _ in LocalResolverBox(local) }
    }

    private func keyed(_ promises: [LocalPromise<Int>]) -> [(key: Int, promise: LocalPromise<Int>)]
    {
        promises.enumerated().map { (key: $0, promise: $1) }
    }

    private func keyed(_ boxes: [LocalResolverBox]) -> [(key: Int, promise: LocalPromise<Int>)] {
        keyed(boxes.map(\.promise))
    }

    /// A promise is the input slot of one result only; other results wait for it as for any
    /// promise.
    @Test func anInputOfSeveralResultsReachesThemAll() {
        LocalContext.run(on: context) { local in
            let boxes = resolvers(2, local)
            let results = (0..<4).map { _ in local.any(keyed(boxes)) }
            let twice = local.any(keyed(boxes + boxes))
            boxes[1].reject(Failure("b"))
            boxes[0].fulfill(7)
            context.drain()
            for result in results { #expect(result.value?.values == [0: 7]) }
            #expect(twice.value?.values == [0: 7, 2: 7] && twice.value?.reasons.count == 2)
        }
    }

    @Test func inputsMayBeSettledBefore() {
        LocalContext.run(on: context) { local in
            let late = LocalResolverBox(local)
            let any = local.any(keyed([local.value(1), late.promise, local.error(Failure("c"))]))
            context.drain()
            #expect(any.isPending)
            late.fulfill(2)
            context.drain()
            #expect(any.value?.values == [0: 1, 1: 2] && any.value?.reasons.count == 1)
        }
    }

    @Test func handlersOfAnInputRunBeforeTheResult() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<String>()
            let box = LocalResolverBox(local)
            let input = box.promise.map { $0 + 1 }
            _ = input.done { notes.add("before \($0)") }
            _ = local.any(keyed([input])).done { notes.add("any \($0.values)") }
            _ = input.done { notes.add("after \($0)") }
            box.fulfill(1)
            context.drain()
            #expect(notes.entries == ["before 2", "after 2", "any [0: 2]"])
        }
    }

    /// Some inputs settle in turns, some have settled before: the result that waited first for the
    /// failing input is settled first, though others complete in the same turns.
    @Test func resultsAreSettledInTheOrderInWhichTheyWereMade() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<String>()
            func failed(_ name: String) -> LocalPromise<Int> { local.error(Failure(name)) }
            let input = failed("a").mapError { $0 }
            _ = local.all([input]).asVoid().mapError { error -> any Error in
                notes.add("all")
                return error
            }
            _ = local.any(keyed([input, failed("b"), failed("c")])).asVoid().mapError {
                error -> any Error in
                notes.add("any")
                return error
            }
            context.drain()
            #expect(notes.entries == ["all", "any"])
        }
    }

    /// Handlers of the result run one turn after the input that decides it, as with all
    /// combinators.
    @Test func theResultIsSettledInItsOwnTurn() {
        LocalContext.run(on: context) { local in
            let box = LocalResolverBox(local)
            let any = local.any(keyed([box]))
            box.fulfill(1)
            #expect(any.isPending)
            context.drain()
            #expect(!any.isPending)
        }
    }

    @Test func anInputWithAnotherConsumerIsNotCancelled() {
        LocalContext.run(on: context) { local in
            let boxes = resolvers(3, local)
            let consumer = boxes[1].promise.map { $0 }
            let any = local.any(keyed(boxes))
            any.cancel()
            context.drain()
            #expect(boxes.map(\.isCancelled) == [true, false, true])
            boxes[1].fulfill(5)
            context.drain()
            #expect(consumer.value == 5 && any.error is Cancelled)
        }
    }

    @Test func cancelledResultsDoNotAffectLaterOnes() {
        LocalContext.run(on: context) { local in
            let box = LocalResolverBox(local)
            let consumer = box.promise.map { $0 }
            for _ in 0..<100 {
                local.any(keyed([box.promise])).cancel()
                context.drain()
            }
            let any = local.any(keyed([box.promise]))
            box.fulfill(3)
            context.drain()
            #expect(any.value?.values == [0: 3] && consumer.value == 3)
        }
    }

    /// The result is decided, but its turn has not come: the cancellation wins, and nothing runs
    /// twice.
    @Test func aResultMayBeCancelledAfterItsLastInputSettled() {
        LocalContext.run(on: context) { local in
            let boxes = resolvers(2, local)
            let any = local.any(keyed(boxes))
            let notes = LocalJournal<String>()
            any.whenSettled { result in
                notes.add((try? result.get()) == nil ? "cancelled" : "value")
            }
            for box in boxes { box.fulfill(1) }
            any.cancel()
            context.drain()
            #expect(notes.entries == ["cancelled"])
        }
    }

    @Test func aCancelledInputCountsAsRejected() {
        LocalContext.run(on: context) { local in
            let boxes = resolvers(2, local)
            let input = boxes[0].promise.map { $0 }
            let any = local.any(keyed([input, boxes[1].promise]))
            input.cancel()
            boxes[1].fulfill(1)
            context.drain()
            #expect(any.value?.values == [1: 1])
            #expect(any.value?.reasons[0] is Cancelled)
        }
    }

    @Test func aCycleThroughAResultIsDetected() {
        LocalContext.run(on: context) { local in
            let resolver = LocalResolver<Int>(on: local)
            let any = local.any(keyed([resolver.promise]))
            resolver.follow(any.map { $0.count })
            context.drain()
            #expect(
                (any.error as? ErrorDictionary<Int>)?.errors[0] as? PromiseError
                    == .resolvedWithItself)
        }
    }

    enum End: CaseIterable { case settled, cancelledFromTheEnd }

    @Test(arguments: End.allCases) func aLongChainOfResultsNeedsNoStack(_ end: End) {
        onAnotherThread(stackBytes: 512 * 1024) {
            let context = ManualContext()
            LocalContext.run(on: context) { local in
                let resolver = LocalResolver<Int>(on: local)
                var last = resolver.promise
                for _ in 0..<ThreadSanitizer.shortened(100_000) {
                    last = local.any([(key: 0, promise: last)]).map { try $0.requiredValue(for: 0) }
                }
                switch end {
                case .settled: resolver.fulfill(4)
                case .cancelledFromTheEnd:
                    last.cancel()
                    context.drain()
                    let isCancelled = resolver.isCancelled
                    #expect(isCancelled)
                }
                context.drain()
                switch end {
                case .settled: #expect(last.value == 4)
                case .cancelledFromTheEnd: #expect(last.error is Cancelled)
                }
            }
        }
    }

    /// The keys live as long as the result is referenced.
    @Test func cancelledResultsFreeTheirNodesOnALongLivedInput() {
        let rounds = ThreadSanitizer.shortened(10_000)
        LocalContext.run(on: context) { local in
            let freed = Mutex(0)
            let longLived = LocalResolverBox(local)
            let consumer = longLived.promise.map { $0 }
            for _ in 0..<rounds {
                let key = Key(token: Token { freed.withLock { $0 += 1 } })
                local.any([(key: key, promise: longLived.promise)]).cancel()
                context.drain()
            }
            #expect(freed.withLock { $0 } == rounds)
            longLived.fulfill(1)
            context.drain()
            #expect(consumer.value == 1)
        }
    }

    private struct Key: Hashable {
        let token: Token

        static func == (left: Key, right: Key) -> Bool { left.token === right.token }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(token)) }
    }
}
