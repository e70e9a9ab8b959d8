import Promises
import Testing

@Suite struct SmokeTests {
    let context = ManualContext()

    @Test func localHandlersRunInTheirOwnTurns() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<String>()
            let resolver = LocalResolver<Int>(on: local)
            let end = resolver.promise.map { $0 + 1 }.then { local.value("\($0)") }
                .map { text in
                    notes.add(text)
                    return text.count
                }
            resolver.fulfill(41)
            #expect(notes.entries == [])
            context.drain()
            #expect(notes.entries == ["42"])
            #expect(end.value == 2)
        }
    }

    @Test func failureOperatorsRunInOrder() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<String>()
            local.error(Failure("a"), as: Int.self)
                .mapError { _ in Failure("b") }
                .onFailure { notes.add("\(($0 as? Failure)?.name ?? "?")") }
                .ensure { notes.add("ensure") }
                .recover { _ in local.value(7) }
                .done { notes.add("\($0)") }
                .catch { _ in notes.add("never") }
                .done { notes.add("end") }.cauterize()
            context.drain()
            #expect(notes.entries == ["b", "ensure", "7", "end"])
        }
    }

    @Test func anyOfThreeKeepsOrderAndReasons() throws {
        try LocalContext.run(on: context) { local in
            let first = LocalResolver<Int>(on: local)
            let third = LocalResolver<Int>(on: local)
            let any = local.any([
                (key: 0, promise: first.promise),
                (key: 1, promise: local.error(Failure("one"))),
                (key: 2, promise: third.promise),
            ])
            third.fulfill(30)
            context.drain()
            #expect(any.isPending)
            first.fulfill(10)
            context.drain()
            let result = try #require(any.value)
            #expect(try result.requiredValue(for: 0) == 10)
            #expect(throws: Failure("one")) { try result.requiredValue(for: 1) }
            #expect(throws: PromiseError.unknownKey) { try result.requiredValue(for: 9) }
            #expect(result.values == [0: 10, 2: 30])
            #expect(result.reasons.keys.sorted() == [1])
        }
    }

    @Test func allAndRaceSettle() {
        LocalContext.run(on: context) { local in
            let all = local.all([local.value(1), local.value(2)])
            let race = local.race([local.never(), local.error(Failure("x")), local.value(3)])
            context.drain()
            #expect(all.value == [1, 2])
            #expect(race.value == 3)
        }
    }

    @Test func timeoutCancelsUpstreamAndItsTimer() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<String>()
            let slow = LocalResolver<Int>(on: local)
            slow.onCancel { _ in notes.add("stopped") }
            let late = slow.promise.timeout(.seconds(2))
            let early = local.value(1).timeout(.seconds(2))
            context.drain()
            #expect(context.liveTimers == 1)
            context.advance(by: .seconds(2))
            #expect(late.error as? PromiseError == .timedOut)
            #expect(early.value == 1)
            #expect(notes.entries == ["stopped"])
            let isCancelled = slow.isCancelled
            #expect(isCancelled)
            #expect(context.liveTimers == 0)
        }
    }

    @Test(arguments: [true, false]) func atLeastHoldsValues(holdingFailures: Bool) {
        LocalContext.run(on: context) { local in
            let value = local.value(1).atLeast(.milliseconds(50), holdingFailures: holdingFailures)
            let error = local.error(Failure("e"), as: Int.self)
                .atLeast(.milliseconds(50), holdingFailures: holdingFailures)
            context.advance(by: .milliseconds(49))
            #expect(value.isPending)
            #expect(error.isPending == holdingFailures)
            context.advance(by: .milliseconds(1))
            #expect(value.value == 1)
            #expect(error.error is Failure)
            #expect(context.liveTimers == 0)
        }
    }

    @Test func cancelledLeafStopsItsRoot() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<String>()
            let root = LocalResolver<Int>(on: local)
            root.onCancel { notes.add("stopped \($0 is Failure)") }
            let leaf = root.promise.map { $0 }.map { $0 }
            leaf.cancel(because: Failure("why"))
            context.drain()
            #expect(notes.entries == ["stopped true"])
            #expect(leaf.error is Cancelled)
        }
    }

    @Test func droppedResolverRejects() {
        LocalContext.run(on: context) { local in
            var resolver: LocalResolver<Int>? = LocalResolver(on: local)
            let promise = resolver?.promise.map { $0 }
            resolver = nil
            context.drain()
            #expect(promise?.error as? PromiseError == .abandoned)
        }
    }

    @Test func cancellingASharedPromiseCancelsTheLocalWork() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<String>()
            let root = LocalResolver<Int>(on: local)
            root.onCancel { _ in notes.add("stopped") }
            let shared = root.promise.shared
            let back = shared.on(local).map { $0 + 1 }
            back.cancel()
            context.drain()
            #expect(notes.entries == ["stopped"])
            #expect(shared.error is Cancelled)
        }
    }
}
