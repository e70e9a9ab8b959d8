import Dispatch
import Foundation
import Promises
import PromisesDispatch
import Testing

/// `wait` in a block that keeps the promise's queue from running throws and does not hang. F90,
/// F125.
@Suite(.timeLimit(.minutes(5))) struct WaitOnOwnContextTests {
    @Test("in another block of the same queue", arguments: [true, false])
    func waitThrowsInABlockOfTheSameQueue(isConcurrent: Bool) {
        let queue = DispatchQueue(label: "own", attributes: isConcurrent ? .concurrent : [])
        let promise = Promise<Int>.never(on: QueueContext(queue))
        func expect(_ error: PromiseError) {
            #expect(throws: error) { try promise.wait(for: .milliseconds(1)) }
        }
        queue.sync { expect(.waitOnOwnContext) }
        // On no queue, or on another queue, it waits.
        expect(.timedOut)
        DispatchQueue(label: "other").sync { expect(.timedOut) }
    }

    @Test("in a block of a queue that targets it") func waitThrowsInABlockOfATargetingQueue() {
        let queue = DispatchQueue(label: "target")
        let promise = Promise<Int>.never(on: QueueContext(queue))
        let upper = DispatchQueue(label: "upper", target: queue)
        let own = Promise<Int>.never(on: QueueContext(upper))
        func expectToThrow(_ promise: Promise<Int>) {
            #expect(throws: PromiseError.waitOnOwnContext) { try promise.wait(for: .zero) }
        }
        upper.sync {
            expectToThrow(promise)
            expectToThrow(own)
        }
        queue.sync { expectToThrow(promise) }
    }

    @Test("two contexts of one queue do not hide each other, and remove their marks")
    func severalContextsOfOneQueueAreIndependent() {
        let queue = DispatchQueue(label: "shared")
        let first = QueueContext(queue)
        do {
            let second = QueueContext(queue)
            queue.sync { #expect(first.isBlockedByCaller && second.isBlockedByCaller) }
        }
        queue.sync { #expect(first.isBlockedByCaller) }
        #expect(!first.isBlockedByCaller)
        queue.sync { #expect(!first.isCurrent) }
    }

    @Test("a global queue is a context like any other") func aGlobalQueueIsAContext() async throws {
        let context = QueueContext(.global())
        let value = try await Promise.value(1, on: context).map { _ in context.isCurrent }.get()
        #expect(value)
    }

    @Test("on the main thread for the main queue") func waitThrowsOnTheMainThreadForTheMainQueue()
        async
    {
        await #expect(processExitsWith: .success) {
            await MainActor.run {
                // A settled promise returns at once, on any thread.
                guard (try? Promise.value(1, on: .main).wait()) == 1 else { exit(2) }
                do {
                    _ = try Promise.value(1).map(on: .main) { $0 }.wait(for: .seconds(5))
                    exit(3)
                } catch {
                    exit(error as? PromiseError == .waitOnOwnContext ? EXIT_SUCCESS : 4)
                }
            }
        }
    }

    @Test("on the main thread for another context, it waits")
    func waitOnTheMainThreadForAnotherContextWorks() async {
        await #expect(processExitsWith: .success) {
            await MainActor.run {
                let queue = QueueContext(DispatchQueue(label: "other"))
                let value = try? Promise.value(1).map(on: queue) { $0 + 1 }.wait(for: .seconds(5))
                exit(value == 2 ? EXIT_SUCCESS : 2)
            }
        }
    }
}
