/// A timer of a context, cancelled when its last reference is released.
///
/// The closure that waits for the timer owns it, so the timer is cancelled with the closure: at
/// once if the work settles first. Accessed on its context only, except by the first call and the
/// last.
@usableFromInline
final class OperatorTimer {
    private let placement: Placement
    /// The error of a timeout. Stored here, so that the closure captures only the timer and needs
    /// no allocation.
    @usableFromInline let error: () -> any Error
    /// Unchecked: no access calls other code.
    @exclusivity(unchecked) private var contextTimer: (any Cancellable)?

    @usableFromInline
    init(_ placement: Placement, _ error: @escaping () -> any Error = { PromiseError.timedOut }) {
        self.placement = placement
        self.error = error
    }

    deinit { cancel() }

    /// Runs the node's step after a delay, which counts from this call.
    @usableFromInline
    func schedule(_ node: Node, after delay: Duration) {
        let context = placement.context
        let delay = delay.boundedForTimers
        if placement.isConfined || context.isCurrent {
            unsafe contextTimer = context.schedule(after: delay, PromiseJob(node, isTimer: true))
            return
        }
        let start = context.clockReading
        context.enqueue(
            .job(on: placement) { [self] _ in
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
        if placement.isConfined || placement.context.isCurrent {
            timer.cancel(because: nil)
        } else {
            placement.context.enqueue(.job(on: placement) { _ in timer.cancel(because: nil) })
        }
    }
}
