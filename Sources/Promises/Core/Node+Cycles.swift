/// Detection of cycles: promises that wait for each other in a cycle would never settle.
extension Node {
    /// Whether following `inner` would close a cycle: `inner` is this node, or waits for it.
    ///
    /// Only some waiters are examined, so that following a promise costs the same in a chain of any
    /// length: cycles of up to 8 links are found, of local promises up to 64. Two threads that
    /// close one cycle from both ends at the same moment may both miss it.
    @usableFromInline
    func wouldWaitForItself(by inner: Node) -> Bool {
        if inner === self { return true }
        // A resolver's promise waits for no other, and a node without waiters cannot be part of a
        // cycle.
        if inner.isSettledByResolver || (state.bits & ~StateBits.tags == 0 && !isInput) {
            return false
        }
        var budget = isConfined ? 64 : 8
        return isAwaited(by: inner, &budget)
    }

    /// Whether a resolver will settle this node.
    private var isSettledByResolver: Bool {
        control.bits & (ControlBits.root | ControlBits.combinatorResult) == ControlBits.root
    }

    /// Whether this node is its own input slot, as far as this thread may read that.
    private var isInput: Bool { isConfined && result != nil }

    /// Searches the waiters and their waiters; the budget bounds the recursion.
    private func isAwaited(by other: Node, _ budget: inout Int) -> Bool {
        if isConfined {
            if let result, result === other || result.isAwaited(by: other, &budget) { return true }
            return reaches(to: other, through: NodeRef(stack: state.bits), &budget)
        }
        // The stack is taken, so that its nodes stay alive.
        guard let stack = takeWaiters() else { return false }
        let waiters = NodeRef(stack: stack)
        let isFound = reaches(to: other, through: waiters, &budget)
        putBackWaiters(waiters)
        return isFound
    }

    /// Whether settling these waiters of this node would settle `other`.
    private func reaches(to other: Node, through waiters: NodeRef?, _ budget: inout Int) -> Bool {
        var rest = waiters
        while let one = rest, budget > 0 {
            budget -= 1
            if one.with({ $0.reaches(to: other, isOnLocalContext: isConfined, &budget) }) {
                return true
            }
            rest = one.next
        }
        return false
    }

    private func reaches(to other: Node, isOnLocalContext: Bool, _ budget: inout Int) -> Bool {
        if self === other { return true }
        // Another thread's confined nodes must not be read here.
        if isConfined, !isOnLocalContext, !placement.context.isCurrent { return false }
        return isAwaited(by: other, &budget)
    }
}
