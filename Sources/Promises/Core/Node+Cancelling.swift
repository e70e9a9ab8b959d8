/// Cancellation by counted consumers: a node is cancelled when its last consumer has withdrawn. A
/// loop goes from parent to parent, so that calls never nest.
extension Node {
    /// Rejects this node, then withdraws from its parent, and so on upwards.
    @usableFromInline
    func cancel(with error: any Error) {
        let control = control
        var old = control.bits
        while old & ControlBits.decided == 0 {
            guard control.replace(&old, with: ControlBits.cancelling(old)) else { continue }
            return withdrawUpwards(from: settle(decidedAt: old, cancelledBy: error), error)
        }
    }

    /// Withdraws one consumer that is not a node on the waiter stack.
    @usableFromInline
    func withdraw(with error: any Error) {
        guard let old = removeConsumer() else { return }
        withdrawUpwards(from: settle(decidedAt: old, cancelledBy: error), error)
    }

    /// Withdraws from `parent`, whose reference it takes over; then from the parent's parent if
    /// `parent` has no other consumer, and so on.
    private func withdrawUpwards(from parent: NodeRef?, _ error: any Error) {
        var parent = parent
        var isOnLocalContext = isConfined
        while let one = parent {
            let (isConfined, placement) = one.with { ($0.isConfined, $0.placement) }
            if isConfined, !isOnLocalContext, !placement.context.isCurrent {
                // The parent is confined to another thread: its thread withdraws from it, and
                // releases what may be the last reference.
                let job = PromiseJob.job(on: placement) { _ in one.take().withdraw(with: error) }
                return placement.context.enqueue(job)
            }
            isOnLocalContext = isConfined
            let node = one.take()
            guard let old = node.removeConsumer() else { return }
            parent = node.settle(decidedAt: old, cancelledBy: error)
        }
    }

    /// Rejects this node, which the caller has just decided, and returns its parent.
    ///
    /// - Parameter old: the control word before the decision
    private func settle(decidedAt old: UInt, cancelledBy error: any Error) -> NodeRef? {
        var parent: NodeRef?
        // Whether a cancellation closure is set.
        var isArmed = false
        var watchingStep: NodeStep?
        if old & ControlBits.root != 0 {
            isArmed = old & ControlBits.started != 0
        } else if old & ControlBits.started == 0 {
            parent = takeParentRef()
            watchingStep = takeStep()
            if old & ControlBits.watching == 0 {
                watchingStep = nil
                dropHandler()
            }
            // The result of an input slot. A confined input may be its own input slot, and is about
            // to notify its result.
            if !isConfined { dropResult() }
        }
        clear()
        write(error: error)
        publish(StateBits.rejected)
        if isArmed { enqueueStep() }
        if let watchingStep {
            context.enqueue(.job(on: placement) { [self] _ in watchingStep.take(self) })
        }
        return parent
    }

    /// Counts one consumer less. If it was the last one, decides the node and returns the control
    /// word as it was, unless another caller attached or decided meanwhile, or a reader is
    /// shielded.
    private func removeConsumer() -> UInt? {
        let control = control
        var bits = control.add(ControlBits.withdrawn &- ControlBits.consumer)
        while bits & (ControlBits.decided | ControlBits.shielded) == 0,
            ControlBits.consumers(bits) == 0
        {
            if control.replace(&bits, with: ControlBits.cancelling(bits)) { return bits }
        }
        sweepIfDue(bits)
        return nil
    }

    /// Removes an observer: it is not called any more, and its node is freed with the nodes of
    /// withdrawn consumers. For observers that do not hold this node.
    func detach(observer: Node) {
        observer.cancel(with: Cancelled())
        sweepIfDue(control.add(ControlBits.withdrawn))
    }

    // MARK: Roots.

    /// Locks the cancellation closure, for a few instructions.
    func lockCancellation() {
        while control.insert(ControlBits.locked) & ControlBits.locked != 0 {}
    }

