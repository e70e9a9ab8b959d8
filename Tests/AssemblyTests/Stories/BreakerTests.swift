import TestSupport
import Testing

/// `breaker`: a backend that fails too often is left alone for a while.
@Suite(.watched) struct BreakerTests {
    static let call = "one: { from: a, get: /1, required: true }"
    static let breaker = "breaker: { open_at: 50%, min_requests: 4, try_again_after: 10s }"

    private func stage(
        _ replies: Reply..., call: String = call, endpoint: String = "", breaker: String = breaker
    ) throws -> Stage {
        let stage = try Stage(call, endpoint: endpoint, backend: breaker)
        stage.on("/1", replies)
        return stage
    }

    private func ask(_ count: Int, _ stage: Stage) throws -> [Int] {
        try (0..<count).map { _ in try stage.ask().status }
    }

    @Test func itOpensAtItsShareAndNotBefore() throws {
        let stage = try stage(.ok("1"), .ok("1"), .status(500), .status(500), .ok("1"))
        #expect(try ask(6, stage) == [200, 200, 502, 502, 503, 503])
        stage.expectQuiet()
    }

    @Test func itStaysClosedBelowItsShare() throws {
        let stage = try stage(.ok("1"), .ok("1"), .ok("1"), .status(500), .ok("1"))
        #expect(try ask(6, stage) == [200, 200, 200, 502, 200, 200])
        stage.expectQuiet()
    }

    @Test func openItAsksNobody() throws {
        let stage = try stage(.status(500))
        _ = try ask(6, stage)
        #expect(stage.seen.count == 4)
        #expect(try stage.isBreakerOpen())
        stage.expectQuiet()
    }

    @Test(arguments: [(0.0, "10"), (1, "10"), (3000, "7"), (9999, "1")])
    func itSaysWhenToComeAgain(after milliseconds: Double, says: String) throws {
        let stage = try stage(.status(500))
        _ = try ask(4, stage)
        stage.pass(milliseconds)
        #expect(try stage.ask()["Retry-After"] == says)
        stage.expectQuiet()
    }

    @Test func aProbeThatIsAnsweredClosesIt() throws {
        let stage = try stage(.status(500), .status(500), .status(500), .status(500), .ok("1"))
        _ = try ask(4, stage)
        stage.pass(10_000)
        #expect(try ask(3, stage) == [200, 200, 200])
        stage.expectQuiet()
    }

    @Test func aProbeThatFailsOpensItAgain() throws {
        let stage = try stage(.status(500))
        _ = try ask(4, stage)
        stage.pass(10_000)
        #expect(try ask(2, stage) == [502, 503])
        stage.pass(9_999)
        #expect(try ask(1, stage) == [503])
        stage.pass(1)
        #expect(try ask(1, stage) == [502])
        stage.expectQuiet()
    }

    @Test func oneProbeAtATimeGoesThrough() throws {
        let stage = try stage(
            .status(500), .status(500), .status(500), .status(500), .ok("1", after: 100))
        _ = try ask(4, stage)
        stage.pass(10_000)
        let probe = try stage.send(get())
        #expect(try ask(2, stage) == [503, 503])
        #expect(stage.answer(of: probe).status == 200)
        stage.expectQuiet()
    }

    @Test func aProbeWhoseClientGoesLeavesItToTheNext() throws {
        let stage = try stage(
            .status(500), .status(500), .status(500), .status(500), .ok("1", after: 100))
        _ = try ask(4, stage)
        stage.pass(10_000)
        let probe = try stage.send(get())
        stage.pass(10)
        probe.reset()
        #expect(try ask(1, stage) == [200])
        #expect(try !stage.isBreakerOpen())
        stage.expectQuiet()
    }

    @Test(arguments: [400, 404, 409, 429, 499]) func a4xxNeverCounts(_ status: Int) throws {
        let stage = try stage(.status(status))
        _ = try ask(8, stage)
        #expect(try !stage.isBreakerOpen())
        #expect(stage.seen.count == 8)
        stage.expectQuiet()
    }

