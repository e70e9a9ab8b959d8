import PromiseOperators
import Promises
import Testing

/// F64 to F80 without the rows that the behaviour tests cover.
@Suite(.timeLimit(.minutes(5))) struct CombiningRows {
    let context = ManualContext()

    @Test("F39 F67: operators pair promises and values") func operatorsPairPromisesAndValues() {
        let one = Promise.value(1, on: context)
        let two = Promise.value("two", on: context)
        let both = one &&& two
        let right = one &&& "plain"
        let left = "plain" &&& one
        let failed = one &&& Promise<Int>.error(Failure("x"), on: context)
        context.drain()
        #expect(both.value?.0 == 1 && both.value?.1 == "two")
        #expect(right.value?.0 == 1 && right.value?.1 == "plain")
        #expect(left.value?.0 == "plain" && left.value?.1 == 1)
        #expect(failed.error is Failure)
    }

    @Test("F72: the first value by an operator") func anOperatorGivesTheFirstValue() {
        let failed = Promise<Int>.error(Failure("x"), on: context)
        let won = failed ||| Promise.value(2, on: context)
        let lost = failed ||| failed
        context.drain()
        #expect(won.value == 2)
        #expect((lost.error as? ErrorArray)?.errors.count == 2)
    }

    @Test("F70: requiredValue gives the value, or throws the input's error or unknownKey")
    func requiredValueThrowsTheInputsError() throws {
        let result = any([
            "good": Promise.value(1, on: context), "bad": .error(Failure("bad"), on: context),
        ])
        context.drain()
        let anyResult = try #require(result.value)
        #expect(try anyResult.requiredValue(for: "good") == 1)
        #expect(throws: Failure("bad")) { try anyResult.requiredValue(for: "bad") }
        #expect(throws: PromiseError.unknownKey) { try anyResult.requiredValue(for: "other") }
    }

    @Test("F71: error collections print their errors, in the order of the inputs")
    func errorCollectionsPrintTheirErrors() {
        let race = race([
            Promise<Int>.error(Failure("a"), on: context), .error(Failure("b"), on: context),
        ])
        let any = any([(key: 1, promise: Promise<Int>.error(Failure("a"), on: context))])
        context.drain()
        #expect(
            (race.error as? ErrorArray)?.errors.compactMap { $0 as? Failure }.map(\.name)
                == ["a", "b"])
        #expect("\(any.error as? ErrorDictionary<Int> as Any)".contains("1: "))
    }

    @Test("F76: at most two at a time, going on after errors") func boundedWorkGoesOnAfterErrors() {
        let context = context
        let running = Journal<Int>()
        let results = all(0..<6, concurrently: 2, on: context) { number -> Promise<String> in
            running.add(number)
            let work: Promise<Int> =
                number.isMultiple(of: 2)
                ? .value(number, on: context) : .error(Failure("odd"), on: context)
            return work.mapResult { (try? $0.get()).map { "\($0)" } ?? "failed" }
        }
        context.drain()
        #expect(results.value == ["0", "failed", "2", "failed", "4", "failed"])
        #expect(running.entries == Array(0..<6))
    }

    @Test("F78: the first failure of a group cancels the rest, and a pool cancels them all")
    func aFailedGroupCancelsTheRest() {
        let stopped = Journal<Int>()
        let pool = CancellationPool()
        func works() -> [Stoppable] { (0..<3).map { index in Stoppable { stopped.add(index) } } }
        let failing = works()
        let group = all(failing.map { $0.start(on: context, in: pool) })
        context.drain()
        failing[1].fail()
        context.drain()
        #expect(group.error is Failure)
        #expect(stopped.entries == [0, 2])
        let others = all(works().map { $0.start(on: context, in: pool) })
        context.drain()
        pool.drain()
        context.drain()
        #expect(others.error is Cancelled)
        #expect(stopped.entries == [0, 2, 0, 1, 2])
    }

    @Test("F79: mixed results by an enum, as in FranticApparatus") func enumsCarryMixedResults()
        throws
    {
        enum Part: Sendable { case number(Int), text(String) }
        let parts = all([
            "number": Promise.value(1, on: context).map { Part.number($0) },
            "text": Promise.value("a", on: context).map { Part.text($0) },
        ])
        context.drain()
        guard case .number(1)? = try #require(parts.value)["number"] else {
            Issue.record("\(parts.state)")
            return
        }
    }

    @Test("F80: a late error changes nothing") func aLateErrorChangesNothing() {
        let first = Resolver<Int>(on: context)
        let second = Resolver<Int>(on: context)
        let stays = second.promise.map { $0 }
        let both = all([first.promise, second.promise])
        first.reject(Failure("first"))
        context.drain()
        second.reject(Failure("second"))
        context.drain()
        #expect(both.error as? Failure == Failure("first"))
        #expect(stays.error as? Failure == Failure("second"))
    }
}
