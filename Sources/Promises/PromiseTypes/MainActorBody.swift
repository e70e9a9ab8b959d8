/// Owns a closure that is isolated to the main actor.
///
/// The closure may own objects that only the main actor may use, so its last reference is released
/// there: in the turn that called it, or, if another thread has cancelled the promise, in a job of
/// `MainActorContext`.
@safe
final class MainActorBody<Closure: Sendable>: Sendable {
    private final class Owner: Sendable {
        let closure: Closure
        init(_ closure: Closure) { self.closure = closure }
    }

    /// Counted by hand: a thread that passed a counted reference to a job might release its own
    /// after the job has run.
    private let owner: Unmanaged<Owner>

    init(_ closure: Closure) { unsafe owner = Unmanaged.passRetained(Owner(closure)) }

    deinit {
        let owner = unsafe owner
        let context: any ExecutionContext = .mainActor
        if context.isCurrent {
            unsafe owner.release()
        } else {
            context.enqueue(.job(on: .context(context)) { _ in unsafe owner.release() })
        }
    }

    /// Passes the closure to `body`. Called on the main actor.
    func call<Result: Sendable>(_ body: @MainActor (Closure) throws -> Result) rethrows -> Result {
        try MainActor.assumeIsolated {
            try body(unsafe owner._withUnsafeGuaranteedRef { $0.closure })
        }
    }
}
