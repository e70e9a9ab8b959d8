/// Promises that would wait for each other in a ring would wait for ever.
extension Node {
    /// How many waiters are looked at: more links than a ring made by mistake has, and few enough
    /// that following a promise costs the same in a chain of any length.
    private static let searchLimit = 32

    /// Whether following `inner` would close a ring: it is this node, or waits for it.
    ///
    /// Rings of up to `searchLimit` links are found. Two threads that close one ring from both ends
    /// at the same moment may both miss it.
    @usableFromInline
    func wouldWaitForItself(by inner: Node) -> Bool {
        if inner === self { return true }
        // A resolver's promise waits for nobody, and what has no waiters keeps nobody waiting.
        if inner.isProduced || state.bits & ~State.tags == 0 { return false }
        var budget = Node.searchLimit
        return isAwaited(by: inner, &budget)
    }

    /// Whether a resolver will settle this node.
    private var isProduced: Bool {
        unsafe claim.bits & Claim.root != 0 && !header.pointee.isGathering
    }

    /// Searches the waiters, and theirs. Each stack is held while it is walked, which keeps what is
    /// on it alive; nested no deeper than the budget.
    private func isAwaited(by other: Node, _ budget: inout Int) -> Bool {
        guard let stack = holdWaiters() else { return false }
        var isThere = false
        var oldest: NodeRef?
        var rest = NodeRef(stack: stack)
        while let one = rest {
            if !isThere, budget > 0 {
                budget -= 1
                isThere = one.with { $0.leads(to: other, from: self, &budget) }
            }
            oldest = one
            rest = one.next
        }
        returnWaiters(NodeRef(stack: stack), oldest: oldest)
        return isThere
    }

    /// Whether settling this waiter of `above` would settle `other`.
    private func leads(to other: Node, from above: Node, _ budget: inout Int) -> Bool {
        if self === other { return true }
        // The waiters of another thread's nodes are not ours to see.
        if isConfined, !above.isConfined, !home.context.isCurrent { return false }
        if isConfined, let result, result === other || result.isAwaited(by: other, &budget) {
            return true
        }
        return isAwaited(by: other, &budget)
    }
}
