import Basics
import HTTP
import Promises
import SimReactor
import Testing

@testable import Gateway

/// Which call gets a permit, and when: first in, first out, until the deadline of the queue, also
/// if a call is cancelled in the loop iteration in which it would be admitted.
@Suite struct ConcurrencyLimitTests {
    private let network: SimNetwork
    private let loop: SimLoop

    init() {
        network = SimNetwork(seed: 1)
        loop = network.makeLoop("worker")
    }

    private func limit(_ concurrent: Int, queue: Int) -> ConcurrencyLimit {
        ConcurrencyLimit(
            ConcurrencyLimitPlan(concurrentMax: concurrent, queueMax: queue, wait: .seconds(1)),
            loop: loop)
    }

    private func admitted(_ limit: ConcurrencyLimit) -> Permit? {
        if case .admitted(let permit) = limit.admit(on: loop.local) { permit } else { nil }
    }

    /// The outcome of a call in the queue.
    private final class Queued {
        let promise: LocalPromise<Permit>
        private(set) var permit: Permit?
        private(set) var failure: CallFailure.Kind?

        init(_ promise: LocalPromise<Permit>) {
            self.promise = promise
            promise.whenSettled { [unowned self] result in
                do { permit = try result.get() } catch { failure = CallFailure(error).kind }
            }
        }

        func release() {
            permit?.release()
            permit = nil
        }
    }

    private func queued(_ limit: ConcurrencyLimit) -> Queued? {
        if case .queued(let promise) = limit.admit(on: loop.local) { Queued(promise) } else { nil }
    }

    private func load(_ limit: ConcurrencyLimit) -> [Int] {
        [limit.load.running, limit.load.waiting]
    }

    @Test func admitsQueuesAndRefuses() throws {
        let limit = limit(1, queue: 1)
        let first = try #require(admitted(limit))
        let second = try #require(queued(limit))
        guard case .refused = limit.admit(on: loop.local) else { throw Unexpected() }
        #expect(load(limit) == [1, 1])
        network.advance(by: .milliseconds(500))
        #expect(second.permit == nil && second.failure == nil)
        first.release()
        network.advance(by: .zero)
        #expect(second.permit != nil && load(limit) == [1, 0])
        second.release()
        #expect(load(limit) == [0, 0] && loop.pendingTimers == 0)
    }

    @Test func servesFirstInFirstOut() throws {
        let limit = limit(1, queue: 3)
        var first = admitted(limit)
        let others = [queued(limit), queued(limit), queued(limit)]
        first = nil
        network.advance(by: .zero)
        #expect(first == nil && others.map { $0?.permit != nil } == [true, false, false])
        others[0]?.release()
        network.advance(by: .zero)
        #expect(others.map { $0?.permit != nil } == [false, true, false])
        others[1]?.release()
        network.advance(by: .zero)
        others[2]?.release()
        #expect(load(limit) == [0, 0])
    }

    @Test func refusesQueuedCallsAtTheirOwnDeadlines() throws {
        let limit = limit(1, queue: 3)
        let first = try #require(admitted(limit))
        let second = try #require(queued(limit))
        network.advance(by: .milliseconds(400))
        let third = try #require(queued(limit))
        network.advance(by: .milliseconds(599))
        #expect(second.failure == nil)
        network.advance(by: .milliseconds(1))
        #expect(second.failure == .queueFull && third.failure == nil)
        network.advance(by: .milliseconds(399))
        #expect(third.failure == nil)
        network.advance(by: .milliseconds(1))
        #expect(third.failure == .queueFull)
        #expect(load(limit) == [1, 0] && loop.pendingTimers == 0)
        first.release()
        #expect(load(limit) == [0, 0])
    }

