import Promises
import Testing

/// `LocalPromise.observe`: the handler owns the outcome, and the observation cancels the promise.
@Suite struct LocalObservationTests {
    private let context = ManualContext()

    private final class Payload {}

    /// Whether the value still exists behind the handler's turn, while the observation is kept.
    private func keepsValue(keepingPromise: Bool) -> Bool {
        LocalContext.run(on: context) { local in
            let resolver = LocalResolver<Payload>(on: local)
            let kept = keepingPromise ? resolver.promise : nil
            weak var value: Payload?
            let observation = resolver.promise.observe { _ in }
            do {
                let payload = Payload()
                value = payload
                resolver.fulfill(payload)
            }
            context.drain()
            let exists = value != nil
            withExtendedLifetime((observation, kept)) {}
            return exists
        }
    }

    @Test func keepsNoValueUnlikeAPromise() {
        #expect(!keepsValue(keepingPromise: false))
        #expect(keepsValue(keepingPromise: true))
    }

    @Test func cancelsThePromiseBeforeItsOutcome() {
        LocalContext.run(on: context) { local in
            let resolver = LocalResolver<Int>(on: local)
            var outcomes: [Bool] = []
            let observation = resolver.promise.observe { result in
                if case .failure(let error) = result { outcomes.append(error is Cancelled) }
            }
            observation.cancel()
            let isCancelled = resolver.isCancelled
            #expect(isCancelled)
            resolver.fulfill(1)
            context.drain()
            #expect(outcomes == [true])
        }
    }

    @Test func doesNotCancelBehindTheOutcome() {
        LocalContext.run(on: context) { local in
            let resolver = LocalResolver<Int>(on: local)
            var values: [Int] = []
            let observation = resolver.promise.observe { result in
                if case .success(let value) = result { values.append(value) }
            }
            resolver.fulfill(1)
            observation.cancel()
            context.drain()
            observation.cancel()
            #expect(values == [1])
        }
    }
}
