import Dispatch
import Foundation
import PromiseOperators
import Promises
import PromisesDispatch
import Testing

/// `wait` in synchronous functions on tasks, as swift-testing runs tests: whatever their number, each
/// wait ends, on every context that can be chosen. In processes of their own, because a failure may
/// leave no thread for other tests.
@Suite(.timeLimit(.minutes(5))) struct ManyWaitersTests {
    static let counts = [1, processors, 4 * processors]
    static let processors = ProcessInfo.processInfo.activeProcessorCount

    enum Chosen: String, CaseIterable, Codable {
        case byDefault, pool, inline, blocking, oneThread, mainActor, mainQueue, queue
        case concurrentQueue, globalQueue, executor, globalExecutor, loop

        var context: (any ExecutionContext)? {
            switch self {
            case .byDefault: nil
            case .pool: SharedPool.shared
            case .inline: .inline
            case .blocking: .blocking
            case .oneThread: BlockingPool(threads: 1)
            case .mainActor: .mainActor
            case .mainQueue: .main
            case .queue: QueueContext(DispatchQueue(label: "waiters"))
            case .concurrentQueue:
                QueueContext(DispatchQueue(label: "waiters", attributes: .concurrent))
            case .globalQueue: QueueContext(.global())
            case .executor: ExecutorContext(QueueExecutor())
            case .globalExecutor: ExecutorContext(globalConcurrentExecutor)
            case .loop: LoopContext()
            }
        }
    }

    /// What is waited for.
    enum Operation: String, CaseIterable, Codable {
        case map, delay, timeout, retry, asyncWork, synchronousWork, nested, outcome, required
        case enough

        @Sendable func wait(on context: (any ExecutionContext)?, _ number: Int) throws -> Int {
            let limit = Duration.seconds(60)
            let start = Promise.value(number, on: context)
            switch self {
            case .map: return try start.map { $0 + 1 }.wait(for: limit)
            case .delay:
                return try start.delayed(by: .milliseconds(1)).map { $0 + 1 }.wait(for: limit)
            case .timeout:
                let late = Promise<Int>.never(on: context).timeout(.milliseconds(1))
                return try late.recover { _ in .value(number + 1) }.wait(for: limit)
            case .retry:
                let policy = RetryPolicy(maximumAttempts: 2, delay: { _ in .milliseconds(1) })
                return try Promises.retry(policy, on: context) { attempt in
                    if attempt == 1 { throw Failure("first") }
                    return Promise.value(number + 1)
                }.wait(for: limit)
            case .asyncWork:
                return try Promise(on: context) { () async -> Int in
                    await Task.yield()
                    return number + 1
                }.wait(for: limit)
            case .synchronousWork:
                return try Promise(on: context ?? SharedPool.shared) { number + 1 }.wait(for: limit)
            case .nested:
                // The handler itself waits, for another context.
                return try start.map(on: .blocking) { number in
                    try Promise.value(number, on: .blocking).map { $0 + 1 }.wait(for: limit)
                }.wait(for: limit)
            case .outcome:
                return try start.thenResult { .value(try $0.get() + 1, on: context) }.wait(
                    for: limit)
            case .enough:
                let failed = Promise<Int>.error(Failure("failed"), on: context)
                let early = any(
                    [(0, failed), (1, failed), (2, .never(on: context))], enough: 2)
                return try early.recover { error in
                    guard error is Failure else { throw error }
                    return any([(0, start), (1, failed)], enough: 1)
                }.map { try $0.requiredValue(for: 0) + 1 }.wait(for: limit)
            case .required:
                let failed = Promise<Int>.error(Failure("x"), on: context)
                let early = any([(0, failed), (1, .never(on: context))], required: [0])
                return try early.thenResult { result in
                    #expect(throws: Failure.self) { try result.get() }
                    return any([(0, start), (1, failed)], required: [0])
                }.map { try $0.requiredValue(for: 0) + 1 }.wait(for: limit)
            }
        }
    }

    @Test("F37, F69, F88: every wait ends", arguments: Chosen.allCases, counts)
    func everyWaitEnds(on chosen: Chosen, waiters: Int) async {
        await #expect(processExitsWith: .success) { [chosen, waiters] in
            let context = chosen.context
            for operation in Operation.allCases {
                let tasks = (0..<waiters).map { number in
                    Task.detached { (try? operation.wait(on: context, number)) == number + 1 }
                }
                for task in tasks where await !task.value { exit(2) }
            }
            exit(EXIT_SUCCESS)
        }
    }

    /// Jobs of a pool that wait for a promise of the same pool.
    @Test(arguments: counts)
    func jobsOfAPoolWaitForTheirOwnPool(waiters: Int) async throws {
        for limit in [1, waiters] {
            let pool = BlockingPool(threads: limit)
            let jobs = (0..<waiters).map { number in
                Promise(on: pool) {
                    try Promise.value(number, on: pool).map { $0 + 1 }.wait(for: .seconds(60))
                }
            }
            #expect(try await all(jobs).get() == Array(1...waiters))
        }
    }

    /// Threads of their own, all blocked at the same time.
    @Test(arguments: counts)
    func threadsWait(waiters: Int) async {
        await #expect(processExitsWith: .success) { [waiters] in
            let values = (0..<waiters).map { number in
                let end = Resolver<Int>().shared()
                Thread {
                    let value = try? Promise.value(number).map { $0 }.wait(for: .seconds(60))
                    end.fulfill(value ?? -1)
                }.start()
                return end.promise
            }
            exit(try await all(values).get() == Array(0..<waiters) ? EXIT_SUCCESS : 2)
        }
    }

    @Test(arguments: counts)
    func waitsForAContextThatNothingRunsTimeOut(waiters: Int) async {
        let tasks = (0..<waiters).map { _ in
            let pending = Journal<Promise<Int>>()
            // A manual context is current on the thread that made it.
            onAnotherThread { pending.add(Promise.value(1, on: ManualContext()).map { $0 }) }
            return Task.detached {
                for promise in pending.entries {
                    #expect(throws: PromiseError.timedOut) {
                        try promise.wait(for: .milliseconds(1))
                    }
                }
            }
        }
        for task in tasks { await task.value }
    }
}
