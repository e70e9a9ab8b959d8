import Promises
import Synchronization
import Testing

/// On a core a member of `any` is its own seat: nothing is allocated for it. Nobody may see that.
@Suite(.timeLimit(.minutes(5))) struct OwnSeatTests {
    let context = ManualContext()

    private func resolvers(_ count: Int, _ local: LocalContext) -> [LocalBox] {
        (0..<count).map { _ in LocalBox(local) }
    }

    private func keyed(_ promises: [LocalPromise<Int>]) -> [(key: Int, promise: LocalPromise<Int>)]
    {
        promises.enumerated().map { (key: $0, promise: $1) }
    }

    private func keyed(_ settles: [LocalBox]) -> [(key: Int, promise: LocalPromise<Int>)] {
        keyed(settles.map(\.promise))
    }

    /// A member sits in one result only; the others wait for it as they wait for any promise.
    @Test func aMemberOfManyResultsReachesThemAll() {
        LocalContext.run(on: context) { local in
            let settles = resolvers(2, local)
            let results = (0..<4).map { _ in local.any(keyed(settles)) }
            let twice = local.any(keyed(settles + settles))
            settles[1].reject(Failure("b"))
            settles[0].fulfill(7)
            context.drain()
            for result in results { #expect(result.value?.values == [0: 7]) }
            #expect(twice.value?.values == [0: 7, 2: 7] && twice.value?.reasons.count == 2)
        }
    }

    @Test func membersMayHaveSettledBefore() {
        LocalContext.run(on: context) { local in
            let late = LocalBox(local)
            let any = local.any(keyed([local.value(1), late.promise, local.error(Failure("c"))]))
            context.drain()
            #expect(any.isPending)
            late.fulfill(2)
            context.drain()
            #expect(any.value?.values == [0: 1, 1: 2] && any.value?.reasons.count == 1)
        }
    }

    @Test func aMembersOwnHandlersSeeItsValueAndComeFirst() {
        LocalContext.run(on: context) { local in
            let notes = Notes<String>()
            let settle = LocalBox(local)
            let member = settle.promise.map { $0 + 1 }
            _ = member.done { notes.add("before \($0)") }
            _ = local.any(keyed([member])).done { notes.add("any \($0.values)") }
            _ = member.done { notes.add("after \($0)") }
            settle.fulfill(1)
            context.drain()
            #expect(notes.entries == ["before 2", "after 2", "any [0: 2]"])
        }
    }

    /// Some members settle in turns, some have settled before: who waited first for the one that fails
    /// is told first, though others complete the result in the same turns.
    @Test func whoeverWaitedForAMemberBeforeIsToldBefore() {
        LocalContext.run(on: context) { local in
            let notes = Notes<String>()
            func failed(_ name: String) -> LocalPromise<Int> { local.error(Failure(name)) }
            let member = failed("a").mapError { $0 }
            _ = local.all([member]).asVoid().mapError { error -> any Error in
                notes.add("all")
                return error
            }
            _ = local.any(keyed([member, failed("b"), failed("c")])).asVoid().mapError {
                error -> any Error in
                notes.add("any")
                return error
            }
            context.drain()
            #expect(notes.entries == ["all", "any"])
        }
    }

    /// Handlers attached to the result come one turn behind what decides it, as everywhere.
    @Test func theResultComesInATurnOfItsOwn() {
        LocalContext.run(on: context) { local in
            let settle = LocalBox(local)
            let any = local.any(keyed([settle]))
            settle.fulfill(1)
            #expect(any.isPending)
            context.drain()
            #expect(!any.isPending)
        }
    }

    @Test func aMemberThatSomebodyElseWantsIsNotCancelled() {
        LocalContext.run(on: context) { local in
            let settles = resolvers(3, local)
            let stays = settles[1].promise.map { $0 }
            let any = local.any(keyed(settles))
            any.cancel()
            context.drain()
            #expect(settles.map(\.isCancelled) == [true, false, true])
            settles[1].fulfill(5)
            context.drain()
            #expect(stays.value == 5 && any.error is Cancelled)
        }
    }

    @Test func resultsThatWereCancelledDoNotDisturbTheNext() {
        LocalContext.run(on: context) { local in
            let settle = LocalBox(local)
            let stays = settle.promise.map { $0 }
            for _ in 0..<100 {
                local.any(keyed([settle.promise])).cancel()
                context.drain()
            }
            let any = local.any(keyed([settle.promise]))
            settle.fulfill(3)
            context.drain()
            #expect(any.value?.values == [0: 3] && stays.value == 3)
        }
    }

    /// Decided, but its turn has not come: a cancellation is first, and nothing runs twice.
    @Test func aResultMayBeCancelledWhenAllHaveArrived() {
        LocalContext.run(on: context) { local in
            let settles = resolvers(2, local)
            let any = local.any(keyed(settles))
            let notes = Notes<String>()
            any.whenSettled { result in
                notes.add((try? result.get()) == nil ? "cancelled" : "value")
            }
            for settle in settles { settle.fulfill(1) }
            any.cancel()
            context.drain()
            #expect(notes.entries == ["cancelled"])
        }
    }

    @Test func aCancelledMemberCountsAsOneWithoutAValue() {
        LocalContext.run(on: context) { local in
            let settles = resolvers(2, local)
            let member = settles[0].promise.map { $0 }
            let any = local.any(keyed([member, settles[1].promise]))
            member.cancel()
            settles[1].fulfill(1)
            context.drain()
            #expect(any.value?.values == [1: 1])
            #expect(any.value?.reasons[0] is Cancelled)
        }
    }

    @Test func aRingThroughAResultIsFound() {
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

    @Test(arguments: End.allCases) func aLongLineOfResultsNeedsNoStack(_ end: End) {
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

    /// The keys live as long as anything knows the result.
    @Test func resultsThatAreCancelledLeaveNothingOnALongLivedMember() {
        let rounds = ThreadSanitizer.shortened(10_000)
        LocalContext.run(on: context) { local in
            let freed = Mutex(0)
            let forever = LocalBox(local)
            let stays = forever.promise.map { $0 }
            for _ in 0..<rounds {
                let key = Key(token: Token { freed.withLock { $0 += 1 } })
                local.any([(key: key, promise: forever.promise)]).cancel()
                context.drain()
            }
            #expect(freed.withLock { $0 } == rounds)
            forever.fulfill(1)
            context.drain()
            #expect(stays.value == 1)
        }
    }

    private struct Key: Hashable {
        let token: Token

        static func == (left: Key, right: Key) -> Bool { left.token === right.token }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(token)) }
    }
}
