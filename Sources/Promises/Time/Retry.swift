// `retry` repeats work after an error. `poll` repeats work until its value satisfies a condition.

/// How often and when `retry` repeats work.
public struct RetryPolicy: Sendable {
    /// The maximum number of attempts, the first one included.
    public var maximumAttempts: Int

    /// The delay after the attempt with this number has failed; the first is number 1. Called on
    /// the context of `retry`, or on `SharedPool` if that context is not serial.
    public var delay: @Sendable (_ attempt: Int) -> Duration

    /// Whether to retry after this error. Called where `delay` is, before it; not called for a
    /// cancellation, which is never retried.
    public var shouldRetry: @Sendable (any Error, _ attempt: Int) -> Bool

    /// A policy with a maximum of attempts; by default without delay and after any error. The
    /// closures run one at a time.
    public init(
        maximumAttempts: Int,
        delay: @escaping @Sendable (_ attempt: Int) -> Duration = { _ in .zero },
        shouldRetry: @escaping @Sendable (any Error, _ attempt: Int) -> Bool = { _, _ in true }
    ) {
        self.maximumAttempts = maximumAttempts
        self.delay = delay
        self.shouldRetry = shouldRetry
    }

    /// A delay that doubles with every attempt, up to a limit, less a random part (jitter), so that
    /// clients that failed together do not retry together.
    ///
    /// - Parameters:
    ///   - first: the delay after the first attempt.
    ///   - limit: the longest delay.
    ///   - chance: a random number from 0 to 1: the part of the delay that is left out. Called once
    ///     for each delay, where `delay` is. NaN counts as 0.
    public static func backoff(
        from first: Duration, upTo limit: Duration,
        chance: @escaping @Sendable () -> Double = { 0 }
    ) -> @Sendable (_ attempt: Int) -> Duration {
        let (first, limit) = (first.boundedForTimers, limit.boundedForTimers)
        return { attempt in
            let doublings = min(max(attempt, 1) - 1, 30)
            let delay = min(first * (1 << doublings), limit)
            let chance = chance()
            return delay * (chance > 0 ? 1 - min(chance, 1) : 1)
        }
    }
}

extension Node {
    /// One node that waits for one attempt, then for one delay, and so on.
    static func retry<Handle: NodeHandle>(
        _ policy: RetryPolicy, placement: Placement, _ body: @escaping (Int) throws -> Handle
    ) -> Node {
        guard policy.maximumAttempts > 0 else {
            return .failed(PromiseError.badInput, as: Handle.Value.self, placement: placement)
        }
        let repeatedWork = RepeatedWork(placement: placement, as: Handle.Value.self) { attempt in
            try placement.start { try body(attempt) }
        } delayBeforeNext: { attempt, outcome in
            guard case .failure(let error) = outcome, !error.isCancellation,
                attempt < policy.maximumAttempts, policy.shouldRetry(error, attempt)
            else { return nil }
            return policy.delay(attempt)
        }
        return repeatedWork.result()
    }

    static func poll<Handle: NodeHandle>(
        every interval: Duration, until isDone: @escaping (Handle.Value) -> Bool,
        placement: Placement,
        _ body: @escaping () throws -> Handle
    ) -> Node {
        let repeatedWork = RepeatedWork(placement: placement, as: Handle.Value.self) { _ in
            try placement.start(body)
        } delayBeforeNext: { _, outcome in
            guard case .success(let value) = outcome, !isDone(value) else { return nil }
            return interval
        }
        return repeatedWork.result()
    }
}

/// Repeats work; one node waits for each attempt and for each delay in turn.
private struct RepeatedWork<Value> {
    private let placement: Placement
    private let startAttempt: (_ attempt: Int) throws -> Node
    /// The delay before the next attempt, or nil to settle with this outcome.
    private let delayBeforeNext: (_ attempt: Int, Result<Value, any Error>) -> Duration?

