import Foundation
import Promises

/// An event loop as small as one can be: a queue of its own thread, and no letter box, because
/// nothing here comes from outside.
final class Loop: ExecutionContext, @unchecked Sendable {
    let readyQueue = ReadyQueue()
    private let owner = pthread_self()

    var isCurrent: Bool { pthread_equal(owner, pthread_self()) != 0 }

    func enqueue(_ job: consuming PromiseJob) {
        precondition(isCurrent)
        readyQueue.append(job)
    }

    func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
        preconditionFailure("no benchmark measures time that passes")
    }
}
