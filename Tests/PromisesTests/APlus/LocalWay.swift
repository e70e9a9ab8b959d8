import Promises

extension Way {
    /// Hands a promise of a core to `attach` and lets it be settled in this way; by another thread
    /// means that the core's promise adopts one which that thread settles.
    func settleOnACore(
        _ outcome: Result<Int, any Error>,
        attach: @Sendable (LocalPromise<Int>, LocalContext, ManualContext) -> Void
    ) {
        let context = ManualContext()
        LocalContext.run(on: context) { local in
            let resolver = LocalResolver<Int>(on: local)
            let promise = resolver.promise
            switch self {
            case .alreadySettled:
                resolver.resolve(outcome)
                context.drain()
                attach(promise, local, context)
            case .settledAtOnce:
                attach(promise, local, context)
                resolver.resolve(outcome)
            case .settledLater:
                attach(promise, local, context)
                context.advance(by: .milliseconds(50))
                resolver.resolve(outcome)
            case .settledByAnotherThread:
                let outside = Resolver<Int>(on: context).shared()
                resolver.follow(outside.promise.on(local))
                attach(promise, local, context)
                onAnotherThread { outside.resolve(outcome) }
            }
            context.drain()
        }
    }
}
