import Promises
import Synchronization
import Testing

/// On a core a member of `any` is its own seat: nothing is allocated for it. Nobody may see that.
@Suite(.timeLimit(.minutes(5))) struct OwnSeatTests {
    let context = ManualContext()

    private func resolvers(_ count: Int, _ core: Core) -> [LocalBox] {
        (0..<count).map { _ in LocalBox(core) }
    }

    private func keyed(_ promises: [Local<Int>]) -> [(key: Int, promise: Local<Int>)] {
        promises.enumerated().map { (key: $0, promise: $1) }
    }

    private func keyed(_ settles: [LocalBox]) -> [(key: Int, promise: Local<Int>)] {
        keyed(settles.map(\.promise))
    }

    /// A member sits in one result only; the others wait for it as they wait for any promise.
    @Test func aMemberOfManyResultsReachesThemAll() {
        Core.run(on: context) { core in
            let settles = resolvers(2, core)
            let results = (0..<4).map { _ in core.any(keyed(settles)) }
            let twice = core.any(keyed(settles + settles))
            settles[1].reject(Failure("b"))
            settles[0].fulfill(7)
            context.drain()
            for result in results { #expect(result.value?.values == [0: 7]) }
            #expect(twice.value?.values == [0: 7, 2: 7] && twice.value?.reasons.count == 2)
        }
    }

    @Test func membersMayHaveSettledBefore() {
        Core.run(on: context) { core in
            let late = LocalBox(core)
            let any = core.any(keyed([core.value(1), late.promise, core.error(Failure("c"))]))
            context.drain()
            #expect(any.isPending)
            late.fulfill(2)
            context.drain()
            #expect(any.value?.values == [0: 1, 1: 2] && any.value?.reasons.count == 1)
        }
    }

    @Test func aMembersOwnHandlersSeeItsValueAndComeFirst() {
        Core.run(on: context) { core in
            let notes = Notes<String>()
            let settle = LocalBox(core)
            let member = settle.promise.map { $0 + 1 }
            _ = member.done { notes.add("before \($0)") }
            _ = core.any(keyed([member])).done { notes.add("any \($0.values)") }
            _ = member.done { notes.add("after \($0)") }
            settle.fulfill(1)
            context.drain()
            #expect(notes.entries == ["before 2", "after 2", "any [0: 2]"])
        }
    }

    /// Some members settle in turns, some have settled before: who waited first for the one that fails
    /// is told first, though others complete the result in the same turns.
    @Test func whoeverWaitedForAMemberBeforeIsToldBefore() {
        Core.run(on: context) { core in
            let notes = Notes<String>()
            func failed(_ name: String) -> Local<Int> { core.error(Failure(name)) }
            let member = failed("a").mapError { $0 }
            _ = core.all([member]).asVoid().mapError { error -> any Error in
                notes.add("all")
                return error
            }
            _ = core.any(keyed([member, failed("b"), failed("c")])).asVoid().mapError {
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
        Core.run(on: context) { core in
            let settle = LocalBox(core)
            let any = core.any(keyed([settle]))
            settle.fulfill(1)
            #expect(any.isPending)
            context.drain()
            #expect(!any.isPending)
        }
    }

    @Test func aMemberThatSomebodyElseWantsIsNotCancelled() {
        Core.run(on: context) { core in
            let settles = resolvers(3, core)
            let stays = settles[1].promise.map { $0 }
            let any = core.any(keyed(settles))
            any.cancel()
            context.drain()
            #expect(settles.map(\.isCancelled) == [true, false, true])
            settles[1].fulfill(5)
            context.drain()
            #expect(stays.value == 5 && any.error is Cancelled)
        }
    }

    @Test func resultsThatWereCancelledDoNotDisturbTheNext() {
        Core.run(on: context) { core in
            let settle = LocalBox(core)
            let stays = settle.promise.map { $0 }
            for _ in 0..<100 {
                core.any(keyed([settle.promise])).cancel()
                context.drain()
            }
            let any = core.any(keyed([settle.promise]))
            settle.fulfill(3)
            context.drain()
            #expect(any.value?.values == [0: 3] && stays.value == 3)
        }
    }

    /// Decided, but its turn has not come: a cancellation is first, and nothing runs twice.
    @Test func aResultMayBeCancelledWhenAllHaveArrived() {
        Core.run(on: context) { core in
            let settles = resolvers(2, core)
            let any = core.any(keyed(settles))
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
        Core.run(on: context) { core in
            let settles = resolvers(2, core)
            let member = settles[0].promise.map { $0 }
            let any = core.any(keyed([member, settles[1].promise]))
            member.cancel()
            settles[1].fulfill(1)
            context.drain()
            #expect(any.value?.values == [1: 1])
            #expect(any.value?.reasons[0] is Cancelled)
        }
    }

    @Test func aRingThroughAResultIsFound() {
        Core.run(on: context) { core in
            let resolver = LocalResolver<Int>(on: core)
            let any = core.any(keyed([resolver.promise]))
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
            Core.run(on: context) { core in
                let resolver = LocalResolver<Int>(on: core)
                var last = resolver.promise
                for _ in 0..<ThreadSanitizer.shortened(100_000) {
                    last = core.any([(key: 0, promise: last)]).map { try $0.requiredValue(for: 0) }
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
        Core.run(on: context) { core in
            let freed = Mutex(0)
            let forever = LocalBox(core)
            let stays = forever.promise.map { $0 }
            for _ in 0..<rounds {
                let key = Key(token: Token { freed.withLock { $0 += 1 } })
                core.any([(key: key, promise: forever.promise)]).cancel()
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
