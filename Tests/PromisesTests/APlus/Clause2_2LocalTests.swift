import Promises
import Testing

/// 2.2 for local promises: handlers are optional, run after settling on a clean stack, once, in
/// order.
@Suite(.timeLimit(.minutes(5))) struct Clause2_2LocalTests {
    static let reason = Reason()

    static func outcome(_ isGood: Bool) -> Result<Int, any Error> {
        isGood ? .success(7) : .failure(reason)
    }

    /// 2.2.1 to 2.2.3
    @Test(arguments: Way.allCases, [true, false]) func oneHandlerRunsOnce(way: Way, isGood: Bool) {
        let journal = Journal<String>()
        way.settleLocally(Self.outcome(isGood)) { promise, local, _ in
            promise.then(
                fulfilled: { value -> LocalPromise<Void> in
                    journal.add("value \(value), pending \(promise.isPending)")
                    return local.value()
                },
                rejected: { error in
                    journal.add("same \(error as? Reason === Self.reason)")
                    return local.value()
                }
            ).cauterize()
        }
        #expect(journal.entries == [isGood ? "value 7, pending false" : "same true"])
    }

    /// 2.2.4
    @Test(arguments: Way.allCases, [true, false])
    func neverInsideTheCallThatAttaches(way: Way, isGood: Bool) {
        let journal = Journal<String>()
        way.settleLocally(Self.outcome(isGood)) { promise, _, _ in
            promise.whenSettled { _ in
                promise.whenSettled { _ in journal.add("inner") }
                journal.add("handler ends")
            }
            journal.add("attached")
        }
        #expect(journal.entries == ["attached", "handler ends", "inner"])
    }

    /// 2.2.6
    @Test(arguments: Way.allCases, [true, false])
    func handlersInTheOrderOfAttaching(way: Way, isGood: Bool) {
        let journal = Journal<Int>()
        way.settleLocally(Self.outcome(isGood)) { promise, _, _ in
            for index in 0..<20 {
                promise.onResult { _ in journal.add(index) }.cauterize()
            }
        }
        #expect(journal.entries == Array(0..<20))
    }

    /// 2.2.7.1, 2.2.7.2
    @Test(arguments: Way.allCases, [true, false])
    func returnsFulfilAndThrowsReject(way: Way, isGood: Bool) {
        let journal = Journal<String>()
        way.settleLocally(Self.outcome(isGood)) { promise, local, _ in
            promise.map { $0 + 1 }.recover { _ in local.value(0) }
                .whenSettled { journal.add("\((try? $0.get()) ?? -1)") }
            promise.map { _ -> Int in throw Failure("a") }.recover { _ in throw Failure("b") }
                .catch { journal.add(($0 as? Failure)?.name ?? "?") }
        }
        #expect(journal.entries.sorted() == [isGood ? "8" : "0", "b"].sorted())
    }

    /// 2.2.7.3, 2.2.7.4
    @Test(arguments: Way.allCases, [true, false])
    func unhandledOutcomesPassOn(way: Way, isGood: Bool) {
        let journal = Journal<String>()
        way.settleLocally(Self.outcome(isGood)) { promise, local, _ in
            promise.recover(only: Failure.self) { _ in local.value(0) }.mapError { $0 }
                .map { $0 }.then { local.value($0) }.compactMap { $0 }.validate { _ in true }
                .onValue { _ in }.ensure {}
                .whenSettled { result in
                    switch result {
                    case .success(let value): journal.add("\(value)")
                    case .failure(let error): journal.add("\(error as? Reason === Self.reason)")
                    }
                }
        }
        #expect(journal.entries == [isGood ? "7" : "true"])
    }
}
