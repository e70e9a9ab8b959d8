// Operators that depend on time. The context's clock counts, which may be virtual.

extension Node {
    @inlinable
    func timeout<Value>(
        _ type: Value.Type, _ limit: Duration, _ error: @escaping () -> any Error
    ) -> Node {
        let timer = OperatorTimer(sharedContext, error)
        let child = link(Value.self, on: timerContext) { child in
            timer.cancel()
            guard var parent = child.takeParent() else { return }
            if !parent.isPending { return child.inherit(Value.self, from: &parent) }
            let error = timer.error()
            child.reject(error)
            parent.withdraw(with: Cancelled(because: error))
        }
        timer.schedule(child, after: limit)
        return child
    }

    @inlinable
    func atLeast<Value>(_ type: Value.Type, _ minimum: Duration, holdingFailures: Bool) -> Node {
        let timer = OperatorTimer(sharedContext)
        // The child gets two turns, one for the outcome and one for the timer; the second one
        // passes the outcome on.
        let child = link(Value.self, on: timerContext) { child in
            guard var parent = child.takeParent() else { return }
            if parent.isRejected && !holdingFailures {
                timer.cancel()
                return child.inherit(Value.self, from: &parent)
            }
            _ = child.rearm(parent: parent) { child in
                timer.cancel()
                child.inherit(Value.self)
            }
        }
        timer.schedule(child, after: minimum)
        return child
    }

    @inlinable
    func delayed<Value>(_ type: Value.Type, by delay: Duration) -> Node {
        link(Value.self) { child in
            guard let value = child.receive(Value.self) else { return }
            child.wait(for: Node.after(delay, placement: child.placement)) { child in
                _ = child.takeParent()
                child.fulfill(value)
            }
        }
    }

    /// `SharedPool` if this node's context is not serial: the turn of the timer and the turn of the
    /// outcome must not run at the same time.
    @inlinable
    var timerContext: (any ExecutionContext)? {
        isConfined || placement.context.isSerial ? nil : SharedPool.shared
    }

    /// The context of this node's timers; nil if it is a local promise.
    @usableFromInline
    var sharedContext: (any ExecutionContext)? {
        isConfined ? nil : placement.serial.context
    }

    @usableFromInline
    static func after(_ delay: Duration, placement: Placement) -> Node {
        let placement = placement.serial
        let timer = OperatorTimer(placement.isConfined ? nil : placement.context)
        let node = make(Void.self, placement: placement) { node in
            timer.cancel()
            node.fulfill(())
        }
        timer.schedule(node, after: delay)
        return node
    }
}

extension Promise {
    /// Rejects when there is no outcome in time, and withdraws from the work.
    ///
    /// The time runs from this call, on the context's clock. `error` is evaluated after the
    /// timeout, in a turn of its own: `PromiseError.timedOut` by default. An outcome in time passes
    /// on and stops the timer; so does cancelling the result, which withdraws from the work.
    @inlinable
    public func timeout(
        _ limit: Duration,
        error: @autoclosure @escaping @Sendable () -> any Error = PromiseError.timedOut
    ) -> Promise {
        .init(node.timeout(Value.self, limit, error))
    }

    /// Holds the value back until `minimum` has passed since this call; errors too if
    /// `holdingFailures` is true.
    ///
    /// The time runs from this call, on the context's clock; the outcome of work that takes longer
    /// is not held back. Cancelling the result stops the timer and withdraws from the work.
    @inlinable
    public func atLeast(_ minimum: Duration, holdingFailures: Bool = false) -> Promise {
        .init(node.atLeast(Value.self, minimum, holdingFailures: holdingFailures))
    }

    /// Delays the value. Errors pass at once.
    ///
    /// Measured on the context's clock. Cancelling the result withdraws from the work, or stops the
    /// timer.
    @inlinable
    public func delayed(by delay: Duration) -> Promise {
        .init(node.delayed(Value.self, by: delay))
    }
}

extension LocalPromise {
    /// Rejects when there is no outcome in time, and withdraws from the work.
    ///
    /// The time runs from this call, on the context's clock. `error` is evaluated after the
    /// timeout, in a turn of its own: `PromiseError.timedOut` by default. An outcome in time passes
    /// on and stops the timer; so does cancelling the result, which withdraws from the work.
    @inlinable
    public func timeout(
        _ limit: Duration, error: @autoclosure @escaping () -> any Error = PromiseError.timedOut
    ) -> LocalPromise {
        .init(node.timeout(Value.self, limit, error))
    }

    /// Holds the value back until `minimum` has passed since this call; errors too if
    /// `holdingFailures` is true.
    ///
    /// The time runs from this call, on the context's clock; the outcome of work that takes longer
    /// is not held back. Cancelling the result stops the timer and withdraws from the work.
    @inlinable
    public func atLeast(_ minimum: Duration, holdingFailures: Bool = false) -> LocalPromise {
        .init(node.atLeast(Value.self, minimum, holdingFailures: holdingFailures))
    }

    /// Delays the value. Errors pass at once.
    ///
    /// Measured on the context's clock. Cancelling the result withdraws from the work, or stops the
    /// timer.
    @inlinable
    public func delayed(by delay: Duration) -> LocalPromise {
        .init(node.delayed(Value.self, by: delay))
    }
}
