import Foundation
import Synchronization
import Testing

@testable import Promises

/// Blocking work: in parallel up to a limit, and no work waits while a thread is free.
@Suite(.timeLimit(.minutes(5))) struct BlockingPoolTests {
    /// Opens when `size` threads wait at the same time.
    final class Barrier: Sendable {
        private let arrived = Atomic(0)
        private let gate = Gate()
        let size: Int

        init(of size: Int) { self.size = size }

        func wait() {
            if arrived.add(1, ordering: .acquiringAndReleasing).newValue == size { gate.open() }
            gate.wait(atMost: nil)
        }
    }

    @Test func jobsRunAtTheSameTime() async throws {
        let pool = BlockingPool(threads: 8)
        let barrier = Barrier(of: 8)
        // Each job waits for all: with fewer threads than jobs this would never end.
        let jobs = (0..<8).map { number in
            Promise(on: pool) {
                barrier.wait()
                return number
            }
        }
        #expect(try await all(jobs).get() == Array(0..<8))
    }

    /// An idle thread takes the next job when it is signalled, not after its idle time.
    @Test func anIdleThreadTakesTheNextJob() async throws {
        let pool = BlockingPool(threads: 1, idleTime: .seconds(3_600))
        for number in 0..<100 {
            let job = Promise(on: pool) { number }
            #expect(try await job.get() == number)
            while pool.idleThreadCount == 0 { await Task.yield() }
        }
        #expect(pool.threadCount == 1)
    }

    @Test func noMoreJobsRunThanThereAreThreads() async throws {
        let pool = BlockingPool(threads: 3)
        let running = Atomic(0)
        let maximum = Atomic(0)
        let barrier = Barrier(of: 3)
        let jobs = (0..<100).map { number in
            Promise(on: pool) {
                let now = running.add(1, ordering: .acquiringAndReleasing).newValue
                maximum.max(now, ordering: .acquiringAndReleasing)
                if number < 3 { barrier.wait() }
                running.subtract(1, ordering: .acquiringAndReleasing)
            }
        }
        _ = try await all(jobs).get()
        #expect(maximum.load(ordering: .acquiring) == 3)
        #expect(pool.threadCount <= 3)
    }

    @Test("operators with state call their bodies on the pool, and not on `SharedPool`")
    func operatorsCallTheirBodiesOnThePool() async throws {
        let pool = BlockingPool(threads: 2)
        let isOnSharedPool = Journal<Bool>()
        let body: @Sendable (Int) throws -> Promise<Int> = { number in
            isOnSharedPool.add(SharedPool.shared.isCurrent)
            if number == 1 { throw Failure("first") }
            return .value(number)
        }
        let policy = RetryPolicy(maximumAttempts: 3)
        #expect(try await retry(policy, on: pool, body).get() == 2)
        let polled = poll(every: .zero, on: pool, until: { $0 == 4 }) {
            try body(isOnSharedPool.entries.count)
        }
        #expect(try await polled.get() == 4)
        #expect(try await all([2, 3, 4], concurrently: 2, on: pool, body).get() == [2, 3, 4])
        #expect(try await sequence([2, 3], on: pool, body).get() == [2, 3])
        await #expect(throws: Failure("first")) {
            try await sequence([1, 2], on: pool, body).get()
        }
        #expect(isOnSharedPool.entries == Array(repeating: false, count: 2 + 3 + 3 + 2 + 1))
    }

    @Test func bodiesOfAllRunAtTheSameTime() async throws {
        let pool = BlockingPool(threads: 4)
        let barrier = Barrier(of: 4)
        // Each body waits for all.
        let values = all(0..<4, concurrently: 4, on: pool) { number in
            barrier.wait()
            return Promise.value(number)
        }
        #expect(try await values.get() == [0, 1, 2, 3])
    }

    /// `retry` is the only consumer of the attempt. A test that awaited the attempt would be another one,
    /// and the attempt would not be cancelled.
    @Test(
        "a cancelled `retry` on the pool withdraws from its attempt, and starts no other",
        arguments: [false, true])
    func cancellingWithdrawsFromTheAttempt(whileTheBodyRuns: Bool) async throws {
        let pool = BlockingPool(threads: 1)
        let attempt = Resolver<Int>().shared()
        let withdrawn = Resolver<Void>().shared()
        attempt.onCancel { _ in withdrawn.fulfill(()) }
        let started = Resolver<Void>().shared()
        let gate = Gate()
        if !whileTheBodyRuns { gate.open() }
        let attempts = Journal<Int>()
        let retried = retry(RetryPolicy(maximumAttempts: 2), on: pool) { number in
            attempts.add(number)
            started.fulfill(())
            gate.wait(atMost: nil)
            return attempt.promise
        }
        _ = await started.promise.settled.get()
        retried.cancel()
        gate.open()
        _ = await withdrawn.promise.settled.get()
        #expect(attempts.entries == [1])
    }

    @Test func onOneThreadJobsKeepTheirOrder() async throws {
        let pool = BlockingPool(threads: 1)
        let journal = Journal<Int>()
        let jobs = (0..<500).map { number in Promise(on: pool) { journal.add(number) } }
        _ = try await all(jobs).get()
        #expect(journal.entries == Array(0..<500))
    }

    @Test func idleThreadsEndAndLaterWorkStartsNewOnes() async throws {
        let pool = BlockingPool(threads: 4, idleTime: .zero)
        for round in 0..<3 {
            let jobs = (0..<20).map { number in Promise(on: pool) { number } }
            #expect(try await all(jobs).get() == Array(0..<20), "round \(round)")
            while pool.threadCount > 0 { await Task.yield() }
        }
    }

    /// Operators that keep state between turns need one handler at a time, which the pool does not
    /// guarantee.
    @Test func timersAndBoundedWorkRunOnASerialContext() async throws {
        let pool = BlockingPool(threads: 8)
        let running = Atomic(0)
        let overlaps = Journal<Int>()
        let values = all(0..<50, concurrently: 8, on: pool) { number in
            if running.add(1, ordering: .relaxed).oldValue != 0 { overlaps.add(number) }
            running.subtract(1, ordering: .relaxed)
            return Promise(on: pool) { number }
        }
        #expect(try await values.get() == Array(0..<50))
        #expect(overlaps.entries == [])
        await #expect(throws: PromiseError.timedOut) {
            try await Promise<Int>.never(on: pool).timeout(.milliseconds(1)).get()
        }
    }

    @Test func combinatorsOfParallelInputsLoseNoOutcome() async throws {
        let pool = BlockingPool(threads: 8)
        for _ in 0..<50 {
            let inputs = (0..<20).map { number in Promise(on: pool) { number } }
            #expect(try await all(inputs).get() == Array(0..<20))
            let any = try await Promises.any(
                inputs.enumerated().map { (key: $0.offset, promise: $0.element) }
            ).get()
            #expect(any.isComplete && any.count == 20)
        }
    }

    @Test func onlyParallelContextsAreNotSerial() {
        #expect(!BlockingPool.shared.isSerial)
        #expect(!InlineContext.shared.isSerial)
        #expect(SharedPool.shared.isSerial)
        #expect(ManualContext().isSerial)
        #expect(MainActorContext.shared.isSerial)
    }
}
