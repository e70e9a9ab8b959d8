import Promises

extension Way {
    /// Passes a local promise to `attach` and settles it in this way. `settledByAnotherThread`: the
    /// local promise adopts one that another thread settles.
    func settleLocally(
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
