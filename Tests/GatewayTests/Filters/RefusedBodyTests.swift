import Basics
import HTTP
import Promises
import Testing

@testable import Gateway

/// The body of a request that its endpoint cannot get.
@Suite struct RefusedBodyTests {
    private struct Broken: Error {}

    private let context = ManualContext()

    /// The type of the error with which collecting the body fails.
    private func failure(of body: RefusedBody, _ change: () -> Void = {}) -> String? {
        var failure: String?
        Body.stream(body).collect(upTo: 10, on: LocalContext(on: context)).whenSettled { result in
            if case .failure(let error) = result { failure = "\(type(of: error))" }
        }
        change()
        context.drain()
        return failure
    }

    @Test func failsItsReader() throws {
        let local = LocalContext(on: context)
        for error in [WireError.chunkSize, BodyTooLarge(limit: 1), RequestLimitReached()]
            as [any Error]
        {
            let body = try #require(RefusedBody(error, on: local))
            #expect(failure(of: body) == "\(type(of: error))")
        }
        #expect(RefusedBody(Broken(), on: local) == nil)
        // After a cancellation it drops its reader without a call.
        let cancelled = try #require(RefusedBody(WireError.chunkSize, on: local))
        #expect(failure(of: cancelled) { cancelled.cancel() } == "PromiseError")
    }
}
