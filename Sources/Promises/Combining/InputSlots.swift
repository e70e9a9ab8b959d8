public import Synchronization

/// The common parts of the combinators.
///
/// An *input slot* is a node that waits for one input and stores its outcome. The *result* holds
/// the input slots, counts them down as the inputs settle, and withdraws from the pending inputs
/// when it is settled early or cancelled.
///
/// A local promise can be its own input slot, for one result at a time: nothing is allocated for
/// it, and it notifies the result when it is settled.
extension Node {
    /// A pending result. Until it is settled, its storage holds the input slots, followed by the
    /// count.
    @inlinable
    static func combinatorResult<Value>(_ type: Value.Type, count: Int, placement: Placement)
        -> Node
    {
        let result = make(
            Value.self, placement: placement,
            control: ControlBits.root | ControlBits.combinatorResult, extraWords: 1)
        unsafe (result.cells + 2 + words(Value.self)).initialize(to: Atomic(UInt(count)))
        return result
    }

    /// An input slot of this result for one input. Its step begins with `receiveOutcome`.
    @inlinable
    func inputSlot<Value>(
        _ type: Value.Type, at input: Node, _ step: @escaping (_ inputSlot: Node) -> Void
    ) -> Node {
        // Marked as observed, because the result handles the errors that its input slots store.
        let inputSlot = Node.makeBare(Value.self, control: ControlBits.observed, extraWords: 0)
        unsafe inputSlot.header.pointee.placement = unsafe header.pointee.placement
        inputSlot.setParent(input)
        inputSlot.setStep(step)
        if input.hasCreationSite {
            PromiseDiagnostics.recordCreationSite(of: inputSlot, asChildOf: input)
        }
        inputSlot.setResult(self)
        return inputSlot
    }

    /// In an input slot's step: takes the input's outcome, and returns the result that waits for
    /// it.
    @inlinable
    func receiveOutcome<Value>(_ type: Value.Type) -> Node? {
        let result = takeResult()
        inherit(Value.self)
        return result
    }

    /// Attaches the input slots, and makes cancelling the result withdraw from the inputs.
    @inlinable
    func awaitInputs(_ inputSlots: [Node], at inputs: [Node]) {
        setStep { result in result.release(inputSlots) }
        _ = control.insert(ControlBits.started)
        Node.wait(inputSlots, at: inputs)
    }

    /// Attaches each input slot to its input.
    ///
    /// All are counted before the first one can settle: an input may decide the result, which then
    /// withdraws from every other input, possibly on another thread. From then on an input slot's
    /// parent belongs to the withdrawing thread, so the inputs are not read from the slots.
    @inlinable
    static func wait(_ inputSlots: [Node], at inputs: [Node]) {
        for input in inputs { _ = input.control.add(ControlBits.consumer) }
        for (inputSlot, input) in zip(inputSlots, inputs) { input.push(inputSlot) }
    }

    /// Withdraws from the inputs that are still pending.
    @usableFromInline
    func release(_ inputSlots: [Node]) {
        let reason = withdrawalError
        for inputSlot in inputSlots {
            if inputSlot.isConfined { inputSlot.dropResult() }
            inputSlot.cancel(with: reason)
        }
    }

    /// The error with which a result withdraws from its inputs.
    private var withdrawalError: any Error {
        isRejected && error.isCancellation ? error : Cancelled()
    }

    // MARK: Inputs that are their own input slots.

    /// Sets what this result does when such an input has settled.
    @inlinable
    func onInputSettled(_ body: @escaping (_ result: Node) -> Void) {
        storeHandler(Observer<Node>(body))
    }

    /// Makes this node its own input slot. False where that is impossible: the node is not
    /// confined, has an outcome already, or is an input slot of another result.
    @inlinable
    func useAsOwnInputSlot(in result: Node) -> Bool {
        guard isConfined, result.isConfined, isPending, self.result == nil else { return false }
        // Marked as observed, because the result handles its error.
        _ = control.insert(ControlBits.observed)
        _ = control.add(ControlBits.consumer)
        setResult(result)
        return true
    }

    /// Withdraws a result whose input slot this node is, unless the node has settled.
    @usableFromInline
    func withdrawInput(from result: Node) {
        guard let own = self.result, own === result else { return }
        dropResult()
        // No withdrawn node is left on the stack for it.
        _ = control.add(0 &- ControlBits.withdrawn)
        withdraw(with: result.withdrawalError)
    }

    /// When this node is settled: notifies the result whose input slot it is.
    func notifyResult() {
        guard let result = takeResult() else { return }
        if let arrival = unsafe result.handlerPointer(Observer<Node>.self).pointee {
            arrival.call(result)
        }
    }

    /// Settles this result with `step`. A confined result does so in a turn of its own, because it
    /// is notified while its input is being settled: so results of results do not nest, and
    /// handlers that were attached to the input before this result run first.
    @inlinable @inline(__always)
    func concludeSoon(_ step: @escaping (Node) -> Void) {
        guard isConfined else { return step(self) }
        // No input is pending.
        let before = control.remove(ControlBits.started)
        guard before & ControlBits.decided == 0 else { return }
        setStep(step)
        enqueue(NodeRef(retaining: self))
    }

    // MARK: Concluding.

    /// Counts one settled input; true if it was the last one.
    @inlinable
    func countSettledInput<Value>(_ type: Value.Type) -> Bool {
        let count = unsafe NodeWord(cells + 2 + Node.words(Value.self), isConfined: isConfined)
        return count.add(0 &- 1) == 0
    }

    /// Settles with the outcomes of the input slots, unless the result was settled before.
    @inlinable
    func conclude<Value>(_ outcome: ([Node]) -> Result<Value, any Error>) {
        guard decide() else { return }
        settleDecided(outcome(moveValue(as: [Node].self)))
    }

    /// Settles before all inputs have settled, and withdraws from the rest.
    @inlinable
    func concludeEarly<Value>(_ outcome: Result<Value, any Error>) {
        guard decide() else { return }
        let inputSlots = moveValue(as: [Node].self)
        settleDecided(outcome)
        release(inputSlots)
    }

    /// Writes the outcome of a node that the caller has decided.
    @inlinable
    func settleDecided<Value>(_ outcome: Result<Value, any Error>) {
        switch outcome {
        case .success(let value):
            write(value)
            publish(StateBits.fulfilled)
        case .failure(let error):
            write(error: error)
            publish(StateBits.rejected)
        }
    }
}
