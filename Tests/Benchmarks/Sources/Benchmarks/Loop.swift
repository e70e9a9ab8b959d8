import Foundation
import Promises

/// A minimal event loop: the ready queue of its thread, without an inbox, because no other thread
/// adds jobs.
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