    @Test func anAnswerOfTheWrongShapeDoesNotCount() throws {
        let stage = try stage(.ok("{}"), call: "one: { from: a, get: /1, take: items }")
        _ = try ask(8, stage)
        #expect(try !stage.isBreakerOpen())
        stage.expectQuiet()
    }

    static let failures: [(String, Reply)] = [
        ("500", .status(500)), ("503", .status(503)), ("closed", .closes()), ("reset", .resets()),
        ("cut off", .breaksOff()), ("no HTTP", .raw("?\r\n\r\n")), ("too slow", .hangs),
    ]

    @Test(arguments: failures) func aFailureCounts(_ name: String, _ reply: Reply) throws {
        let stage = try stage(reply, endpoint: "timeout: 100ms")
        _ = try ask(4, stage)
        #expect(try stage.isBreakerOpen())
        stage.expectQuiet()
    }

    @Test func aRefusedConnectionCounts() throws {
        let stage = try stage(.ok("1"))
        stage.backend()?.refuse()
        _ = try ask(4, stage)
        #expect(try stage.isBreakerOpen())
        stage.expectQuiet()
    }

    @Test func theDeadlineCountsLikeATimeout() throws {
        let stage = try stage(.hangs, endpoint: "deadline: 100ms")
        _ = try ask(4, stage)
        #expect(try stage.isBreakerOpen())
        stage.expectQuiet()
    }

    @Test func aCallCancelledForAnotherDoesNotCount() throws {
        let stage = try Stage(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, required: true }
            """, backend: "breaker: { open_at: 1%, min_requests: 1, try_again_after: 10s }")
        stage.on("/1", .hangs)
        stage.on("/2", .status(500, after: 10))
        _ = try stage.ask()
        #expect(try !stage.isBreakerOpen())
        stage.expectQuiet()
    }

    @Test func theLoserOfAHedgeDoesNotCount() throws {
        let stage = try stage(
            .hangs, .ok("1"), call: "one: { from: a, get: /1, hedge: { after: 50ms } }",
            breaker:
                "max_concurrent: 9, breaker: { open_at: 1%, min_requests: 1, try_again_after: 10s }"
        )
        #expect(try ask(1, stage) == [200])
        #expect(try !stage.isBreakerOpen())
        stage.expectQuiet()
    }

    /// A full queue is our own doing and says nothing of the backend's health.
    @Test func aFullQueueDoesNotCount() throws {
        let stage = try stage(
            .ok("1", after: 100),
            breaker:
                "max_concurrent: 1, breaker: { open_at: 50%, min_requests: 4, try_again_after: 10s }"
        )
        let first = try stage.send(get())
        #expect(try ask(8, stage) == Array(repeating: 503, count: 8))
        #expect(try !stage.isBreakerOpen())
        #expect(stage.answer(of: first).status == 200)
        stage.expectQuiet()
    }

    @Test func eachTryIsASampleOfItsOwn() throws {
        let stage = try stage(
            .closes(), call: "one: { from: a, get: /1, retry: { attempts: 4, backoff: 1ms } }")
        _ = try ask(1, stage)
        #expect(try stage.isBreakerOpen())
        stage.expectQuiet()
    }

    @Test func oldFailuresLeaveTheWindow() throws {
        let stage = try stage(.status(500))
        _ = try ask(3, stage)
        stage.pass(11_000)
        _ = try ask(3, stage)
        #expect(try !stage.isBreakerOpen())
        stage.expectQuiet()
    }

    @Test func anotherBackendIsNotConcerned() throws {
        let stage = try Stage(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2 }
            """, backend: Self.breaker)
        stage.on("/1", .status(500))
        #expect(try ask(6, stage) == [200, 200, 200, 200, 200, 200])
        #expect(try !stage.isBreakerOpen(of: "b"))
        stage.expectQuiet()
    }
}
