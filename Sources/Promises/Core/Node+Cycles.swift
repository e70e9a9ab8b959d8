/// Promises that would wait for each other in a ring would wait for ever.
extension Node {
    /// Whether following `inner` would close a ring: it is this node, or waits for it.
    ///
    /// Few waiters are looked at, so that following a promise costs the same in a chain of any
    /// length: a ring of up to 8 links is found, on a core of up to 64. Two threads that close one
    /// ring from both ends at the same moment may both miss it.
    @usableFromInline
    func wouldWaitForItself(by inner: Node) -> Bool {
        if inner === self { return true }
        // A resolver's promise waits for no other, and a node without waiters cannot be part of a
        // cycle.
        if inner.isProduced || (state.bits & ~State.tags == 0 && !isSeat) { return false }
        var budget = isConfined ? 64 : 8
        return isAwaited(by: inner, &budget)
    }

    /// Whether a resolver will settle this node.
    private var isProduced: Bool {
        claim.bits & (Claim.root | Claim.gathering) == Claim.root
    }

    /// Whether a result waits for this node, as far as this thread may see.
    private var isSeat: Bool { isConfined && result != nil }

    /// Searches the waiters, and theirs, nested no deeper than the budget.
    private func isAwaited(by other: Node, _ budget: inout Int) -> Bool {
        if isConfined {
            if let result, result === other || result.isAwaited(by: other, &budget) { return true }
            return leads(to: other, through: NodeRef(stack: state.bits), &budget)
        }
        // Held, so that what is on the stack stays alive.
        guard let stack = holdWaiters() else { return false }
        let waiters = NodeRef(stack: stack)
        let isThere = leads(to: other, through: waiters, &budget)
        var oldest = waiters
        while let next = oldest?.next { oldest = next }
        returnWaiters(waiters, oldest: oldest)
        return isThere
    }

    /// Whether settling these waiters of this node would settle `other`.
    private func leads(to other: Node, through waiters: NodeRef?, _ budget: inout Int) -> Bool {
        var rest = waiters
        while let one = rest, budget > 0 {
            budget -= 1
            if one.with({ $0.leads(to: other, isOnLocalContext: isConfined, &budget) }) {
                return true
            }
            rest = one.next
        }
        return false
    }

    private func leads(to other: Node, isOnLocalContext: Bool, _ budget: inout Int) -> Bool {
        if self === other { return true }
        // The waiters of another thread's nodes are not ours to see.
        if isConfined, !isOnLocalContext, !placement.context.isCurrent { return false }
        return isAwaited(by: other, &budget)
    }
}
