#if canImport(Darwin)
    import Darwin
#endif

/// The main actor as a context: handlers run on the main thread, one at a time and in order.
///
/// The main thread must run Swift's main executor, as it does in an app and in a program whose main
/// function is `async`. `Promise.onMainActor` attaches handlers that may use what is isolated to
/// the main actor.
public final class MainActorContext: ExecutionContext {
    /// The one context of the main actor; `.mainActor` is its short form where an
    /// `ExecutionContext` is expected.
    public static let shared = MainActorContext()

    private let serialQueue = SerialQueue { body in Task.detached { @MainActor in body() } }

    private init() {}

    /// Whether the caller is a handler on the main actor.
    public var isCurrent: Bool { serialQueue.isCurrent }

    /// Whether the caller is a handler on the main actor, or, on Apple's systems, any code on the
    /// main thread. On other systems Swift cannot report which thread runs the main actor.
    public var isBlockedByCaller: Bool {
        #if canImport(Darwin)
            serialQueue.isCurrent || pthread_main_np() != 0
        #else
            serialQueue.isCurrent
        #endif
    }

    /// Runs the job soon, behind those that wait already. Called from any thread.
    public func enqueue(_ job: consuming PromiseJob) { serialQueue.enqueue(job) }

    /// Runs the job after a delay on the clock of the system. Called from any thread, and so is
    /// `cancel` of what it returns.
    public func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
        PoolTimer(job, after: delay, on: self)
    }
}

extension ExecutionContext where Self == MainActorContext {
    /// Handlers run on the main actor; see `MainActorContext`.
    public static var mainActor: MainActorContext { .shared }
}
