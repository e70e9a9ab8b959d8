import Promises
import Testing

/// 2.1 for local promises: a promise is pending, fulfilled or rejected. F3.
@Suite(.timeLimit(.minutes(5))) struct Clause2_1LocalTests {
    @Test(arguments: Way.allCases) func fulfilledIsFinal(way: Way) {
        let journal = Journal<String>()
        way.settleLocally(.success(1)) { promise, _, context in
            promise.whenSettled { _ in
                promise.cancel()
                journal.add("\(promise.state)")
            }
        }
        #expect(journal.entries == ["fulfilled: 1"])
    }

    @Test(arguments: Way.allCases) func rejectedIsFinalAndKeepsItsReason(way: Way) {
        let journal = Journal<Bool>()
        let reason = Reason()
        way.settleLocally(.failure(reason)) { promise, _, _ in
            promise.whenSettled { _ in
                promise.cancel()
                journal.add(promise.error as? Reason === reason && promise.value == nil)
            }
        }
        #expect(journal.entries == [true])
    }
}
