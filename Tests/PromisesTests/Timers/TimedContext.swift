import Dispatch
import Promises
import PromisesDispatch
import Testing

/// A kind of context, and how a test lets its time pass.
enum TimedContext: CaseIterable, Sendable {
    case manual, pool, queue, concurrentQueue, executor, inline, loop

    /// The serial contexts, which may have a `LocalContext`.
    static let serial = allCases.filter { $0 != .inline }
    /// The serial contexts that run handlers by themselves, and so can be busy.
    static let selfDriven: [TimedContext] = serial.filter { $0 != .manual }

    /// Calls the body with a new context of this kind.
    func use(_ body: (any ExecutionContext) async throws -> Void) async rethrows {
        switch self {
        case .manual: try await body(ManualContext())
        case .pool: try await body(SharedPool.shared)
        case .queue: try await body(QueueContext(DispatchQueue(label: "timers")))
        case .concurrentQueue:
            try await body(
                QueueContext(DispatchQueue(label: "timers", attributes: .concurrent)))
        case .executor: try await body(ExecutorContext(QueueExecutor()))
        case .inline: try await body(.inline)
        case .loop:
            let loop = LoopContext()
            try await body(loop)
            loop.stop()
        }
    }

    /// Waits until the promises are settled; advances virtual time.
    func settle<Value>(_ promises: [Promise<Value>], on context: any ExecutionContext) async {
        if let manual = context as? ManualContext {
            manual.claim()
            return manual.advance(by: .seconds(1))
        }
        for promise in promises { _ = await promise.settled.get() }
    }

    /// Runs the body as a handler on a context.
    func run<Value: Sendable>(
        on context: any ExecutionContext, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let promise = Promise(on: context, body)
        guard let manual = context as? ManualContext else { return try await promise.get() }
        manual.claim()
        manual.drain()
        return try #require(promise.value)
    }
}

/// An executor with several threads.
final class QueueExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "executor", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Keeps a context busy until `stop` is called.
final class Blocker: Sendable {
    private let end = DispatchSemaphore(value: 0)

    /// Returns when the context is busy.
    init(on context: any ExecutionContext) {
        let begin = DispatchSemaphore(value: 0)
        Promise(on: context) { [end] in
            begin.signal()
            end.wait()
        }.cauterize()
        begin.wait()
    }

    func stop() { end.signal() }
}
