import Promises

/// A resolver that may be stored anywhere, and its promise, without handlers.
final class LocalResolverBox {
    private var resolver: LocalResolver<Int>?
    let promise: LocalPromise<Int>

    init(_ local: LocalContext) {
        let resolver = LocalResolver<Int>(on: local)
        promise = resolver.promise
        self.resolver = consume resolver
    }

    var isCancelled: Bool { resolver?.isCancelled ?? false }

    func fulfill(_ value: Int) { resolver.take()?.fulfill(value) }
    func reject(_ error: any Error) { resolver.take()?.reject(error) }
    func follow(_ other: LocalPromise<Int>) { resolver.take()?.follow(other) }
}
