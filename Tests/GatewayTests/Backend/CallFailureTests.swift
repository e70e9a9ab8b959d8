import HTTP
import HTTPClient
import Promises
import Testing

@testable import Gateway

/// The table of failures, and how errors map to its kinds.
@Suite struct CallFailureTests {
    @Test func everyKindHasAUniqueName() {
        let names = CallFailure.Kind.allCases.map(\.facts.name)
        #expect(Set(names).count == names.count)
    }

    /// A failure that the gateway itself caused must not open the breaker of a backend.
    @Test(arguments: CallFailure.Kind.allCases)
    func breakerIgnoresFailuresCausedByTheGateway(_ kind: CallFailure.Kind) {
        let group = kind.facts.group
        if kind.facts.countsForBreaker { #expect(group == .backend || group == .timeout) }
    }

    @Test(arguments: CallFailure.Kind.allCases)
    func refusedCallIsNotRetried(_ kind: CallFailure.Kind) {
        if kind.facts.group == .refused { #expect(kind.facts.retry == .never) }
    }

    @Test func statusFollowsTheGroup() {
        #expect(CallFailure.Kind.connectionRefused.facts.group.status == .badGateway)
        #expect(CallFailure.Kind.connectionTimeout.facts.group.status == .gatewayTimeout)
        #expect(CallFailure.Kind.queueFull.facts.group.status == .serviceUnavailable)
    }

    @Test func cancellationByTheTimeoutIsATimeout() {
        let limit = Duration.milliseconds(30)
        let slow = CallFailure(Cancelled(because: CallFailure.responseTimeout(limit: limit)))
        #expect(slow.kind == .responseTimeout && slow.limit == limit)
        #expect(CallFailure(Cancelled()).kind == .cancelled)
    }

    @Test func anUnknownErrorKeepsItsText() {
        struct Odd: Error, CustomStringConvertible { let description = "odd" }
        let failure = CallFailure(Odd())
        #expect(failure.kind == .cancelled && failure.detail == "odd")
    }

    @Test func refusalsHaveARetryAfter() {
        #expect(CallFailure.queueFull.retryAfter == 1)
        #expect(CallFailure.destinationUnavailable.retryAfter == 1)
        #expect(CallFailure.breakerOpen(retryAfter: 7).retryAfter == 7)
        #expect(CallFailure.invalidShape.retryAfter == nil)
    }

    @Test func onlyAMissingClientValueIsAClientError() {
        #expect(CallFailure.skipped(.client("params.id")).isClientError)
        #expect(CallFailure.skipped(.client("params.id")).missingValue == "params.id")
        #expect(!CallFailure.skipped(.call("one")).isClientError)
        #expect(CallFailure.skipped(.unusable("text")).missingValue == nil)
        #expect(CallFailure.skipped(.unusable("text")).detail == "text")
    }
}
