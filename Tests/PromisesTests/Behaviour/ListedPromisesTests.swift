import Promises
import Testing

/// Combinators of listed promises, tuples that grow, and results made of known outcomes.
@Suite struct ListedPromisesTests {
    let context = ManualContext()

    @Test func raceTakesListedPromises() {
        let slow = Resolver<Int>(on: context).shared()
        let winner = race(slow.promise, .error(Failure("x"), on: context), .value(3, on: context))
        context.drain()
        #expect(winner.value == 3)
        #expect(slow.isCancelled)
    }

    @Test func firstSettledTakesListedPromises() {
        let slow = Resolver<Int>(on: context).shared()
        let first = firstSettled(slow.promise, .error(Failure("x"), on: context))
        context.drain()
        #expect(first.error as? Failure == Failure("x"))
        #expect(slow.isCancelled)
    }

    @Test func aLocalContextRacesListedPromises() {
        let context = context
        let values = LocalContext.run(on: context) { local in
            let first = local.race(local.error(Failure("x"), as: Int.self), local.value(2))
            let second = local.firstSettled(local.never(as: Int.self), local.value(3))
            context.drain()
            return [first.value, second.value]
        }
        #expect(values == [2, 3])
    }

    @Test func addingKeepsTheTupleFlat() {
        let context = context
        let two: Promise<(Int, String)> = Promise.value(1, on: context)
            .adding { .value("\($0)", on: context) }
        let three: Promise<(Int, String, Bool)> = two.adding { number, text in
            .value("\(number)" == text, on: context)
        }
        let four = three.adding { _, _, isSame in Promise.value(isSame ? 2.5 : 0, on: context) }
        let five = four.adding { values in
            let sum = Double(values.0) + values.3
            return Promise.value([sum], on: context)
        }
        let text = five.map { number, text, isSame, half, sums in
            "\(number) \(text) \(isSame) \(half) \(sums)"
        }
        context.drain()
        #expect(text.value == "1 1 true 2.5 [3.5]")
    }

    @Test func addingToATupleRejectsWithTheNewPromisesError() {
        let context = context
        let pair = Promise.value(1, on: context).adding { _ in Promise.value(2, on: context) }
        let failed = pair.adding { _, _ in Promise<Int>.error(Failure("x"), on: context) }
        let thrown = pair.adding { _, _ -> Promise<Int> in throw Failure("y") }
        context.drain()
        #expect(failed.error as? Failure == Failure("x"))
        #expect(thrown.error as? Failure == Failure("y"))
    }

    @Test func addingToLocalPromisesKeepsTheTupleFlat() {
        let context = context
        let text = LocalContext.run(on: context) { local in
            let four: LocalPromise<(Int, Int, Int, Int)> = local.value(1)
                .adding { local.value($0 + 1) }
                .adding { first, second in local.value(first + second) }
                .adding { _, second, third in local.value(second * third) }
            let all = four.map { "\($0) \($1) \($2) \($3)" }
            context.drain()
            return all.value
        }
        #expect(text == "1 2 3 6")
    }

    @Test func anyResultCanBeMadeOfOutcomes() throws {
        let reports = Journal<String>()
        let result = AnyResult([
            (key: "a", result: Result<Int, any Error>.success(1)),
            (key: "b", result: .failure(Failure("b"))),
        ])
        #expect(try result.requiredValue(for: "a") == 1)
        #expect(throws: Failure("b")) { try result.requiredValue(for: "b") }
        #expect(throws: PromiseError.unknownKey) { try result.requiredValue(for: "c") }
        #expect(result.values == ["a": 1])
        #expect(result.reasons.keys.sorted() == ["b"])
        #expect(!result.isComplete)
        #expect(reports.entries == [])
    }

    @Test func errorCollectionsCanBeMadeOfErrors() {
        let array = ErrorArray([Failure("a"), Failure("b")])
        #expect(array.errors.count == 2)
        let dictionary = ErrorDictionary([(key: 1, error: Failure("a"))])
        #expect(dictionary.errors[1] as? Failure == Failure("a"))
    }
}
