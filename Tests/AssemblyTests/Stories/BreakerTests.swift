import TestSupport
import Testing
import WorkerSupport

/// `breaker`: calls to a backend that fails too often are stopped for a while.
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

    private func statuses(_ count: Int, _ harness: GatewayHarness) throws -> [Int] {
        try (0..<count).map { _ in try harness.fetch().status }
    }

    @Test func opensAtTheConfiguredFailureShare() throws {
        let harness = try harness(.ok("1"), .ok("1"), .status(500), .status(500), .ok("1"))
        #expect(try statuses(6, harness) == [200, 200, 502, 502, 503, 503])
        harness.expectQuiet()
    }

    @Test func staysClosedBelowTheFailureShare() throws {
        let harness = try harness(.ok("1"), .ok("1"), .ok("1"), .status(500), .ok("1"))
        #expect(try statuses(6, harness) == [200, 200, 200, 502, 200, 200])
        harness.expectQuiet()
    }

    @Test func openBreakerSendsNoCalls() throws {
        let harness = try harness(.status(500))
        _ = try statuses(6, harness)
        #expect(harness.seen.count == 4)
        #expect(try harness.isBreakerOpen())
        harness.expectQuiet()
    }

    @Test(arguments: [(0.0, "10"), (1, "10"), (3000, "7"), (9999, "1")])
    func retryAfterIsTheTimeUntilTheProbe(after milliseconds: Double, says: String) throws {
        let harness = try harness(.status(500))
        _ = try statuses(4, harness)
        harness.pass(milliseconds)
        #expect(try harness.fetch()["Retry-After"] == says)
        harness.expectQuiet()
    }

    @Test func successfulProbeCloses() throws {
        let harness = try harness(.status(500), .status(500), .status(500), .status(500), .ok("1"))
        _ = try statuses(4, harness)
        harness.pass(10_000)
        #expect(try statuses(3, harness) == [200, 200, 200])
        harness.expectQuiet()
    }

    @Test func failedProbeOpensAgain() throws {
        let harness = try harness(.status(500))
        _ = try statuses(4, harness)
        harness.pass(10_000)
        #expect(try statuses(2, harness) == [502, 503])
        harness.pass(9_999)
        #expect(try statuses(1, harness) == [503])
        harness.pass(1)
        #expect(try statuses(1, harness) == [502])
        harness.expectQuiet()
    }

    @Test func allowsOneProbeAtATime() throws {
        let harness = try harness(
            .status(500), .status(500), .status(500), .status(500), .ok("1", after: 100))
        _ = try statuses(4, harness)
        harness.pass(10_000)
        let probe = try harness.send(get())
        #expect(try statuses(2, harness) == [503, 503])
        #expect(harness.response(of: probe).status == 200)
        harness.expectQuiet()
    }

    @Test func cancelledProbeIsRepeatedByTheNextCall() throws {
        let harness = try harness(
            .status(500), .status(500), .status(500), .status(500), .ok("1", after: 100))
        _ = try statuses(4, harness)
        harness.pass(10_000)
        let probe = try harness.send(get())
        harness.pass(10)
        probe.reset()
        #expect(try statuses(1, harness) == [200])
        #expect(try !harness.isBreakerOpen())
        harness.expectQuiet()
    }

    @Test(arguments: [400, 404, 409, 429, 499]) func clientErrorStatusDoesNotCount(_ status: Int)
        throws
    {
        let harness = try harness(.status(status))
        _ = try statuses(8, harness)
        #expect(try !harness.isBreakerOpen())
        #expect(harness.seen.count == 8)
        harness.expectQuiet()
    }

    @Test func invalidShapeDoesNotCount() throws {
        let harness = try harness(.ok("{}"), call: "one: { from: a, get: /1, take: items }")
        _ = try statuses(8, harness)
        #expect(try !harness.isBreakerOpen())
        harness.expectQuiet()
    }

    static let failures: [(String, Reply)] = [
        ("500", .status(500)), ("503", .status(503)), ("closed", .closes()), ("reset", .resets()),
        ("cut off", .breaksOff()), ("not HTTP", .raw("?\r\n\r\n")), ("too slow", .hangs),
    ]

    @Test(arguments: failures) func failureCounts(_ name: String, _ reply: Reply) throws {
        let harness = try harness(reply, endpoint: "timeout: 100ms")
        _ = try statuses(4, harness)
        #expect(try harness.isBreakerOpen())
        harness.expectQuiet()
    }

    @Test func refusedConnectionCounts() throws {
        let harness = try harness(.ok("1"))
        harness.backend()?.refuse()
        _ = try statuses(4, harness)
        #expect(try harness.isBreakerOpen())
        harness.expectQuiet()
    }

    @Test func deadlineCountsLikeATimeout() throws {
        let harness = try harness(.hangs, endpoint: "deadline: 100ms")
        _ = try statuses(4, harness)
        #expect(try harness.isBreakerOpen())
        harness.expectQuiet()
    }

    @Test func cancelledCallDoesNotCount() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, required: true }
            """, backend: "breaker: { open_at: 1%, min_requests: 1, try_again_after: 10s }")
        harness.on("/1", .hangs)
        harness.on("/2", .status(500, after: 10))
        _ = try harness.fetch()
        #expect(try !harness.isBreakerOpen())
        harness.expectQuiet()
    }

    @Test func cancelledHedgeRequestDoesNotCount() throws {
        let harness = try harness(
            .hangs, .ok("1"), call: "one: { from: a, get: /1, hedge: { after: 50ms } }",
            breaker:
                "max_concurrent: 9, breaker: { open_at: 1%, min_requests: 1, try_again_after: 10s }"
        )
        #expect(try statuses(1, harness) == [200])
        #expect(try !harness.isBreakerOpen())
        harness.expectQuiet()
    }

    /// A full queue is the gateway's and says nothing about the backend.
    @Test func fullQueueDoesNotCount() throws {
        let harness = try harness(
            .ok("1", after: 100),
            breaker:
                "max_concurrent: 1, breaker: { open_at: 50%, min_requests: 4, try_again_after: 10s }"
        )
        let first = try harness.send(get())
        #expect(try statuses(8, harness) == Array(repeating: 503, count: 8))
        #expect(try !harness.isBreakerOpen())
        #expect(harness.response(of: first).status == 200)
        harness.expectQuiet()
    }

    @Test func eachAttemptCounts() throws {
        let harness = try harness(
            .closes(), call: "one: { from: a, get: /1, retry: { attempts: 4, backoff: 1ms } }")
        _ = try statuses(1, harness)
        #expect(try harness.isBreakerOpen())
        harness.expectQuiet()
    }

    @Test func oldFailuresLeaveTheWindow() throws {
        let harness = try harness(.status(500))
        _ = try statuses(3, harness)
        harness.pass(11_000)
        _ = try statuses(3, harness)
        #expect(try !harness.isBreakerOpen())
        harness.expectQuiet()
    }

    @Test func breakersOfOtherBackendsStayClosed() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2 }
            """, backend: Self.breaker)
        harness.on("/1", .status(500))
        #expect(try statuses(6, harness) == [200, 200, 200, 200, 200, 200])
        #expect(try !harness.isBreakerOpen(of: "b"))
        harness.expectQuiet()
    }
}
