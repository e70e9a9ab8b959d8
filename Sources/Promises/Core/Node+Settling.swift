/// Settling once, waiting, and taking one's turn. Nothing here recurses and nothing here runs user
/// code but `run()`: publishing only *enqueues* the waiters.
extension Node {
    // MARK: Settling.

    /// Claims the right to write the outcome; false if another caller was first.
    @inlinable
    func decide() -> Bool {
        let old = claim.insert(Claim.decided)
        if old & Claim.decided != 0 { return false }
        // A root that armed itself against cancellation needs that closure no more.
        if old & (Claim.root | Claim.started) == Claim.root | Claim.started { dropStep() }
        return true
    }

    @discardableResult @inlinable
    func fulfill<Value>(_ value: consuming Value) -> Bool {
        guard decide() else { return false }
        write(value)
        publish(State.fulfilled)
        return true
    }

    @discardableResult @inlinable
    func reject(_ error: any Error) -> Bool {
        guard decide() else { return false }
        write(error: error)
        publish(State.rejected)
        return true
    }

    /// Makes the written outcome visible, enqueues the waiters, oldest first, and notifies the
    /// result in which this node sits.
    @usableFromInline
    func publish(_ outcome: UInt) {
        settleState(outcome)
        if isConfined { arriveAsInput() }
    }

    private func settleState(_ outcome: UInt) {
        let state = state
        var old = state.bits
        while true {
            if old & State.busy != 0 {
                // Another thread is moving the waiters, and delivers them when it sees the outcome.
                if state.replace(&old, with: old | outcome) { return }
            } else if old == 0 {
                if state.replace(&old, with: outcome) { return }
            } else if state.replace(&old, with: isConfined ? outcome : outcome | State.busy) {
                deliver(old)
                if !isConfined { deliverRest(outcome) }
                return
            }
        }
    }

    /// Delivers waiters that were attached while others were being delivered, so that all keep
    /// their order.
    func deliverRest(_ outcome: UInt) {
        let state = state
        var old = state.bits
        while true {
            if old & ~State.tags == 0 {
                if state.replace(&old, with: outcome) { return }
            } else {
                let stack = old
                guard state.replace(&old, with: outcome | State.busy) else { continue }
                deliver(stack)
                old = state.bits
            }
        }
    }

    /// Enqueues a stack of waiters, oldest first.
    func deliver(_ stack: UInt) {
        guard let newest = NodeRef(stack: stack) else { return }
        // Nearly always there is one.
        guard newest.next != nil else { return enqueue(newest) }
        var (rest, _) = NodeRef.reversed(newest)
        while let one = rest {
            rest = one.next
            enqueue(one)
        }
    }

    // MARK: Waiting.

    /// Counts a consumer and lets it wait.
    @inlinable
    func attach(_ child: Node) {
        _ = claim.add(Claim.consumer)
        push(child)
    }

    /// Lets an observer wait that keeps no work going.
    @inlinable
    func attach(observer: Node) {
        _ = claim.insert(Claim.observed)
        push(observer)
    }

    /// Puts a waiter on the stack, which then owns it; or enqueues it if there is an outcome.
    @usableFromInline
    func push(_ child: Node) {
        let state = state
        let owned = NodeRef(retaining: child)
        var old = state.bits
        while true {
            if old & State.settled != 0, old & State.busy == 0 { return enqueue(owned) }
            child.next = NodeRef(stack: old)
            if state.replace(&old, with: owned.bits | (old & State.tags)) { return }
        }
    }

    /// Hands an owned waiter of this node to the place where it runs.
    func enqueue(_ child: NodeRef) {
        if isConfined, let readyQueue = unsafe child.with({ unsafe $0.readyQueue }) {
            // Both are confined, so this is their thread.
            unsafe readyQueue._withUnsafeGuaranteedRef { $0.append(child) }
        } else {
            child.with { $0.context }.enqueue(PromiseJob(owned: child, isTimer: false))
        }
    }

    // MARK: Running.

    /// A node's turn: a link's step, or what a cancelled root arranged. Late and double calls do
    /// nothing.
    @usableFromInline
    func run() {
        let old = claim.insert(Claim.started)
        if old & Claim.root == 0, old & (Claim.decided | Claim.started) != 0 { return }
        takeStep()?(self)
    }
}
