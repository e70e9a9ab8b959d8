import Promises
import Testing

/// Lets a test fail when a promise was forgotten while it ran: a producer that went away without
/// settling, or a resolver that was used twice.
struct Watch: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal private static var isOn = false

    var isRecursive: Bool { true }

    /// Whoever listened before goes on listening.
    private static let setUp: Void = {
        let former = PromiseDiagnostics.setHandler(nil)
        PromiseDiagnostics.setHandler { event in
            former?(event)
            hear(event)
        }
    }()

    @Sendable private static func hear(_ event: PromiseEvent) {
        guard isOn else { return }
        switch event {
        case .abandoned(let site):
            Issue.record("a promise was abandoned that was made at \(site?.description ?? "?")")
        case .resolvedTwice: Issue.record("a promise was resolved twice")
        case .unhandledRejection, .cauterized, .blockingWait: break
        }
    }

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        Self.setUp
        try await Self.$isOn.withValue(true) { try await function() }
    }
}

extension Trait where Self == Watch {
    /// No promise may be forgotten.
    static var watched: Watch { Watch() }
}
