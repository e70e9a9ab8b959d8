/// What every operator is made of: a child with a step, the outcome it receives, and adoption.
extension Node {
    /// A child that waits for this node and then takes `step`, on its own context or this node's.
    @inlinable
    func link<Out>(
        _ type: Out.Type, on context: (any ExecutionContext)? = nil,
        _ step: @escaping (Node) -> Void
    ) -> Node {
        let child = waiting(Out.self, on: context, step)
        attach(child)
        return child
    }

    /// A child like that, whose step is also taken, without a parent, when the child has been
    /// cancelled before its turn.
    @inlinable
    func watch<Out>(
        _ type: Out.Type, on context: (any ExecutionContext)? = nil,
        _ step: @escaping (Node) -> Void
    ) -> Node {
        let child = Node.make(
            Out.self, placement: context.map { .context($0) } ?? placement, parent: self,
            claim: Claim.watching, step: step)
        attach(child)
        return child
    }

    /// A child whose step takes the caller's closure.
    @inlinable
    func link<Handler, Out>(
        _ type: Out.Type, on context: (any ExecutionContext)? = nil, keeping handler: Handler,
        _ step: @escaping (Node) -> Void
    ) -> Node {
        let child = waiting(Out.self, on: context, step)
        child.keep(handler)
        attach(child)
        return child
    }

    /// A child that is not attached yet.
    @inlinable
    func waiting<Out>(
        _ type: Out.Type, on context: (any ExecutionContext)?, _ step: @escaping (Node) -> Void
    ) -> Node {
        if let context {
            Node.make(Out.self, placement: .context(context), parent: self, step: step)
        } else {
            child(Out.self, step: step)
        }
    }

    /// In a step: the value from above, or nil after the error from above was passed on.
    @inlinable
    func receive<In>(_ type: In.Type) -> In? {
        guard var above = takeParent() else { return nil }
        if above.isRejected {
            reject(above.error)
            return nil
        }
        // The last reader may move the value out.
        if above.isUnique() { return above.moveValue(as: In.self) }
        return above.value(as: In.self)
    }

    /// In a step: the error from above, or nil after the value from above was passed on.
    @inlinable
    func receiveError<In>(passing type: In.Type) -> (any Error)? {
        guard var above = takeParent() else { return nil }
        if above.isRejected { return above.error }
        inherit(In.self, from: &above)
        return nil
    }

    /// In a step: the outcome from above.
    @inlinable
    func receiveResult<In>(_ type: In.Type) -> Result<In, any Error>? {
        takeParent()?.result(as: In.self)
    }

    /// In a step: the outcome from above becomes this node's.
    @inlinable
    func inherit<Value>(_ type: Value.Type) {
        guard var above = takeParent() else { return }
        inherit(Value.self, from: &above)
    }

    @inlinable
    func inherit<Value>(_ type: Value.Type, from above: inout Node) {
        if above.isRejected {
            reject(above.error)
        } else if above.isUnique() {
            fulfill(above.moveValue(as: Value.self))
        } else {
            fulfill(above.value(as: Value.self))
        }
    }

    /// In a step: the outcome of `inner` will be this node's.
    @inlinable
    func adopt<Value>(_ inner: Node, as type: Value.Type) {
        if !inner.isPending {
            _ = inner.claim.insert(Claim.observed)
            setParent(inner)
            return inherit(Value.self)
        }
        wait(for: inner) { $0.inherit(Value.self) }
    }

    /// In a step: this node's next step is taken when `inner` is settled.
    @usableFromInline
    func wait(for inner: Node, _ step: @escaping (Node) -> Void) {
        if wouldWaitForItself(by: inner) {
            reject(PromiseError.resolvedWithItself)
            return
        }
        _ = inner.claim.add(Claim.consumer)
        if rearm(parent: inner, step) { inner.push(self) }
    }

    /// In a step: arranges another one. False if this node was cancelled meanwhile; it has then
    /// withdrawn.
    @usableFromInline
    func rearm(parent above: Node, _ step: @escaping (Node) -> Void) -> Bool {
        setParent(above)
        setStep(step)
        if claim.remove(Claim.started) & Claim.decided == 0 { return true }
        _ = takeParent()
        dropStep()
        above.withdraw(with: isRejected ? error : Cancelled())
        return false
    }

    /// Turns a root into a link that follows `inner`. The producer's right to settle ends here, and
    /// what `onCancel` was given is dropped; another thread may be giving it something meanwhile.
    @usableFromInline
    func follow(_ inner: Node, _ step: @escaping (Node) -> Void) {
        if wouldWaitForItself(by: inner) {
            reject(PromiseError.resolvedWithItself)
            return
        }
        lockCancellation()
        if claim.remove(Claim.started) & Claim.decided != 0 { return unlockCancellation() }
        _ = inner.claim.add(Claim.consumer)
        setParent(inner)
        // Destroyed when the lock is released: what the user's closure holds may come back here.
        let former = takeStep()
        setStep(step)
        let isPending = claim.remove(Claim.root) & Claim.decided == 0
        unlockCancellation()
        withExtendedLifetime(former) {}
        if isPending { return inner.push(self) }
        _ = takeParent()
        dropStep()
        inner.withdraw(with: isRejected ? error : Cancelled())
    }
}
