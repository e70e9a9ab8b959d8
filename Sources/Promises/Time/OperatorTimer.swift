/// A timer of a context, cancelled when its last reference is released.
///
/// The closure that waits for the timer owns it, so the timer is cancelled with the closure: at
/// once if the work settles first. Accessed on its context only, except by the first call and the
/// last.
@usableFromInline
final class OperatorTimer {
    /// Nil for a local promise, whose thread alone uses the timer.
    private let sharedContext: (any ExecutionContext)?
    /// The error of a timeout. Stored here, so that the closure captures only the timer and needs
    /// no allocation.
    @usableFromInline let error: () -> any Error
    /// Unchecked: no access calls other code.
    @exclusivity(unchecked) private var contextTimer: (any Cancellable)?

    @usableFromInline
    init(
        _ sharedContext: (any ExecutionContext)?,
        _ error: @escaping () -> any Error = { PromiseError.timedOut }
    ) {
        self.sharedContext = sharedContext
        self.error = error
    }

    deinit { cancel() }

    /// Runs the node's step after a delay, which counts from this call.
    @usableFromInline
    func schedule(_ node: Node, after delay: Duration) {
        let delay = delay.boundedForTimers
        guard let context = sharedContext, !context.isCurrent else {
            let job = PromiseJob(node, isTimer: true)
            unsafe contextTimer = (sharedContext ?? node.context).schedule(after: delay, job)
            return
        }
        let start = context.clockReading
        context.enqueue(
            .job(on: .context(context)) { [self] _ in
                guard !node.isDecided else { return }
                // The context may have been busy since the call.
                let passed = max(context.clockReading - start, .zero)
                unsafe contextTimer = context.schedule(
                    after: max(delay - passed, .zero), PromiseJob(node, isTimer: true))
            })
    }

    /// Stops the timer. Does nothing if it has fired.
    @usableFromInline
    func cancel() {
        guard let timer = unsafe contextTimer.take() else { return }
        if let context = sharedContext, !context.isCurrent {
            context.enqueue(.job(on: .context(context)) { _ in timer.cancel(because: nil) })
        } else {
            timer.cancel(because: nil)
        }
    }
}
