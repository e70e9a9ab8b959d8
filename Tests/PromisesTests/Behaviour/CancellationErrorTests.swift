import Promises
import Testing

/// Swift's `CancellationError` in a handler, a resolver or `async` work cancels the promise, as
/// `Cancelled` does.
@Suite(.timeLimit(.minutes(5))) struct CancellationErrorTests {
    enum Source: CaseIterable {
        case map, then, guaranteed, done, onValue, onFailure, recover, mapError, compactMap,
            validate
        case adding, mapResult, thenResult, work, resolver, shared, constant

        func promise(on context: ManualContext) -> Promise<Int> {
            let good = Promise.value(1, on: context)
            let bad = Promise<Int>.error(Failure("x"), on: context)
            let stop = CancellationError()
            switch self {
            case .map: return good.map { _ -> Int in throw stop }
            case .then: return good.then { _ -> Promise<Int> in throw stop }
            case .guaranteed: return good.then { _ -> Guarantee<Int> in throw stop }
            case .done: return good.done { _ in throw stop }.map { 1 }
            case .onValue: return good.onValue { _ in throw stop }
            case .onFailure: return bad.onFailure { _ in throw stop }
            case .recover: return bad.recover { _ in throw stop }
            case .mapError: return bad.mapError { _ in stop }
            case .compactMap: return good.compactMap { _ -> Int? in throw stop }
            case .validate: return good.validate { _ in throw stop }
            case .adding: return good.adding { _ -> Promise<Int> in throw stop }.map { $0.1 }
            case .mapResult: return good.mapResult { _ -> Int in throw stop }
            case .thenResult: return good.thenResult { _ -> Promise<Int> in throw stop }
            case .work: return Promise(on: context) { throw stop }
            case .resolver:
                let resolver = Resolver<Int>(on: context)
                let promise = resolver.promise
                resolver.reject(stop)
                return promise
            case .shared:
                let resolver = Resolver<Int>(on: context).shared()
                resolver.resolve(nil, stop)
                return resolver.promise
            case .constant: return .error(stop, on: context)
            }
        }
    }

    @Test(arguments: Source.allCases) func itCancelsThePromise(_ source: Source) {
        let context = ManualContext()
        let promise = source.promise(on: context)
        let journal = Journal<String>()
        promise.catch { _ in journal.add("catch") }
        let repaired = promise.recover { _ in .value(0, on: context) }.replaceError(with: 0)
        promise.whenSettled { result in
            if case .cancelled(let cause) = PromiseState(result) {
                journal.add("cancelled: \(cause is CancellationError)")
            }
        }
        context.drain()
        #expect(journal.entries == ["cancelled: true"])
        #expect((promise.error as? Cancelled)?.cause is CancellationError)
        for promise in [promise, repaired] {
            guard case .cancelled = promise.state else {
                Issue.record("\(promise.state)")
                continue
            }
        }
    }

    @Test func getThrowsCancelledBecauseItsTaskGoesOn() async {
        let promise = Promise.value(1).map { _ -> Int in throw CancellationError() }
        await #expect(throws: Cancelled.self) { try await promise.get() }
        await #expect(throws: Cancelled.self) {
            try await Promise { () async throws -> Int in throw CancellationError() }.get()
        }
    }

    @Test func theStateOfAResultDistinguishesCancellations() {
        struct Stop: CancellableError { var isCancelled: Bool }
        func name(_ result: Result<Int, any Error>?) -> String {
            switch PromiseState(result) {
            case .pending: "pending"
            case .fulfilled(let value): "fulfilled \(value)"
            case .rejected: "rejected"
            case .cancelled(let cause): "cancelled \(cause.map { "\(type(of: $0))" } ?? "-")"
            }
        }
        #expect(name(nil) == "pending")
        #expect(name(.success(3)) == "fulfilled 3")
        #expect(name(.failure(Failure("x"))) == "rejected")
        #expect(name(.failure(Cancelled())) == "cancelled -")
        #expect(name(.failure(Cancelled(because: Failure("x")))) == "cancelled Failure")
        #expect(name(.failure(CancellationError())) == "cancelled CancellationError")
        #expect(name(.failure(Stop(isCancelled: true))) == "cancelled Stop")
        #expect(name(.failure(Stop(isCancelled: false))) == "rejected")
    }
}
