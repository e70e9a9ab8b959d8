// Waiting for a promise by blocking the thread.

extension Promise {
    /// Blocks this thread until there is an outcome; for main functions and tests.
    ///
    /// The caller is an observer: it does not keep the work going, and a timeout does not stop the
    /// work. A settled promise returns at once, on any context.
    ///
    /// Any number of threads and tasks may wait: `SharedPool`, `BlockingPool` and `async` work of a
    /// promise get other threads for the blocked ones. What the library does not run needs a free
    /// thread of Swift's executor, of which there is one per processor: a `Task` of yours that
    /// settles the promise, `Task.sleep` in `async` work.
    ///
    /// - Parameter limit: how long to wait; nil for no limit.
    /// - Throws: the promise's error; `PromiseError.timedOut` when the limit has passed;
    ///   `PromiseError.waitOnOwnContext`, without waiting, on the promise's own context, or in any
    ///   other block of its dispatch queue, because its handlers could not run meanwhile.
    @available(*, noasync)
    public func wait(for limit: Duration? = nil) throws -> Value {
        if let result = node.result(as: Value.self) {
            _ = node.control.insert(ControlBits.observed)
            return try result.get()
        }
        if context.isBlockedByCaller { throw PromiseError.waitOnOwnContext }
        PromiseDiagnostics.report(.blockingWait(at: PromiseDiagnostics.site(of: node)))
        let gate = Gate()
        let observer = Node.make(Void.self, placement: .context(InlineContext.shared)) { _ in
            gate.open()
        }
        node.attach(observer: observer)
        BlockingPool.whileBlocking { gate.wait(atMost: limit) }
        guard let result = node.result(as: Value.self) else {
            node.detach(observer: observer)
            throw PromiseError.timedOut
        }
        return try result.get()
    }
}
