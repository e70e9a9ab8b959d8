// Initialisers that run work and settle the promise with its outcome.

extension Promise {
    /// Runs the work now, on this thread, with the write side as its argument; a throw rejects.
    ///
    /// Handlers run on `context`, or else on the current one, or on `SharedPool`. A throw after the
    /// work has settled changes nothing and is reported as an unhandled rejection. Cancelling the
    /// promise runs the closures that the work passed to `onCancel`.
    public init(
        on context: (any ExecutionContext)? = nil,
        file: StaticString = #fileID, line: UInt = #line,
        _ work: (SharedResolver<Value>) throws -> Void
    ) {
        let resolver = Resolver<Value>(on: context, file: file, line: line).shared()
        self = resolver.promise
        do { try work(resolver) } catch {
            if resolver.settle(.failure(error)) || resolver.isCancelled { return }
            PromiseDiagnostics.report(
                .unhandledRejection(error, at: PromiseDiagnostics.site(of: node)))
        }
    }

    /// Runs the work soon, on a context, never inside this call; a throw rejects.
    ///
    /// Handlers run there, too, in later turns. If the promise is cancelled before its turn, the
    /// work never runs; after that, its value is dropped.
    public init(
        on context: any ExecutionContext, file: StaticString = #fileID, line: UInt = #line,
        _ work: @escaping @Sendable () throws -> Value
    ) {
        node = Node.make(Value.self, placement: .context(context)) { node in
            do { node.fulfill(try work()) } catch { node.reject(error) }
        }
        PromiseDiagnostics.recordCreation(of: node, file, line)
        context.enqueue(PromiseJob(node))
    }
}

extension Guarantee {
    /// Runs the work now, on this thread, with a function that fulfils as its argument; the first
    /// call counts.
    ///
    /// Handlers run on `context`, or else on the current one, or on `SharedPool`. It cannot be
    /// cancelled.
    ///
    /// If the work releases that function without calling it, the guarantee is never fulfilled:
    /// diagnostics report it, no handler runs, and `promise` is rejected with
    /// `PromiseError.abandoned`.
    public init(
        on context: (any ExecutionContext)? = nil,
        file: StaticString = #fileID, line: UInt = #line,
        _ work: (_ fulfill: @escaping @Sendable (Value) -> Void) -> Void
    ) {
        let resolver = Resolver<Value>(on: context, file: file, line: line).shared()
        node = resolver.node
        work { resolver.fulfill($0) }
    }
}
