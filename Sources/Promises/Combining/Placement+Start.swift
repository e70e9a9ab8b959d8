extension Placement {
    /// Calls `body` where the caller has placed its work, for operators that keep their state on
    /// the serial placement: now, or, if this placement is not serial, in a turn of its own.
    ///
    /// - Returns: the promise that `body` returns, or one that follows it.
    /// - Throws: the error of `body`, unless it runs in a turn of its own.
    func start<Handle: NodeHandle>(_ body: @escaping () throws -> Handle) throws -> Node {
        guard case .context(let context) = self, !context.isSerial else { return try body().node }
        let node = Node.make(Handle.Value.self, placement: self) { node in
            do {
                node.adopt(try body().node, as: Handle.Value.self)
            } catch {
                node.reject(error)
            }
        }
        context.enqueue(PromiseJob(node))
        return node
    }
}
