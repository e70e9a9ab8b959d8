// What must hold in an optimised build and cannot be seen in a debug build: threads that wait are
// woken. Ends with status 1 at the first check that fails; a check that hangs is ended by its caller's
// time limit.

import Foundation
import Promises

func check(_ isRight: Bool, _ words: String) {
    guard !isRight else { return }
    print("failed: \(words)")
    exit(1)
}

/// A thread that blocks in `wait` sees the promise settled by another thread.
func waitingThreadsAreWoken() {
    for number in 0..<1_000 {
        let resolver = Resolver<Int>()
        let promise = resolver.promise
        let settling = Promise(on: .blocking) { number }
        settling.whenSettled { _ in }
        resolver.follow(settling)
        check((try? promise.wait(for: .seconds(30))) == number, "wait did not see a value")
    }
}

/// A thread of a `BlockingPool` that has nothing to do takes the next job.
func idleThreadsTakeTheNextJob() {
    let pool = BlockingPool(threads: 1)
    for number in 0..<1_000 {
        let job = Promise(on: pool) { number }
        check((try? job.wait(for: .seconds(5))) == number, "an idle thread did not take a job")
    }
}

waitingThreadsAreWoken()
idleThreadsTakeTheNextJob()
print("waiting threads are woken")
