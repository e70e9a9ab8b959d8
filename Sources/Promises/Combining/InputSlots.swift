public import Synchronization

/// What combinators are made of.
///
/// A *input slot* waits for one member and keeps its outcome. The *result* holds the input slots,
/// counts them down as they arrive, and withdraws from the missing ones when it is settled early or
/// cancelled.
///
/// On a core a member can be its own input slot, for one result at a time: nothing is allocated for
/// it, and it notifies the result when it is settled.
extension Node {
    /// A pending result. Until it is settled its tail holds the input slots, and behind them the
    /// count.
    @inlinable
    static func gathering<Value>(_ type: Value.Type, count: Int, placement: Placement) -> Node {
        let result = make(
            Value.self, placement: placement, claim: Claim.root | Claim.gathering, extraWords: 1)
        unsafe (result.cells + 2 + words(Value.self)).initialize(to: Atomic(UInt(count)))
        return result
    }

    /// An input slot of this result at a member. Its step begins with `arrive`.
    @inlinable
    func inputSlot<Value>(
        _ type: Value.Type, at member: Node, _ step: @escaping (_ inputSlot: Node) -> Void
    ) -> Node {
        // Observed, because the result answers for the errors that its input slots keep.
        let inputSlot = Node.bare(Value.self, claim: Claim.observed, extraWords: 0)
        unsafe inputSlot.header.pointee.placement = unsafe header.pointee.placement
        inputSlot.setParent(member)
        inputSlot.setStep(step)
        if member.hasCreationSite {
            PromiseDiagnostics.recordCreationSite(of: inputSlot, asChildOf: member)
        }
        inputSlot.result = self
        return inputSlot
    }

    /// In an input slot's step: takes the member's outcome, and gives the result that waits for it.
    @inlinable
    func arrive<Value>(_ type: Value.Type) -> Node? {
        let result = result
        self.result = nil
        inherit(Value.self)
        return result
    }

    /// Begins to wait, and arranges that cancelling the result withdraws from the members.
    @inlinable
    func gather(_ inputSlots: [Node], at members: [Node]) {
        setStep { result in result.release(inputSlots) }
        _ = claim.insert(Claim.started)
        Node.wait(inputSlots, at: members)
    }

    /// Lets each input slot wait for its member.
    ///
    /// All are counted before the first one can arrive: one that arrives may decide the result,
    /// which then withdraws from every other member, on another thread perhaps. From then on an
    /// input slot's parent belongs to the one who withdraws, so the members are not looked up
    /// there.
    @inlinable
    static func wait(_ inputSlots: [Node], at members: [Node]) {
        for member in members { _ = member.claim.add(Claim.consumer) }
        for (inputSlot, member) in zip(inputSlots, members) { member.push(inputSlot) }
    }

    /// Withdraws from the members that have not arrived.
    @usableFromInline
    func release(_ inputSlots: [Node]) {
        let reason = reasonToLeave
        for inputSlot in inputSlots {
            if inputSlot.isConfined { inputSlot.result = nil }
            inputSlot.cancel(with: reason)
        }
    }

    /// The error with which a result withdraws from its members.
    private var reasonToLeave: any Error {
        isRejected && error.isCancellation ? error : Cancelled()
    }

    // MARK: Members that are their own input slots.

    /// Sets what this result does when such a member has arrived.
    @inlinable
    func onArrival(_ body: @escaping (_ result: Node) -> Void) { keep(Observe<Node>(body)) }

    /// Lets this member be its own input slot. False where it cannot: it is not confined, has an
    /// outcome already, or sits in another result.
    @inlinable
    func becomesOwnInputSlot(in result: Node) -> Bool {
        guard isConfined, result.isConfined, isPending, self.result == nil else { return false }
        // Observed, because the result answers for its error.
        _ = claim.insert(Claim.observed)
        _ = claim.add(Claim.consumer)
        self.result = result
        return true
    }

    /// Withdraws a result in which this member sits, unless it has arrived.
    @usableFromInline
    func withdrawInput(from result: Node) {
        guard let own = self.result, own === result else { return }
        self.result = nil
        // It has no node on the stack that would have to be swept away.
        _ = claim.add(0 &- Claim.withdrawn)
        withdraw(with: result.reasonToLeave)
    }

    /// When this node is settled: it has arrived where it sits.
    func arriveAsInput() {
        guard let result = unsafe header.pointee.result.take() else { return }
        if let arrival = unsafe result.handlerPlace(Observe<Node>.self).pointee {
            arrival.call(result)
        }
    }

    /// Settles this result with `step`; on a core in a turn of its own, because a member that is
    /// its own input slot arrives while it is settled: so results of results are not nested, and
    /// handlers that were attached to that member before this result run before it.
    @usableFromInline
    func concludeSoon(_ step: @escaping (Node) -> Void) {
        guard isConfined else { return step(self) }
        // No member is pending.
        let before = claim.remove(Claim.started)
        guard before & Claim.decided == 0 else { return }
        setStep(step)
        enqueue(NodeRef(retaining: self))
    }

    // MARK: Concluding.

    /// Counts one input slot; true when it was the last.
    @inlinable
    func isComplete<Value>(_ type: Value.Type) -> Bool {
        let count = unsafe Word(cells + 2 + Node.words(Value.self), isConfined: isConfined)
        return count.add(0 &- 1) == 0
    }

    /// Settles with what the input slots brought, unless the result was settled before.
    @inlinable
    func conclude<Value>(_ outcome: ([Node]) -> Result<Value, any Error>) {
        guard decide() else { return }
        settleDecided(outcome(moveValue(as: [Node].self)))
    }

    /// Settles before all input slots have arrived, and withdraws from the rest.
    @inlinable
    func concludeEarly<Value>(_ outcome: Result<Value, any Error>) {
        guard decide() else { return }
        let inputSlots = moveValue(as: [Node].self)
        settleDecided(outcome)
        release(inputSlots)
    }

    /// Writes the outcome of a node that was decided by the caller.
    @inlinable
    func settleDecided<Value>(_ outcome: Result<Value, any Error>) {
        switch outcome {
        case .success(let value):
            write(value)
            publish(State.fulfilled)
        case .failure(let error):
            write(error: error)
            publish(State.rejected)
        }
    }
}
