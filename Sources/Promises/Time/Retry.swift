// `retry`: the same work again after an error. `poll`: the same question again until it is
// answered.

/// How often work is tried again, and when.
public struct RetryPolicy: Sendable {
    /// How many times the work is begun at most, the first time included.
    public var maximumAttempts: Int

    /// How long to wait after the attempt of this number failed; the first is number 1. Called on
    /// the context of `retry`.
    public var delay: @Sendable (_ attempt: Int) -> Duration

    /// Whether the error of this attempt is worth another one. Called on the context of `retry`,
    /// before `delay`, and not about cancellation, which is never tried again.
    public var shouldRetry: @Sendable (any Error, _ attempt: Int) -> Bool

    /// Tries at most so many times, without delay and after any error by default. The
    /// closures are called on the context of `retry`, one at a time.
    public init(
        maximumAttempts: Int,
        delay: @escaping @Sendable (_ attempt: Int) -> Duration = { _ in .zero },
        shouldRetry: @escaping @Sendable (any Error, _ attempt: Int) -> Bool = { _, _ in true }
    ) {
        self.maximumAttempts = maximumAttempts
        self.delay = delay
        self.shouldRetry = shouldRetry
    }

    /// A delay that doubles with every attempt, up to a limit, less a part by chance so that many
    /// clients that failed together do not return together.
    ///
    /// - Parameters:
    ///   - first: the delay after the first attempt.
    ///   - limit: the longest delay.
    ///   - chance: a number from 0 up to 1: which part of the delay is left out. Called once for
    ///     each delay, on the context of `retry`. What is no number counts as 0.
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
    static func retry<Face: PromiseFace>(
        _ policy: RetryPolicy, placement: Placement, _ body: @escaping (Int) throws -> Face
    ) -> Node {
        guard policy.maximumAttempts > 0 else {
            return .failed(PromiseError.badInput, as: Face.Value.self, placement: placement)
        }
        let again = RepeatedWork(placement: placement, as: Face.Value.self) { attempt in
            try body(attempt).node
        } next: { attempt, outcome in
            guard case .failure(let error) = outcome, !error.isCancellation,
                attempt < policy.maximumAttempts, policy.shouldRetry(error, attempt)
            else { return nil }
            return policy.delay(attempt)
        }
        return again.result()
    }

    static func poll<Face: PromiseFace>(
        every interval: Duration, until isDone: @escaping (Face.Value) -> Bool,
        placement: Placement,
        _ body: @escaping () throws -> Face
    ) -> Node {
        let again = RepeatedWork(placement: placement, as: Face.Value.self) { _ in
            try body().node
        } next: { _, outcome in
            guard case .success(let value) = outcome, !isDone(value) else { return nil }
            return interval
        }
        return again.result()
    }
}

/// Begins work again and again; one node waits for each attempt and for each delay in turn.
private struct RepeatedWork<Value> {
    private let placement: Placement
    private let begin: (_ attempt: Int) throws -> Node
    /// How long to wait before the next attempt, or nil to be content with this outcome.
    private let next: (_ attempt: Int, Result<Value, any Error>) -> Duration?

    init(
        placement: Placement, as type: Value.Type,
        _ begin: @escaping (_ attempt: Int) throws -> Node,
        next: @escaping (_ attempt: Int, Result<Value, any Error>) -> Duration?
    ) {
        self.placement = placement.serial
        self.begin = begin
        self.next = next
    }

    func result() -> Node {
        let node = Node.make(Value.self, placement: placement) { node in attempt(1, for: node) }
        placement.context.enqueue(PromiseJob(node))
        return node
    }

    private func attempt(_ attempt: Int, for node: Node) {
        do {
            node.wait(for: try begin(attempt)) { node in
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
        guard !node.isDecided, let delay = next(attempt, outcome) else {
            _ = node.resolve(outcome)
            return
        }
        node.wait(for: .after(delay, placement: placement)) { node in
            _ = node.takeParent()
            self.attempt(attempt + 1, for: node)
        }
    }
}

/// Begins work, and begins it again after an error according to the policy. Gives the first value,
/// or the last error.
///
/// `body` runs on `context`, or else on the current one or the pool; the first time soon, not
/// inside this call. What it throws counts as an error of the attempt. Cancelling the result
/// withdraws from the attempt that is running, or ends the delay, and begins nothing more. Rejects
/// with `PromiseError.badInput` when no attempt is allowed.
public func retry<Value: Sendable>(
    _ policy: RetryPolicy, on context: (any ExecutionContext)? = nil,
    _ body: @escaping @Sendable (_ attempt: Int) throws -> Promise<Value>
) -> Promise<Value> {
    .init(Node.retry(policy, placement: .beginning(on: context), body))
}

/// Repeats the work until `isDone` returns true: gives that value, or the first error.
///
/// `body` runs on `context`, or else on the current one or the pool; the first time soon, not
/// inside this call, then each time `interval` after the last answer came. What it throws rejects,
/// and ends the asking like an error. Cancelling the result withdraws from the question that is
/// open, or ends the pause, and asks nothing more.
public func poll<Value: Sendable>(
    every interval: Duration, on context: (any ExecutionContext)? = nil,
    until isDone: @escaping @Sendable (Value) -> Bool,
    _ body: @escaping @Sendable () throws -> Promise<Value>
) -> Promise<Value> {
    .init(Node.poll(every: interval, until: isDone, placement: .beginning(on: context), body))
}

extension LocalContext {
    /// Begins work, and begins it again after an error according to the policy. Gives the first
    /// value, or the last error.
    ///
    /// `body` runs on the core; the first time soon, not inside this call. What it throws counts as
    /// an error of the attempt. Cancelling the result withdraws from the attempt that is running,
    /// or ends the delay, and begins nothing more. Rejects with `PromiseError.badInput` when no
    /// attempt is allowed.
    public func retry<Value>(
        _ policy: RetryPolicy, _ body: @escaping (_ attempt: Int) throws -> LocalPromise<Value>
    ) -> LocalPromise<Value> {
        .init(Node.retry(policy, placement: placement, body))
    }

    /// Repeats the work until `isDone` returns true: gives that value, or the first error.
    ///
    /// `body` runs on the core; the first time soon, not inside this call, then each time
    /// `interval` after the last answer came. What it throws rejects, and ends the asking like an
    /// error. Cancelling the result withdraws from the question that is open, or ends the pause,
    /// and asks nothing more.
    public func poll<Value>(
        every interval: Duration, until isDone: @escaping (Value) -> Bool,
        _ body: @escaping () throws -> LocalPromise<Value>
    ) -> LocalPromise<Value> {
        .init(Node.poll(every: interval, until: isDone, placement: placement, body))
    }
}
