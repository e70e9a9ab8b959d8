/// Cancellation by counted consumers: a node is cancelled when its last consumer
/// withdrew. Upwards in a loop, never nested.
extension Node {
    /// Rejects this node, then withdraws from what it waited for, and so on upwards.
    @usableFromInline
    func cancel(with error: any Error) {
        let claim = claim
        var old = claim.bits
        while old & Claim.decided == 0 {
            guard claim.replace(&old, with: Claim.cancelling(old)) else { continue }
            return withdrawUpwards(from: settle(decidedAt: old, cancelledBy: error), error)
        }
    }

    /// Withdraws one consumer that is not a node of its own.
    @usableFromInline
    func withdraw(with error: any Error) {
        guard let old = leave() else { return }
        withdrawUpwards(from: settle(decidedAt: old, cancelledBy: error), error)
    }

    /// Withdraws from a node that this one waited for, which is handed over; then from what that
    /// one waited for if it has no other consumer, and so on.
    private func withdrawUpwards(from above: NodeRef?, _ error: any Error) {
        var above = above
        var isOnLocalContext = isConfined
        while let one = above {
            let (isConfined, placement) = one.with { ($0.isConfined, $0.placement) }
            if isConfined, !isOnLocalContext, !placement.context.isCurrent {
                // A shared face of confined work: the rest of the way, and the last reference
                // perhaps, are its own thread's.
                let job = PromiseJob.job(on: placement) { _ in one.take().withdraw(with: error) }
                return placement.context.enqueue(job)
            }
            isOnLocalContext = isConfined
            let node = one.take()
            guard let old = node.leave() else { return }
            above = node.settle(decidedAt: old, cancelledBy: error)
        }
    }

    /// Rejects this node, undecided until now, and hands over the node that it waited for.
    private func settle(decidedAt old: UInt, cancelledBy error: any Error) -> NodeRef? {
        var above: NodeRef?
        var isArmed = false
        var watcher: NodeStep?
        if old & Claim.root != 0 {
            isArmed = old & Claim.started != 0
        } else if old & Claim.started == 0 {
            above = takeParentRef()
            watcher = takeStep()
            if old & Claim.watching == 0 {
                watcher = nil
                dropHandler()
            }
            // An input slot's; but a confined member may be its own input slot, and is about to
            // notify its result.
            if !isConfined { result = nil }
        }
        clear()
        write(error: error)
        publish(State.rejected)
        if isArmed { enqueueRun() }
        if let watcher {
            context.enqueue(.job(on: placement) { [self] _ in watcher.take(self) })
        }
        return above
    }

    /// Counts one consumer less. When it was the last, this takes the decision, unless another
    /// caller attached or decided meanwhile, or a reader is shielded, and gives the claim as it
    /// was.
    private func leave() -> UInt? {
        let claim = claim
        var bits = claim.add(Claim.withdrawn &- Claim.consumer)
        while bits & (Claim.decided | Claim.shielded) == 0, Claim.consumers(bits) == 0 {
            if claim.replace(&bits, with: Claim.cancelling(bits)) { return bits }
        }
        sweepIfCrowded(bits)
        return nil
    }

    /// Takes an observer back: it will not be called any more, and its node is freed with those of
    /// withdrawn consumers. For observers that do not hold this node.
    func detach(observer: Node) {
        observer.cancel(with: Cancelled())
        sweepIfCrowded(claim.add(Claim.withdrawn))
    }

    // MARK: Roots.

    /// Waits for the right to exchange what cancellation calls. Held for a few instructions.
    func lockCancellation() {
        while claim.insert(Claim.locked) & Claim.locked != 0 {}
    }

    func unlockCancellation() { _ = claim.remove(Claim.locked) }

    /// Arranges what happens when this root is cancelled; at once if it already was. Does nothing
    /// once the root follows another node.
    @usableFromInline
    func onCancel(_ body: @escaping (Node) -> Void) {
        lockCancellation()
        guard claim.bits & Claim.root != 0 else { return unlockCancellation() }
        // Disarmed while the closure is exchanged: a caller that decides now leaves the closure to
        // this one.
        let before = claim.remove(Claim.started)
        if before & Claim.decided != 0 {
            // Too late to arm. An earlier closure belongs to the caller that decided.
            if before & Claim.started != 0 { _ = claim.insert(Claim.started) }
            unlockCancellation()
            if before & Claim.cancelled != 0 { afterwards(body) }
            return
        }
        if before & Claim.started != 0, let first = takeStep() {
            setStep { node in
                first.take(node)
                body(node)
            }
        } else {
            setStep(body)
        }
        let old = claim.insert(Claim.started)
        let overlooked = old & Claim.decided != 0 ? takeStep() : nil
        unlockCancellation()
        if old & Claim.cancelled != 0, let overlooked { afterwards(overlooked.take) }
    }

    /// Runs when the error of a cancellation that has been decided can be seen: it may be being
    /// written just now.
    private func afterwards(_ body: @escaping (Node) -> Void) {
        push(Node.make(Void.self, placement: placement) { [self] _ in body(self) })
    }

    /// Gives a root its turn.
    private func enqueueRun() {
        placement.context.enqueue(PromiseJob(self))
    }

    // MARK: Moving waiters.

    /// Sweeps when most of the nodes on the stack are empty, so that the cost for each is constant.
    private func sweepIfCrowded(_ bits: UInt) {
        let ghosts = Claim.withdrawnNodes(bits)
        if bits & Claim.decided == 0, ghosts >= 16, ghosts > Claim.consumers(bits) { sweep() }
    }

    /// Frees the empty nodes that withdrawn consumers left on the stack.
    private func sweep() {
        guard let stack = holdWaiters() else { return }
        var (kept, last): (NodeRef?, NodeRef?) = (nil, nil)
        var freed: UInt = 0
        var rest = NodeRef(stack: stack)
        while let one = rest {
            rest = one.next
            if one.with({ $0.isDecided }) {
                freed += 1
                one.release()
            } else {
                one.next = nil
                if let last { last.next = one } else { kept = one }
                last = one
            }
        }
        _ = claim.add(0 &- freed &* Claim.withdrawn)
        returnWaiters(kept, oldest: last)
    }

    /// Takes the whole stack; others may add to a new one until it is given back.
    func holdWaiters() -> UInt? {
        let state = state
        var old = state.bits
        repeat {
            if old & State.tags != 0 || old == 0 { return nil }
        } while !state.replace(&old, with: State.busy)
        return old
    }

    /// Gives a held stack back, below the waiters that came meanwhile.
    func returnWaiters(_ held: NodeRef?, oldest: NodeRef?) {
        let state = state
        var (newest, oldest) = (held, oldest)
        var old = state.bits
        while true {
            if let newer = NodeRef(stack: old) {
                guard state.replace(&old, with: old & State.tags) else { continue }
                var tail = newer
                while let next = tail.next { tail = next }
                tail.next = newest
                newest = newer
                if oldest == nil { oldest = tail }
                old = state.bits
            } else if old & State.settled == 0 {
                if state.replace(&old, with: newest?.bits ?? 0) { return }
            } else {
                deliver(newest?.bits ?? 0)
                return deliverRest(old & State.settled)
            }
        }
    }
}
