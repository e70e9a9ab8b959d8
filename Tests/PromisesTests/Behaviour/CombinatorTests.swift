import Promises
import Synchronization
import Testing

/// Behaviours 25 to 37.
@Suite(.timeLimit(.minutes(5))) struct CombinatorTests {
    let context = ManualContext()

    private func pair(_ local: LocalContext) -> (LocalJournal<SettlingBox>, [LocalPromise<Int>]) {
        let resolvers = LocalJournal<SettlingBox>()
        let promises = (0..<3).map { _ in
            let boxes = SettlingBox(local)
            resolvers.add(boxes)
            return boxes.promise
        }
        return (resolvers, promises)
    }

    @Test("F64 (B25): all keeps the order of its inputs") func allKeepsInputOrder() {
        LocalContext.run(on: context) { local in
            let (boxes, promises) = pair(local)
            let all = local.all(promises)
            for index in [2, 1, 0] { boxes.entries[index].fulfill(index * 10) }
            context.drain()
            #expect(all.value == [0, 10, 20])
        }
    }

    @Test("F64, F65 (B26): all of no promises is empty") func allOfNoPromisesIsEmpty() {
        let list = all([Promise<Int>]())
        let dictionary = all([String: Promise<Int>]())
        let journal = Journal<String>()
        list.hop(to: context).whenSettled { _ in journal.add("later") }
        journal.add("attached")
        #expect(dictionary.value == [:])
        #expect(list.value == [])
        #expect(journal.entries.first == "attached")
    }

    @Test("F64, F80 (B27): all rejects with the first error and withdraws")
    func allRejectsWithTheFirstErrorAndWithdraws() {
        LocalContext.run(on: context) { local in
            let (boxes, promises) = pair(local)
            let all = local.all(promises)
            boxes.entries[1].reject(Failure("second"))
            context.drain()
            #expect(all.error as? Failure == Failure("second"))
            #expect(boxes.entries[0].isCancelled && boxes.entries[2].isCancelled)
        }
    }

    @Test("F66 (B28): all keeps six types") func allKeepsSixTypes() throws {
        try LocalContext.run(on: context) { local in
            let six = local.all(
                local.value(1), local.value("two"), local.value(3.0), local.value(Character("4")),
                local.value([5]), local.value(true))
            context.drain()
            let value: (Int, String, Double, Character, [Int], Bool) = try #require(six.value)
            #expect(value == (1, "two", 3.0, "4", [5], true))
            let failed = local.all(local.value(1), local.error(Failure("x"), as: String.self))
            context.drain()
            #expect(failed.error is Failure)
        }
    }

    @Test("F68, F69 (B29): any waits for the last input") func anyWaitsForTheLast() throws {
        try LocalContext.run(on: context) { local in
            let (boxes, promises) = pair(local)
            let any = local.any(["a": promises[0], "b": promises[1], "c": promises[2]])
            boxes.entries[0].fulfill(1)
            boxes.entries[1].reject(Failure("b"))
            context.drain()
            #expect(any.isPending)
            boxes.entries[2].fulfill(3)
            context.drain()
            let result = try #require(any.value)
            #expect(result.values == ["a": 1, "c": 3])
            #expect(result.reasons.mapValues { $0 as? Failure } == ["b": Failure("b")])
            #expect(!result.isComplete)
        }
    }

    @Test("F71 (B30): any rejects when all inputs are rejected") func anyRejectsWhenAllAreRejected()
        throws
    {
        let any = any([
            (key: "a", promise: Promise<Int>.error(Failure("a"), on: context)),
            (key: "b", promise: .error(Failure("b"), on: context)),
        ])
        context.drain()
        let errors = try #require(any.error as? ErrorDictionary<String>)
        #expect(
            errors.errors.mapValues { $0 as? Failure } == ["a": Failure("a"), "b": Failure("b")])
        #expect(errors.members.map(\.key) == ["a", "b"])
    }

    @Test("F68, F72, F73: any and race of no promises reject") func anyAndRaceOfNoPromisesReject() {
        LocalContext.run(on: context) { local in
            #expect(local.any([String: LocalPromise<Int>]()).error is ErrorDictionary<String>)
            #expect(
                (local.race([LocalPromise<Int>]()).error as? ErrorArray)?.errors.isEmpty == true)
            #expect(local.firstSettled([LocalPromise<Int>]()).error as? PromiseError == .badInput)
        }
    }

    @Test("F80: cancelling any withdraws from all inputs")
    func cancellingAnyWithdrawsFromAllInputs() {
        LocalContext.run(on: context) { local in
            let (boxes, promises) = pair(local)
            let any = local.any(promises.enumerated().map { (key: $0, promise: $1) })
            boxes.entries[0].fulfill(1)
            context.drain()
            any.cancel(because: Failure("client"))
            context.drain()
            #expect(boxes.entries[1].isCancelled && boxes.entries[2].isCancelled)
            #expect((any.error as? Cancelled)?.cause is Failure)
        }
    }

    @Test("F72 (B32, B33): race gives the first value") func raceGivesTheFirstValue() {
        LocalContext.run(on: context) { local in
            let (boxes, promises) = pair(local)
            let race = local.race(promises)
            boxes.entries[0].reject(Failure("first"))
            context.drain()
            #expect(race.isPending)
            boxes.entries[2].fulfill(2)
            context.drain()
            #expect(race.value == 2)
            #expect(boxes.entries[1].isCancelled)

            let (losingBoxes, losers) = pair(local)
            let lost = local.race(losers)
            for index in [2, 0, 1] { losingBoxes.entries[index].reject(Failure("\(index)")) }
            context.drain()
            #expect(
                (lost.error as? ErrorArray)?.errors.map { $0 as? Failure }
                    == [Failure("0"), Failure("1"), Failure("2")])
        }
    }

    @Test("F73 (B34): firstSettled may give an error") func firstSettledMayBeAnError() {
        LocalContext.run(on: context) { local in
            let (boxes, promises) = pair(local)
            let first = local.firstSettled(promises)
            boxes.entries[1].reject(Failure("x"))
            boxes.entries[0].fulfill(1)
            context.drain()
            #expect(first.error is Failure)
        }
    }

    @Test("F74 (B35): allSettled gives every outcome") func allSettledGivesEveryOutcome() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<String>()
            local.allSettled([local.value(1), local.error(Failure("x")), local.cancelled()])
                .done { results in
                    for result in results {
                        switch result {
                        case .success(let value): notes.add("\(value)")
                        case .failure(let error):
                            notes.add(error is Cancelled ? "cancelled" : "error")
                        }
                    }
                }.cauterize()
            local.allSettled([LocalPromise<Int>]()).done { notes.add("\($0)") }.cauterize()
            context.drain()
            #expect(notes.entries.sorted() == ["1", "[]", "cancelled", "error"])
        }
    }

    @Test("F74: allSettled keeps keys") func allSettledKeepsKeys() {
        let journal = Journal<String>()
        allSettled([
            (key: "a", promise: Promise.value(1, on: context)),
            (key: "b", promise: .error(Failure("x"), on: context)),
        ]).done { results in
            for result in results {
                journal.add("\(result.key) \((try? result.result.get()) ?? 0)")
            }
        }
        context.drain()
        #expect(journal.entries == ["a 1", "b 0"])
    }

    @Test("F75 (B36): at most four promises are pending")
    func allConcurrentlyLimitsPendingPromises() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<SettlingBox>()
            let all = local.all(0..<10, concurrently: 4) { index in
                let boxes = SettlingBox(local)
                notes.add(boxes)
                return boxes.promise.map { _ in index }
            }
            var next = 0
            while all.isPending {
                context.drain()
                #expect(notes.entries.count == min(10, next + 4))
                notes.entries[next].fulfill(0)
                next += 1
                context.drain()
            }
            #expect(all.value == Array(0..<10))
        }
    }

    @Test("F75 (B36): limits below one take no input", arguments: [0, -1])
    func limitsBelowOneTakeNoInput(
        limit: Int
    ) {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<Int>()
            let all = local.all([1], concurrently: limit) { value in
                notes.add(value)
                return local.value(value)
            }
            context.drain()
            #expect(all.error as? PromiseError == .badInput)
            #expect(notes.entries == [])
        }
    }

    @Test("F77 (B36, B37): sequence stops at an error") func sequenceStopsAtAnError() {
        LocalContext.run(on: context) { local in
            let notes = LocalJournal<Int>()
            let all = local.sequence(0..<10) { value in
                notes.add(value)
                return value == 3 ? local.error(Failure("x")) : local.value(value)
            }
            context.drain()
            #expect(all.error is Failure)
            #expect(notes.entries == [0, 1, 2, 3])
        }
    }

    @Test func racesWithAPendingPromiseFreeTheirNodes() {
        LocalContext.run(on: context) { local in
            let freed = Mutex(0)
            let resolver = LocalResolver<Int>(on: local)
            let pending = resolver.promise
            for _ in 0..<100_000 {
                let token = Token { freed.withLock { $0 += 1 } }
                let race = local.race([
                    pending.map { value in
                        _ = token
                        return value
                    }, local.value(1),
                ])
                context.drain()
                _ = race
                if !pending.isPending { break }
            }
            // The first race withdrew the last consumer, so the work itself was cancelled.
            #expect(pending.error is Cancelled)
            #expect(freed.withLock { $0 } == 1)
            _ = resolver.isCancelled
        }
        let races = ThreadSanitizer.shortened(100_000)
        LocalContext.run(on: context) { local in
            let freed = Mutex(0)
            let resolver = LocalResolver<Int>(on: local)
            let pending = resolver.promise
            let consumer = pending.map { $0 }
            for _ in 0..<races {
                let token = Token { freed.withLock { $0 += 1 } }
                let race = local.race([
                    pending.map { value in
                        _ = token
                        return value
                    }, local.value(1),
                ])
                context.drain()
                #expect(race.value == 1)
            }
            #expect(freed.withLock { $0 } == races)
            resolver.fulfill(1)
            context.drain()
            #expect(consumer.value == 1)
        }
    }
}

/// A resolver that can be stored in an array.
final class SettlingBox {
    private var resolver: LocalResolver<Int>?
    let promise: LocalPromise<Int>
    private(set) var isCancelled = false

    init(_ local: LocalContext) {
        let resolver = LocalResolver<Int>(on: local)
        promise = resolver.promise
        self.resolver = consume resolver
        promise.whenSettled { [weak self] result in
            if case .failure(let error) = result { self?.isCancelled = error is Cancelled }
        }
    }

    func fulfill(_ value: Int) { resolver.take()?.fulfill(value) }
    func reject(_ error: any Error) { resolver.take()?.reject(error) }
}
