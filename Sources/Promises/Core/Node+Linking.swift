/// The common parts of the operators: a child with a step, the outcome that it receives, and
/// adoption of another promise.
extension Node {
    /// A child that waits for this node and then runs `step`, on `context` or else on this node's.
    @inlinable
    func link<Out>(
        _ type: Out.Type, on context: (any ExecutionContext)? = nil,
        _ step: @escaping (Node) -> Void
    ) -> Node {
        let child = makeChild(Out.self, on: context, step)
        attach(child)
        return child
    }

    /// A child whose step also runs, without a parent, when the child was cancelled before its
    /// turn.
    @inlinable
    func watch<Out>(
        _ type: Out.Type, on context: (any ExecutionContext)? = nil,
        _ step: @escaping (Node) -> Void
    ) -> Node {
        let child = Node.make(
            Out.self, placement: context.map { .context($0) } ?? placement, parent: self,
            control: ControlBits.watching, step: step)
        attach(child)
        return child
    }

    /// A child whose step uses the caller's closure.
    @inlinable
    func link<Handler, Out>(
        _ type: Out.Type, on context: (any ExecutionContext)? = nil, handler: Handler,
        _ step: @escaping (Node) -> Void
    ) -> Node {
        let child = makeChild(Out.self, on: context, step)
        child.storeHandler(handler)
        attach(child)
        return child
    }

    /// A child that is not attached yet.
    @inlinable
    func makeChild<Out>(
        _ type: Out.Type, on context: (any ExecutionContext)?, _ step: @escaping (Node) -> Void
    ) -> Node {
        if let context {
            Node.make(Out.self, placement: .context(context), parent: self, step: step)
        } else {
            child(Out.self, step: step)
        }
    }

    /// In a step: the parent's value, or nil after the parent's error was passed on.
    @inlinable
    func receive<In>(_ type: In.Type) -> In? {
        guard var parent = takeParent() else { return nil }
        if parent.isRejected {
            reject(parent.error)
            return nil
        }
        // The last reader moves the value out.
        if parent.isUnique() { return parent.moveValue(as: In.self) }
        return parent.value(as: In.self)
    }

    /// In a step: the parent's error, or nil after the parent's value was passed on.
    @inlinable
    func receiveError<In>(passing type: In.Type) -> (any Error)? {
        guard var parent = takeParent() else { return nil }
        if parent.isRejected { return parent.error }
        inherit(In.self, from: &parent)
        return nil
    }

    /// In a step: the parent's outcome.
    @inlinable
    func receiveResult<In>(_ type: In.Type) -> Result<In, any Error>? {
        takeParent()?.result(as: In.self)
    }

    /// In a step: the parent's outcome becomes this node's.
    @inlinable
    func inherit<Value>(_ type: Value.Type) {
        guard var parent = takeParent() else { return }
        inherit(Value.self, from: &parent)
    }

    @inlinable
    func inherit<Value>(_ type: Value.Type, from parent: inout Node) {
        if parent.isRejected {
            reject(parent.error)
        } else if parent.isUnique() {
            fulfill(parent.moveValue(as: Value.self))
        } else {
            fulfill(parent.value(as: Value.self))
        }
    }

    /// In a step: the outcome of `inner` will be this node's.
    @inlinable
    func adopt<Value>(_ inner: Node, as type: Value.Type) {
        if !inner.isPending {
            _ = inner.control.insert(ControlBits.observed)
            setParent(inner)
            return inherit(Value.self)
        }
        wait(for: inner) { $0.inherit(Value.self) }
    }

    /// In a step: this node runs another step when `inner` is settled.
    @usableFromInline
    func wait(for inner: Node, _ step: @escaping (Node) -> Void) {
        if wouldWaitForItself(by: inner) {
            reject(PromiseError.resolvedWithItself)
            return
        }
        _ = inner.control.add(ControlBits.consumer)
        if rearm(parent: inner, step) { inner.push(self) }
    }

    /// In a step: sets another step. False if this node was cancelled meanwhile; it has then
    /// withdrawn.
    @usableFromInline
    func rearm(parent: Node, _ step: @escaping (Node) -> Void) -> Bool {
        setParent(parent)
        setStep(step)
        if control.remove(ControlBits.started) & ControlBits.decided == 0 { return true }
        _ = takeParent()
        dropStep()
        parent.withdraw(with: cancellationError)
        return false
    }

    /// Turns a root into a link that follows `inner`, or withdraws from `inner` if the root was
    /// cancelled. The producer can no longer settle it, and the closures of `onCancel` are dropped;
    /// another thread may call `onCancel` meanwhile.
    @usableFromInline
    func follow(_ inner: Node, _ step: @escaping (Node) -> Void) {
        if wouldWaitForItself(by: inner) {
            reject(PromiseError.resolvedWithItself)
            return
        }
        _ = inner.control.add(ControlBits.consumer)
        lockCancellation()
        if control.remove(ControlBits.started) & ControlBits.decided != 0 {
            unlockCancellation()
            return inner.withdraw(with: cancellationError)
        }
        setParent(inner)
        // Destroyed after the lock is released: the deinitialisers of what it captures may call
        // this node.
        let former = takeStep()
        setStep(step)
        let isPending = control.remove(ControlBits.root) & ControlBits.decided == 0
        unlockCancellation()
        withExtendedLifetime(former) {}
        if isPending { return inner.push(self) }
        _ = takeParent()
        dropStep()
        inner.withdraw(with: cancellationError)
    }

    /// The error of the cancellation that has decided this node; another thread may still be
    /// writing it.
    private var cancellationError: any Error { isRejected ? error : Cancelled() }
}