    func unlockCancellation() { _ = control.remove(ControlBits.locked) }

    /// Sets the closure that runs when this root is cancelled; it runs soon if the root already
    /// was. Does nothing once the root follows another node.
    @usableFromInline
    func onCancel(_ body: @escaping (Node) -> Void) {
        lockCancellation()
        guard control.bits & ControlBits.root != 0 else { return unlockCancellation() }
        // Disarmed while the closure is exchanged: a thread that decides now leaves the closure to
        // this one.
        let before = control.remove(ControlBits.started)
        if before & ControlBits.decided != 0 {
            // Too late to arm. An earlier closure belongs to the thread that decided.
            if before & ControlBits.started != 0 { _ = control.insert(ControlBits.started) }
            unlockCancellation()
            if before & ControlBits.cancelled != 0 { runWhenSettled(body) }
            return
        }
        if before & ControlBits.started != 0, let earlier = takeStep() {
            setStep(earlier, followedBy: body)
        } else {
            setStep(body)
        }
        let old = control.insert(ControlBits.started)
        let unusedStep = old & ControlBits.decided != 0 ? takeStep() : nil
        unlockCancellation()
        if old & ControlBits.cancelled != 0, let unusedStep { runWhenSettled(unusedStep.take) }
    }

    /// Runs `body` when the error of a decided cancellation is visible; another thread may still be
    /// writing it.
    private func runWhenSettled(_ body: @escaping (Node) -> Void) {
        push(Node.make(Void.self, placement: placement) { [self] _ in body(self) })
    }

    /// Enqueues the cancellation step of a root.
    private func enqueueStep() {
        placement.context.enqueue(PromiseJob(self))
    }

    // MARK: Moving waiters.

    /// Withdrawals before the first sweep, and after each in addition to the nodes that it kept.
    private static let withdrawalsBetweenSweeps = 16

    /// Frees the withdrawn nodes after at least as many withdrawals as the last sweep kept nodes, so
    /// that the cost of each withdrawal is constant.
    private func sweepIfDue(_ bits: UInt) {
        if bits & ControlBits.decided == 0,
            ControlBits.withdrawals(bits) >= Node.withdrawalsBetweenSweeps
        {
            sweep()
        }
    }

    /// Frees the withdrawn nodes on the waiter stack.
    private func sweep() {
        guard let stack = takeWaiters() else { return }
        var (first, last): (NodeRef?, NodeRef?) = (nil, nil)
        var kept = 0
        var rest = NodeRef(stack: stack)
        while let one = rest {
            rest = one.next
            if one.with({ $0.isDecided }) {
                one.release()
            } else {
                kept += 1
                one.next = nil
                if let last { last.next = one } else { first = one }
                last = one
            }
        }
        let change = -(ControlBits.withdrawals(control.bits) + kept)
        _ = control.add(UInt(bitPattern: change) &* ControlBits.withdrawn)
        putBackWaiters(first)
    }

    /// Takes the whole waiter stack; other threads may add to a new one until it is put back.
    func takeWaiters() -> UInt? {
        let state = state
        var old = state.bits
        repeat {
            if old & StateBits.tags != 0 || old == 0 { return nil }
        } while !state.replace(&old, with: StateBits.busy)
        return old
    }

    /// Puts the taken stack back, below the waiters that were added meanwhile.
    func putBackWaiters(_ taken: NodeRef?) {
        let state = state
        var newest = taken
        var old = state.bits
        while true {
            if let newer = NodeRef(stack: old) {
                guard state.replace(&old, with: old & StateBits.tags) else { continue }
                var tail = newer
                while let next = tail.next { tail = next }
                tail.next = newest
                newest = newer
                old = state.bits
            } else if old & StateBits.settled == 0 {
                if state.replace(&old, with: newest?.bits ?? 0) { return }
            } else {
                deliver(newest?.bits ?? 0)
                return deliverRest(old & StateBits.settled)
            }
        }
    }
}
