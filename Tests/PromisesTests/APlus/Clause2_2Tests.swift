import Promises
import Testing

/// 2.2.1 to 2.2.3: handlers are optional, run after settling, once, with the value or the reason.
@Suite(.timeLimit(.minutes(5))) struct Clause2_2_1to3Tests {
    @Test(arguments: Way.allCases) func fulfilledHandlerRunsOnceWithTheValue(way: Way) {
        let journal = Journal<String>()
        way.settle(.success(7)) { promise, _ in
            promise.then(
                fulfilled: { value in
                    journal.add("value \(value), pending \(promise.isPending)")
                    return .value(())
                },
                rejected: { _ in
                    journal.add("rejected")
                    return .value(())
                }
            ).cauterize()
        }
        #expect(journal.entries == ["value 7, pending false"])
    }

    @Test(arguments: Way.allCases) func rejectedHandlerRunsOnceWithTheReason(way: Way) {
        let journal = Journal<String>()
        let reason = Reason()
        way.settle(.failure(reason)) { promise, _ in
            promise.then(
                fulfilled: { _ in
                    journal.add("fulfilled")
                    return .value(())
                },
                rejected: { error in
                    journal.add("same \(error as? Reason === reason)")
                    return .never()
                }
            ).cauterize()
        }
        #expect(journal.entries == ["same true"])
    }

    @Test func neverSettledNeverRuns() {
        let journal = Journal<Int>()
        let context = ManualContext()
        let end = Promise<Int>.never(on: context).onResult { _ in journal.add(1) }
        context.advance(by: .seconds(100))
        #expect(journal.entries == [])
        #expect(end.isPending)
    }
}

/// 2.2.4: handlers run on a clean stack only. F44.
@Suite(.timeLimit(.minutes(5))) struct Clause2_2_4Tests {
    @Test(arguments: Way.allCases) func neverInsideTheCallThatAttaches(way: Way) {
        let journal = Journal<String>()
        way.settle(.success(1)) { promise, _ in
            promise.whenSettled { _ in journal.add("handler") }
            journal.add("attached")
        }
        #expect(journal.entries == ["attached", "handler"])
    }

    @Test func neverInsideFulfillOrReject() {
        let context = ManualContext()
        let journal = Journal<String>()
        for outcome in [Result<Int, any Error>.success(1), .failure(Failure("x"))] {
            let resolver = Resolver<Int>(on: context)
            resolver.promise.whenSettled { _ in journal.add("handler") }
            resolver.resolve(outcome)
            journal.add("settled")
            context.drain()
        }
        #expect(journal.entries == ["settled", "handler", "settled", "handler"])
    }

    @Test func neverInsideAnotherHandler() {
        let context = ManualContext()
        let journal = Journal<String>()
        let settled = Promise.value(1, on: context)
        settled.whenSettled { _ in
            journal.add("outer begins")
            settled.whenSettled { _ in journal.add("inner") }
            journal.add("outer ends")
        }
        context.drain()
        #expect(journal.entries == ["outer begins", "outer ends", "inner"])
    }
}

/// 2.2.6: handlers run in the order in which they were attached. F40, F41.
@Suite(.timeLimit(.minutes(5))) struct Clause2_2_6Tests {
    @Test(arguments: Way.allCases) func fulfilledHandlersInOrder(way: Way) {
        let journal = Journal<Int>()
        way.settle(.success(0)) { promise, _ in
            for index in 0..<20 { promise.whenSettled { _ in journal.add(index) } }
        }
        #expect(journal.entries == Array(0..<20))
    }

    @Test(arguments: Way.allCases) func rejectedHandlersInOrderEvenIfOneThrows(way: Way) {
        let journal = Journal<Int>()
        way.settle(.failure(Failure("x"))) { promise, _ in
            for index in 0..<5 {
                promise.onFailure { error in
                    journal.add(index)
                    if index == 2 { throw Failure("mine") }
                }.cauterize()
            }
        }
        #expect(journal.entries == Array(0..<5))
    }

    @Test func lateHandlersGoBehindQueuedOnes() {
        let context = ManualContext()
        let journal = Journal<Int>()
        let resolver = Resolver<Int>(on: context)
        let promise = resolver.promise
        promise.whenSettled { _ in journal.add(1) }
        promise.whenSettled { _ in
            journal.add(2)
            promise.whenSettled { _ in journal.add(4) }
        }
        resolver.fulfill(0)
        promise.whenSettled { _ in journal.add(3) }
        context.drain()
        #expect(journal.entries == [1, 2, 3, 4])
    }
}

/// 2.2.7: what a handler returns or throws decides its child; without a handler it passes on.
@Suite(.timeLimit(.minutes(5))) struct Clause2_2_7Tests {
    @Test(arguments: Way.allCases) func returnedValueFulfilsTheChild(way: Way) {
        let journal = Journal<String>()
        way.settle(.success(1)) { promise, _ in
            promise.map { "\($0 + 1)" }.whenSettled { journal.add("\($0)") }
        }
        #expect(journal.entries == ["success(\"2\")"])
    }

    @Test(arguments: Way.allCases) func thrownErrorRejectsTheChild(way: Way) {
        let journal = Journal<Bool>()
        let reason = Reason()
        way.settle(.success(1)) { promise, _ in
            promise.map { _ in throw reason }.catch { journal.add($0 as? Reason === reason) }
        }
        way.settle(.failure(Failure("x"))) { promise, _ in
            promise.recover { _ in throw reason }.catch { journal.add($0 as? Reason === reason) }
        }
        #expect(journal.entries == [true, true])
    }

    @Test(arguments: Way.allCases) func valuePassesFailureOperators(way: Way) {
        let journal = Journal<Int>()
        way.settle(.success(5)) { promise, _ in
            promise.recover { _ in .value(0) }.onFailure { _ in journal.add(-1) }
                .mapError { $0 }.replaceError(with: 0).ensure {}
                .done { journal.add($0) }.cauterize()
        }
        #expect(journal.entries == [5])
    }

    @Test(arguments: Way.allCases) func reasonPassesSuccessOperators(way: Way) {
        let journal = Journal<Bool>()
        let reason = Reason()
        way.settle(.failure(reason)) { promise, _ in
            promise.map { $0 }.then { .value($0) }.compactMap { $0 }.validate { _ in true }
                .onValue { _ in }.adding { _ in Promise.value(1) }.asVoid().done {}
                .catch { journal.add($0 as? Reason === reason) }
        }
        #expect(journal.entries == [true])
    }
}