    @Test func cancelledCallsLeaveTheQueue() throws {
        let limit = limit(1, queue: 2)
        let first = try #require(admitted(limit))
        let second = try #require(queued(limit))
        let third = try #require(queued(limit))
        second.promise.cancel()
        network.advance(by: .zero)
        #expect(load(limit) == [1, 1])
        first.release()
        network.advance(by: .zero)
        #expect(second.permit == nil && third.permit != nil)
        third.release()
        #expect(load(limit) == [0, 0] && loop.pendingTimers == 0)
    }

    /// The cancellation has not reached the queue yet when the permit is released.
    @Test func passesOverACallThatIsCancelledInTheSameIteration() throws {
        let limit = limit(1, queue: 2)
        let first = try #require(admitted(limit))
        let second = try #require(queued(limit))
        let third = try #require(queued(limit))
        second.promise.cancel()
        first.release()
        network.advance(by: .zero)
        #expect(second.permit == nil && third.permit != nil)
        #expect(load(limit) == [1, 0])
        third.release()
        #expect(load(limit) == [0, 0] && loop.pendingTimers == 0)
    }

    @Test func keepsThePermitWhenAllQueuedCallsAreCancelledInTheSameIteration() throws {
        let limit = limit(1, queue: 2)
        let first = try #require(admitted(limit))
        let others = [try #require(queued(limit)), try #require(queued(limit))]
        for other in others { other.promise.cancel() }
        first.release()
        network.advance(by: .zero)
        #expect(load(limit) == [0, 0] && loop.pendingTimers == 0)
        #expect(admitted(limit) != nil)
    }

    // MARK: Another plan

    private func plan(_ concurrent: Int, queue: Int) -> ConcurrencyLimitPlan {
        ConcurrencyLimitPlan(concurrentMax: concurrent, queueMax: queue, wait: .seconds(9))
    }

    @Test func higherLimitServesTheQueue() throws {
        let limit = limit(1, queue: 2)
        let first = try #require(admitted(limit))
        let others = [try #require(queued(limit)), try #require(queued(limit))]
        limit.adopt(plan(2, queue: 2))
        network.advance(by: .zero)
        #expect(others.map { $0.permit != nil } == [true, false] && load(limit) == [2, 1])
        first.release()
        network.advance(by: .zero)
        for other in others { other.release() }
        #expect(load(limit) == [0, 0] && loop.pendingTimers == 0)
    }

    @Test func lowerLimitAdmitsNoCallBeforeEnoughHaveEnded() throws {
        let limit = limit(3, queue: 1)
        let first = [admitted(limit), admitted(limit), admitted(limit)]
        limit.adopt(plan(2, queue: 1))
        let fourth = try #require(queued(limit))
        first[0]?.release()
        network.advance(by: .zero)
        #expect(fourth.permit == nil && load(limit) == [2, 1])
        first[1]?.release()
        network.advance(by: .zero)
        #expect(fourth.permit != nil && load(limit) == [2, 0])
        first[2]?.release()
        fourth.release()
        #expect(load(limit) == [0, 0] && loop.pendingTimers == 0)
    }

    @Test func queuedCallKeepsItsDeadlineUnderAnotherPlan() throws {
        let limit = limit(1, queue: 2)
        let first = try #require(admitted(limit))
        let second = try #require(queued(limit))
        limit.adopt(plan(1, queue: 1))
        guard case .refused = limit.admit(on: loop.local) else { throw Unexpected() }
        network.advance(by: .milliseconds(999))
        #expect(second.failure == nil)
        network.advance(by: .milliseconds(1))
        #expect(second.failure == .queueFull && load(limit) == [1, 0])
        first.release()
        #expect(load(limit) == [0, 0] && loop.pendingTimers == 0)
    }

    @Test func permitsOutliveTheLimit() throws {
        var limit: ConcurrencyLimit? = limit(1, queue: 0)
        let permit = try #require(limit.flatMap(admitted))
        limit = nil
        permit.release()
        #expect(limit == nil)
    }

    struct Unexpected: Error {}
}
