import Basics
import Testing

@testable import Gateway

@Suite struct CircuitBreakerStateTests {
    /// Opens at half of at least four calls in ten seconds, for five seconds.
    static let plan = BreakerPlan(
        openAt: 0.5, requestsMin: 4, window: .seconds(10), tryAgainAfter: .seconds(5))

    private func instant(_ seconds: Double) -> Instant {
        Instant(nanoseconds: Int64(seconds * 1e9) + 1_000_000_000_000)
    }

    /// A breaker after these calls, `+` successful and `-` failed, all at second 0.
    private func breaker(after calls: String) -> CircuitBreakerState {
        var state = CircuitBreakerState(Self.plan)
        for call in calls {
            let admission = state.admitCall(at: instant(0))
            state.recordCall(admission, call == "+" ? .success : .failure, at: instant(0))
        }
        return state
    }

    @Test(arguments: ["", "---", "+++-", "++++++--", "+++++"])
    func staysClosed(after calls: String) {
        var state = breaker(after: calls)
        #expect(state.admitCall(at: instant(0)) == .allowed)
        #expect(!state.isOpen)
    }

    @Test(arguments: ["----", "++--", "-+-+-", "+++---"])
    func opens(after calls: String) {
        var state = breaker(after: calls)
        #expect(state.admitCall(at: instant(1)) == .refused(tryAgainAfter: .seconds(4)))
        #expect(state.isOpen)
    }

    @Test func allowsOneProbeAfterTheWait() {
        var state = breaker(after: "----")
        #expect(state.admitCall(at: instant(5)) == .probe(1))
        #expect(state.admitCall(at: instant(5)) == .refused(tryAgainAfter: .seconds(1)))
    }

    @Test func successfulProbeCloses() {
        var state = breaker(after: "----")
        let probe = state.admitCall(at: instant(5))
        state.recordCall(probe, .success, at: instant(5.1))
        #expect(state.admitCall(at: instant(5.1)) == .allowed)
        state.recordCall(.allowed, .failure, at: instant(5.2))
        #expect(!state.isOpen, "the failures from before the probe are forgotten")
    }

    @Test func failedProbeOpensAgain() {
        var state = breaker(after: "----")
        let probe = state.admitCall(at: instant(5))
        state.recordCall(probe, .failure, at: instant(6))
        #expect(state.admitCall(at: instant(7)) == .refused(tryAgainAfter: .seconds(4)))
    }

    @Test func probeWithoutAnOutcomeIsRepeated() {
        var state = breaker(after: "----")
        let probe = state.admitCall(at: instant(5))
        state.recordCall(probe, .none, at: instant(6))
        #expect(state.admitCall(at: instant(6)) == .probe(2))
    }

    /// A stream that takes an hour must not keep the breaker half open.
    @Test(arguments: [AttemptSample.success, .failure])
    func headDecidesAProbeWhoseBodyTakesLonger(_ head: AttemptSample) {
        var state = breaker(after: "----")
        let probe = state.admitCall(at: instant(5))
        state.recordHead(probe, head, at: instant(6))
        #expect(state.admitCall(at: instant(10.9)) == .refused(tryAgainAfter: .seconds(1)))
        let next = state.admitCall(at: instant(11))
        #expect(next == (head == .success ? .allowed : .refused(tryAgainAfter: .seconds(5))))
    }

    /// It has been decided by its head, so its end is one call in the window.
    @Test func endOfALateProbeCountsAsAnyOther() {
        var state = breaker(after: "----")
        let probe = state.admitCall(at: instant(5))
        state.recordHead(probe, .success, at: instant(5))
        for _ in 0..<3 {
            let admission = state.admitCall(at: instant(10))
            state.recordCall(admission, .failure, at: instant(10))
        }
        #expect(!state.isOpen)
        state.recordCall(probe, .failure, at: instant(11))
        #expect(state.isOpen)
    }

    /// The body decides a probe that ends in time.
    @Test func brokenBodyFailsTheProbe() {
        var state = breaker(after: "----")
        let probe = state.admitCall(at: instant(5))
        state.recordHead(probe, .success, at: instant(5))
        state.recordCall(probe, .failure, at: instant(6))
        #expect(state.admitCall(at: instant(7)) == .refused(tryAgainAfter: .seconds(4)))
    }

    @Test func oldProbeDecidesNothing() {
        var state = breaker(after: "----")
        let first = state.admitCall(at: instant(5))
        state.recordCall(first, .none, at: instant(6))
        let second = state.admitCall(at: instant(6))
        state.recordCall(first, .success, at: instant(7))
        #expect(state.isOpen)
        state.recordCall(second, .success, at: instant(8))
        #expect(!state.isOpen)
    }

    @Test func oldCallsLeaveTheWindow() {
        var state = breaker(after: "---")
        state.recordCall(.allowed, .failure, at: instant(11))
        #expect(!state.isOpen)
    }

    @Test func callsWithoutAnOutcomeAreNotCounted() {
        var state = breaker(after: "---")
        for _ in 0..<10 { state.recordCall(.allowed, .none, at: instant(0)) }
        #expect(!state.isOpen)
        state.recordCall(.allowed, .failure, at: instant(0))
        #expect(state.isOpen)
    }
}
