/// The closures of several `onCancel` calls of one root, in their order.
///
/// The root's step owns this list and runs it. So it is released with the step, when the root is
/// settled, and thousands of closures are called and released in a loop, not nested. Accessed by
/// the thread that has taken the step.
private final class CancellationClosures {
    private var bodies: [(Node) -> Void]

    init(_ bodies: [(Node) -> Void]) { self.bodies = bodies }

    func append(_ body: @escaping (Node) -> Void) { bodies.append(body) }

    func run(_ node: Node) {
        for body in bodies { body(node) }
    }
}

/// What a root with such a list stores as its handler: a weak reference to it.
private struct CancellationClosuresFinder {
    let find: () -> CancellationClosures?
}

extension Node {
    /// Sets a step that runs `step`, which the caller has taken from this root, and then `body`. The
    /// caller has disarmed the step, and holds the lock of `lockCancellation`.
    func setStep(_ step: NodeStep, followedBy body: @escaping (Node) -> Void) {
        if let closures = unsafe handlerPointer(CancellationClosuresFinder.self).pointee?.find() {
            closures.append(body)
            return setStep(step.take)
        }
        let closures = CancellationClosures([step.take, body])
        storeHandler(CancellationClosuresFinder { [weak closures] in closures })
        setStep { closures.run($0) }
    }
}
