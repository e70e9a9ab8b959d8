import Promises

extension Way {
    /// Hands a promise of a core to `attach` and lets it be settled in this way; by another thread
    /// means that the core's promise adopts one which that thread settles.
    func settleOnACore(
        _ outcome: Result<Int, any Error>,
        attach: @Sendable (Local<Int>, Core, ManualContext) -> Void
    ) {
        let context = ManualContext()
        Core.run(on: context) { core in
            let resolver = LocalResolver<Int>(on: core)
            let promise = resolver.promise
            switch self {
            case .alreadySettled:
                resolver.resolve(outcome)
                context.drain()
                attach(promise, core, context)
            case .settledAtOnce:
                attach(promise, core, context)
                resolver.resolve(outcome)
            case .settledLater:
                attach(promise, core, context)
                context.advance(by: .milliseconds(50))
                resolver.resolve(outcome)
            case .settledByAnotherThread:
                let outside = Resolver<Int>(on: context).shared()
                resolver.follow(outside.promise.on(core))
                attach(promise, core, context)
                onAnotherThread { outside.resolve(outcome) }
            }
            context.drain()
        }
    }
}