    init(
        placement: Placement, as type: Value.Type,
        _ startAttempt: @escaping (_ attempt: Int) throws -> Node,
        delayBeforeNext: @escaping (_ attempt: Int, Result<Value, any Error>) -> Duration?
    ) {
        self.placement = placement.serial
        self.startAttempt = startAttempt
        self.delayBeforeNext = delayBeforeNext
    }

    func result() -> Node {
        let node = Node.make(Value.self, placement: placement) { node in runAttempt(1, for: node) }
        placement.context.enqueue(PromiseJob(node))
        return node
    }

    private func runAttempt(_ attempt: Int, for node: Node) {
        do {
            node.wait(for: try startAttempt(attempt)) { node in
                if let outcome = node.receiveResult(Value.self) {
                    handle(outcome, of: attempt, for: node)
                }
            }
        } catch {
            handle(.failure(error), of: attempt, for: node)
        }
    }

    private func handle(_ outcome: Result<Value, any Error>, of attempt: Int, for node: Node) {
        // A cancelled node starts no further attempt.
        guard !node.isDecided, let delay = delayBeforeNext(attempt, outcome) else {
            _ = node.resolve(outcome)
            return
        }
        node.wait(for: .after(delay, placement: placement)) { node in
            _ = node.takeParent()
            runAttempt(attempt + 1, for: node)
        }
    }
}

/// Starts work, and repeats it after an error according to the policy. Gives the first value, or
/// the last error.
///
/// `body` runs on `context`, or else on the current context or `SharedPool`; the first time soon,
/// not inside this call. What it throws counts as an error of the attempt. Cancelling the result
/// withdraws from the running attempt, or ends the delay, and starts nothing more. Rejects with
/// `PromiseError.badInput` when no attempt is allowed.
public func retry<Value: Sendable>(
    _ policy: RetryPolicy, on context: (any ExecutionContext)? = nil,
    _ body: @escaping @Sendable (_ attempt: Int) throws -> Promise<Value>
) -> Promise<Value> {
    .init(Node.retry(policy, placement: .forNewChain(on: context), body))
}

/// Repeats the work until `isDone` returns true: gives that value, or the first error.
///
/// `body` runs on `context`, or else on the current context or `SharedPool`; the first time soon,
/// not inside this call, then each time `interval` after the last outcome. What it throws rejects,
/// and ends the polling like an error. `isDone` runs there too, or on `SharedPool` if that context is
/// not serial. Cancelling the result withdraws from the running attempt, or ends the pause, and
/// starts nothing more.
public func poll<Value: Sendable>(
    every interval: Duration, on context: (any ExecutionContext)? = nil,
    until isDone: @escaping @Sendable (Value) -> Bool,
    _ body: @escaping @Sendable () throws -> Promise<Value>
) -> Promise<Value> {
    .init(Node.poll(every: interval, until: isDone, placement: .forNewChain(on: context), body))
}

extension LocalContext {
    /// Starts work, and repeats it after an error according to the policy. Gives the first value,
    /// or the last error.
    ///
    /// `body` runs on the local context; the first time soon, not inside this call. What it throws
    /// counts as an error of the attempt. Cancelling the result withdraws from the running attempt,
    /// or ends the delay, and starts nothing more. Rejects with `PromiseError.badInput` when no
    /// attempt is allowed.
    public func retry<Value>(
        _ policy: RetryPolicy, _ body: @escaping (_ attempt: Int) throws -> LocalPromise<Value>
    ) -> LocalPromise<Value> {
        .init(Node.retry(policy, placement: placement, body))
    }

    /// Repeats the work until `isDone` returns true: gives that value, or the first error.
    ///
    /// `body` runs on the local context; the first time soon, not inside this call, then each time
    /// `interval` after the last outcome. What it throws rejects, and ends the polling like an
    /// error. Cancelling the result withdraws from the running attempt, or ends the pause, and
    /// starts nothing more.
    public func poll<Value>(
        every interval: Duration, until isDone: @escaping (Value) -> Bool,
        _ body: @escaping () throws -> LocalPromise<Value>
    ) -> LocalPromise<Value> {
        .init(Node.poll(every: interval, until: isDone, placement: placement, body))
    }
}
