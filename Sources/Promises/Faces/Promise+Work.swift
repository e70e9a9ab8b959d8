extension Promise {
    /// Runs the work now, on this thread, and hands it the write side; a throw rejects.
    ///
    /// The promise's context is `SharedPool`, unless another is named.
    public init(
        on context: (any ExecutionContext)? = nil, _ work: (SharedResolver<Value>) throws -> Void
    ) {
        let resolver = Resolver<Value>(on: context).shared()
        self = resolver.promise
        do { try work(resolver) } catch { resolver.reject(error) }
    }

    /// Runs the work soon, on a context; a throw rejects.
    public init(on context: any ExecutionContext, _ work: @escaping @Sendable () throws -> Value) {
        let home = Home.context(context)
        node = Node.make(Value.self, home: home) { node in
            do { node.fulfill(try work()) } catch { node.reject(error) }
        }
        context.enqueue(PromiseJob(node))
    }
}
