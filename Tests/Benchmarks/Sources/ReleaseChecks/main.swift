// Checks of an optimised build that a debug build cannot show: waiting threads are woken. Exits
// with status 1 at the first check that fails; the caller's time limit ends a check that hangs.

import Foundation
import Promises

func check(_ isRight: Bool, _ message: String) {
    guard !isRight else { return }
    print("failed: \(message)")
    exit(1)
}

/// A thread that blocks in `wait` is woken when another thread settles the promise.
func waitingThreadsAreWoken() {
    for number in 0..<1_000 {
        let resolver = Resolver<Int>()
        let promise = resolver.promise
        let settling = Promise(on: .blocking) { number }
        settling.whenSettled { _ in }
        resolver.follow(settling)
        check((try? promise.wait(for: .seconds(30))) == number, "wait did not return the value")
    }
}

/// An idle thread of a `BlockingPool` takes the next job.
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
