import TestSupport
import Testing

/// `breaker`: a backend that fails too often is left alone for a while.
@Suite(.watched) struct BreakerTests {
    static let call = "one: { from: a, get: /1, required: true }"
    static let breaker = "breaker: { open_at: 50%, min_requests: 4, try_again_after: 10s }"

    private func harness(
        _ replies: Reply..., call: String = call, endpoint: String = "", breaker: String = breaker
    ) throws -> GatewayHarness {
        let harness = try GatewayHarness(call, endpoint: endpoint, backend: breaker)
        harness.on("/1", replies)
        return harness
    }

    private func ask(_ count: Int, _ harness: GatewayHarness) throws -> [Int] {
        try (0..<count).map { _ in try harness.ask().status }
    }

    @Test func itOpensAtItsShareAndNotBefore() throws {
        let harness = try harness(.ok("1"), .ok("1"), .status(500), .status(500), .ok("1"))
        #expect(try ask(6, harness) == [200, 200, 502, 502, 503, 503])
        harness.expectQuiet()
    }

    @Test func itStaysClosedBelowItsShare() throws {
        let harness = try harness(.ok("1"), .ok("1"), .ok("1"), .status(500), .ok("1"))
        #expect(try ask(6, harness) == [200, 200, 200, 502, 200, 200])
        harness.expectQuiet()
    }

    @Test func openItAsksNobody() throws {
        let harness = try harness(.status(500))
        _ = try ask(6, harness)
        #expect(harness.seen.count == 4)
        #expect(try harness.isBreakerOpen())
        harness.expectQuiet()
    }

    @Test(arguments: [(0.0, "10"), (1, "10"), (3000, "7"), (9999, "1")])
    func itSaysWhenToComeAgain(after milliseconds: Double, says: String) throws {
        let harness = try harness(.status(500))
        _ = try ask(4, harness)
        harness.pass(milliseconds)
        #expect(try harness.ask()["Retry-After"] == says)
        harness.expectQuiet()
    }

    @Test func aProbeThatIsAnsweredClosesIt() throws {
        let harness = try harness(.status(500), .status(500), .status(500), .status(500), .ok("1"))
        _ = try ask(4, harness)
        harness.pass(10_000)
        #expect(try ask(3, harness) == [200, 200, 200])
        harness.expectQuiet()
    }

    @Test func aProbeThatFailsOpensItAgain() throws {
        let harness = try harness(.status(500))
        _ = try ask(4, harness)
        harness.pass(10_000)
        #expect(try ask(2, harness) == [502, 503])
        harness.pass(9_999)
        #expect(try ask(1, harness) == [503])
        harness.pass(1)
        #expect(try ask(1, harness) == [502])
        harness.expectQuiet()
    }

    @Test func oneProbeAtATimeGoesThrough() throws {
        let harness = try harness(
            .status(500), .status(500), .status(500), .status(500), .ok("1", after: 100))
        _ = try ask(4, harness)
        harness.pass(10_000)
        let probe = try harness.send(get())
        #expect(try ask(2, harness) == [503, 503])
        #expect(harness.answer(of: probe).status == 200)
        harness.expectQuiet()
    }

    @Test func aProbeWhoseClientGoesLeavesItToTheNext() throws {
        let harness = try harness(
            .status(500), .status(500), .status(500), .status(500), .ok("1", after: 100))
        _ = try ask(4, harness)
        harness.pass(10_000)
        let probe = try harness.send(get())
        harness.pass(10)
        probe.reset()
        #expect(try ask(1, harness) == [200])
        #expect(try !harness.isBreakerOpen())
        harness.expectQuiet()
    }

    @Test(arguments: [400, 404, 409, 429, 499]) func a4xxNeverCounts(_ status: Int) throws {
        let harness = try harness(.status(status))
        _ = try ask(8, harness)
        #expect(try !harness.isBreakerOpen())
        #expect(harness.seen.count == 8)
        harness.expectQuiet()
    }

    @Test func anAnswerOfTheWrongShapeDoesNotCount() throws {
        let harness = try harness(.ok("{}"), call: "one: { from: a, get: /1, take: items }")
        _ = try ask(8, harness)
        #expect(try !harness.isBreakerOpen())
        harness.expectQuiet()
    }

    static let failures: [(String, Reply)] = [
        ("500", .status(500)), ("503", .status(503)), ("closed", .closes()), ("reset", .resets()),
        ("cut off", .breaksOff()), ("no HTTP", .raw("?\r\n\r\n")), ("too slow", .hangs),
    ]

    @Test(arguments: failures) func aFailureCounts(_ name: String, _ reply: Reply) throws {
        let harness = try harness(reply, endpoint: "timeout: 100ms")
        _ = try ask(4, harness)
        #expect(try harness.isBreakerOpen())
        harness.expectQuiet()
    }

    @Test func aRefusedConnectionCounts() throws {
        let harness = try harness(.ok("1"))
        harness.backend()?.refuse()
        _ = try ask(4, harness)
        #expect(try harness.isBreakerOpen())
        harness.expectQuiet()
    }

    @Test func theDeadlineCountsLikeATimeout() throws {
        let harness = try harness(.hangs, endpoint: "deadline: 100ms")
        _ = try ask(4, harness)
        #expect(try harness.isBreakerOpen())
        harness.expectQuiet()
    }

    @Test func aCallCancelledForAnotherDoesNotCount() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, required: true }
            """, backend: "breaker: { open_at: 1%, min_requests: 1, try_again_after: 10s }")
        harness.on("/1", .hangs)
        harness.on("/2", .status(500, after: 10))
        _ = try harness.ask()
        #expect(try !harness.isBreakerOpen())
        harness.expectQuiet()
    }

    @Test func theLoserOfAHedgeDoesNotCount() throws {
        let harness = try harness(
            .hangs, .ok("1"), call: "one: { from: a, get: /1, hedge: { after: 50ms } }",
            breaker:
                "max_concurrent: 9, breaker: { open_at: 1%, min_requests: 1, try_again_after: 10s }"
        )
        #expect(try ask(1, harness) == [200])
        #expect(try !harness.isBreakerOpen())
        harness.expectQuiet()
    }

    /// A full queue is our own doing and says nothing of the backend's health.
    @Test func aFullQueueDoesNotCount() throws {
        let harness = try harness(
            .ok("1", after: 100),
            breaker:
                "max_concurrent: 1, breaker: { open_at: 50%, min_requests: 4, try_again_after: 10s }"
        )
        let first = try harness.send(get())
        #expect(try ask(8, harness) == Array(repeating: 503, count: 8))
        #expect(try !harness.isBreakerOpen())
        #expect(harness.answer(of: first).status == 200)
        harness.expectQuiet()
    }

    @Test func eachTryIsASampleOfItsOwn() throws {
        let harness = try harness(
            .closes(), call: "one: { from: a, get: /1, retry: { attempts: 4, backoff: 1ms } }")
        _ = try ask(1, harness)
        #expect(try harness.isBreakerOpen())
        harness.expectQuiet()
    }

    @Test func oldFailuresLeaveTheWindow() throws {
        let harness = try harness(.status(500))
        _ = try ask(3, harness)
        harness.pass(11_000)
        _ = try ask(3, harness)
        #expect(try !harness.isBreakerOpen())
        harness.expectQuiet()
    }

    @Test func anotherBackendIsNotConcerned() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2 }
            """, backend: Self.breaker)
        harness.on("/1", .status(500))
        #expect(try ask(6, harness) == [200, 200, 200, 200, 200, 200])
        #expect(try !harness.isBreakerOpen(of: "b"))
        harness.expectQuiet()
    }
}
