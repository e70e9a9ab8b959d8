/// Settling once, attaching waiters, and running steps. Nothing here recurses, and only `runStep()`
/// runs user code: publishing only *enqueues* the waiters.
extension Node {
    // MARK: Settling.

    /// Takes the right to write the outcome; false if another caller was first.
    @inlinable
    func decide() -> Bool {
        let old = control.insert(ControlBits.decided)
        if old & ControlBits.decided != 0 { return false }
        // The cancellation closure of a root is not needed any more.
        if old & (ControlBits.root | ControlBits.started) == ControlBits.root | ControlBits.started
        {
            dropStep()
        }
        return true
    }

    @discardableResult @inlinable
    func fulfill<Value>(_ value: consuming Value) -> Bool {
        guard decide() else { return false }
        write(value)
        publish(StateBits.fulfilled)
        return true
    }

    @discardableResult @inlinable
    func reject(_ error: any Error) -> Bool {
        guard decide() else { return false }
        write(error: error)
        publish(StateBits.rejected)
        return true
    }

    /// Makes the written outcome visible, enqueues the waiters, oldest first, and notifies the
    /// result whose input slot this node is.
    @usableFromInline
    func publish(_ outcome: UInt) {
        settleState(outcome)
        if isConfined { notifyResult() }
    }

    private func settleState(_ outcome: UInt) {
        let state = state
        var old = state.bits
        while true {
            if old & StateBits.busy != 0 {
                // Another thread is moving the waiters, and delivers them when it reads the
                // outcome.
                if state.replace(&old, with: old | outcome) { return }
            } else if old == 0 {
                if state.replace(&old, with: outcome) { return }
            } else if state.replace(&old, with: isConfined ? outcome : outcome | StateBits.busy) {
                deliver(old)
                if !isConfined { deliverRest(outcome) }
                return
            }
        }
    }

    /// Delivers waiters that were attached during the delivery of others, in their order.
    func deliverRest(_ outcome: UInt) {
        let state = state
        var old = state.bits
        while true {
            if old & ~StateBits.tags == 0 {
                if state.replace(&old, with: outcome) { return }
            } else {
                let stack = old
                guard state.replace(&old, with: outcome | StateBits.busy) else { continue }
                deliver(stack)
                old = state.bits
            }
        }
    }

    /// Enqueues a stack of waiters, oldest first.
    func deliver(_ stack: UInt) {
        guard let newest = NodeRef(stack: stack) else { return }
        // There is nearly always exactly one.
        guard newest.next != nil else { return enqueue(newest) }
        var (rest, _) = NodeRef.reversed(newest)
        while let one = rest {
            rest = one.next
            enqueue(one)
        }
    }

    // MARK: Waiting.

    /// Attaches a waiter that counts as a consumer.
    @inlinable
    func attach(_ child: Node) {
        _ = control.add(ControlBits.consumer)
        push(child)
    }

    /// Attaches an observer, which does not count as a consumer.
    @inlinable
    func attach(observer: Node) {
        _ = control.insert(ControlBits.observed)
        push(observer)
    }

    /// Puts a waiter on the stack, which then owns it; or enqueues it if there is an outcome.
    @usableFromInline
    func push(_ child: Node) {
        let state = state
        let owned = NodeRef(retaining: child)
        var old = state.bits
        while true {
            if old & StateBits.settled != 0, old & StateBits.busy == 0 { return enqueue(owned) }
            child.next = NodeRef(stack: old)
            if state.replace(&old, with: owned.bits | (old & StateBits.tags)) { return }
        }
    }

    /// Enqueues an owned waiter of this node on its context.
    @usableFromInline
    func enqueue(_ child: NodeRef) {
        if isConfined, let readyQueue = unsafe child.with({ unsafe $0.readyQueue }) {
            // Both nodes are confined, so this is their thread.
            unsafe readyQueue._withUnsafeGuaranteedRef { $0.append(child) }
        } else {
            child.with { $0.context }.enqueue(PromiseJob(owned: child, isTimer: false))
        }
    }

    // MARK: Running.

    /// Runs the step of a link, or the cancellation closure of a cancelled root. Late and repeated
    /// calls do nothing.
    @usableFromInline
    func runStep() {
        let old = control.insert(ControlBits.started)
        if old & ControlBits.root == 0, old & (ControlBits.decided | ControlBits.started) != 0 {
            return
        }
        takeStep()?(self)
    }
}
