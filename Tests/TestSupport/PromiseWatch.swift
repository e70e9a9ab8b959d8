import Promises
package import Testing

/// A trait that fails a test during which a promise is abandoned (its producer is dropped without settling
/// it) or settled twice.
package struct PromiseWatch: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal private static var isOn = false

    package var isRecursive: Bool { true }

    /// The handler that was set before is still called.
    private static let setUp: Void = {
        let former = PromiseDiagnostics.setHandler(nil)
        PromiseDiagnostics.setHandler { event in
            former?(event)
            record(event)
        }
    }()

    @Sendable private static func record(_ event: PromiseEvent) {
        guard isOn else { return }
        switch event {
        case .abandoned(let site):
            Issue.record("a promise was abandoned that was made at \(site?.description ?? "?")")
        case .resolvedTwice: Issue.record("a promise was resolved twice")
        case .unhandledRejection, .cauterized, .blockingWait: break
        }
    }

    @concurrent package func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        Self.setUp
        try await Self.$isOn.withValue(true) { try await function() }
    }
}

extension Trait where Self == PromiseWatch {
    /// No promise may be abandoned or settled twice.
    package static var watched: PromiseWatch { PromiseWatch() }
}
