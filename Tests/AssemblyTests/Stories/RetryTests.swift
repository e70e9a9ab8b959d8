import TestSupport
import Testing

/// `retry`, and the one resend that is built in.
@Suite(.watched) struct RetryTests {
    private func harness(
        _ replies: [Reply], retry: String = "attempts: 3, backoff: 100ms", call: String = "get: /1",
        endpoint: String = "", seed: UInt64 = 1
    ) throws -> GatewayHarness {
        let harness = try GatewayHarness(
            "one: { from: a, \(call), required: true, retry: { \(retry) } }", endpoint: endpoint,
            seed: seed)
        harness.on("/1", replies)
        return harness
    }

    @Test func attemptsCountsAllTries() throws {
        let harness = try harness([.closes()])
        #expect(try harness.ask().status == 502)
        #expect(harness.seen.count == 3)
        #expect(try harness.outcomes() == "connection_terminated 1")
        harness.expectQuiet()
    }

    /// Found by seed 5001291 of the simulation.
    @Test(arguments: [2, 3, 4]) func attemptsCountsTriesThatFailInDifferentWays(_ attempts: Int)
        throws
    {
        let refuses = Reply.status(503, "{}", "Connection: close")
        let harness = try harness(
            [refuses, .closes(), refuses, .closes(), refuses, .closes()],
            retry: "attempts: \(attempts), on: [terminated, 503], backoff: 1ms")
        _ = try harness.ask()
        #expect(harness.seen.count == attempts)
        harness.expectQuiet()
    }

    @Test func aTryThatWorksEndsThem() throws {
        let harness = try harness([.closes(), .ok("1")])
        #expect(try harness.ask().status == 200)
        #expect(harness.seen.count == 2)
        harness.expectQuiet()
    }

    /// Half to all of the back-off, which doubles.
    @Test(arguments: 1...10 as ClosedRange<UInt64>) func theWaitGrowsAndIsJittered(_ seed: UInt64)
        throws
    {
        let harness = try harness([.closes()], seed: seed)
        _ = try harness.ask()
        let times = harness.seen.map(\.ms)
        #expect((50.0...100).contains(times[1] - times[0]))
        #expect((100.0...200).contains(times[2] - times[1]))
        harness.expectQuiet()
    }

    @Test func aRefusedConnectionIsTriedAgain() throws {
        let harness = try harness([.ok("1")])
        harness.backend()?.refuse()
        #expect(try harness.ask().status == 502)
        #expect(harness.ms >= 150)
        harness.expectQuiet()
    }

    @Test(arguments: [500, 404, 502, 503]) func aStatusIsNotTriedAgainUnlessListed(_ status: Int)
        throws
    {
        let harness = try harness([.status(status)])
        _ = try harness.ask()
        #expect(harness.seen.count == 1)
        harness.expectQuiet()
    }

    @Test func aListedStatusIsTriedAgain() throws {
        let harness = try harness([.status(503), .ok("1")], retry: "attempts: 3, on: [503]")
        #expect(try harness.ask().status == 200)
        harness.expectQuiet()
    }

    @Test func whatIsNotListedIsNotTriedAgain() throws {
        let harness = try harness([.closes()], retry: "attempts: 3, on: [connect]")
        _ = try harness.ask()
        #expect(harness.seen.count == 1)
        harness.expectQuiet()
    }

    @Test func aRetryAfterIsHonoured() throws {
        let harness = try harness(
            [.status(503, "{}", "Retry-After: 1"), .ok("1")], retry: "attempts: 2, on: [503]")
        #expect(try harness.ask().outcome == "200 at 1000")
        harness.expectQuiet()
    }

    @Test(arguments: ["9", "9223372036854775807", "99999999999999999999", "-1", "soon"])
    func aRetryAfterBeyondTheDeadlineOrWithoutSenseDoesNoHarm(_ value: String) throws {
        let harness = try harness(
            [.status(503, "{}", "Retry-After: \(value)"), .ok("1")], retry: "attempts: 2, on: [503]"
        )
        #expect([200, 502].contains(try harness.ask().status))
        #expect(harness.ms < 5000)
        harness.expectQuiet()
    }

    @Test func aPostThatWasSentIsNotSentAgain() throws {
        let harness = try harness(
            [.closes()], call: "post: /1", endpoint: "route: POST /x")
        #expect(try harness.ask(post("1")).status == 502)
        #expect(harness.seen.count == 1)
        harness.expectQuiet()
    }

    @Test func theTimeoutCoversAllTries() throws {
        let harness = try harness([.closes(after: 200)], endpoint: "timeout: 350ms")
        #expect(try harness.ask().outcome == "504 at 350")
        harness.expectQuiet()
    }

    @Test func aClientThatGoesEndsTheWait() throws {
        let harness = try harness([.closes()], retry: "attempts: 3, backoff: 1s")
        let client = try harness.send(get())
        harness.pass(10)
        client.reset()
        harness.pass(150)
        #expect(harness.timers == 0)
        #expect(harness.seen.count == 1)
        harness.expectQuiet()
    }

    // MARK: The resend that is built in

    /// The kept connection dies when the second request is on it.
    private func deadConnection(_ call: String, _ endpoint: String = "") throws -> GatewayHarness {
        let harness = try GatewayHarness(
            "one: { from: a, \(call), required: true }", endpoint: endpoint)
        harness.on("/1", .ok("1"), .resets(), .ok("3"))
        return harness
    }

    @Test func aDeadConnectionCostsNothing() throws {
        let harness = try deadConnection("get: /1")
        _ = try harness.ask()
        #expect(try harness.ask().summary == #"200 at 0 {"one":3}"#)
        #expect(harness.seen.map(\.connection) == [1, 1, 2])
        harness.expectQuiet()
    }

    @Test func aPostIsNotResent() throws {
        let harness = try deadConnection("post: /1", "route: POST /x")
        _ = try harness.ask(post("1"))
        #expect(try harness.ask(post("1")).status == 502)
        harness.expectQuiet()
    }

    @Test func aFreshConnectionThatDiesIsNotResent() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1, required: true }")
        harness.on("/1", .resets(), .ok("2"))
        #expect(try harness.ask().status == 502)
        harness.expectQuiet()
    }

    @Test func connectionsAreKept() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        for _ in 1...3 { _ = try harness.ask() }
        #expect(harness.seen.map(\.connection) == [1, 1, 1])
        harness.expectQuiet()
    }

    @Test func aConnectionThatTheBackendClosedWhileItWasIdleIsNotUsed() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1, required: true }", endpoint: "route: POST /x")
        _ = try harness.ask(post("1"))
        harness.backend()?.closeIdle()
        harness.pass(1)
        #expect(try harness.ask(post("1")).status == 200)
        #expect(harness.seen.map(\.connection) == [1, 2])
        harness.expectQuiet()
    }

    // MARK: Budget

    /// A fifth of the calls under way may be tried again at the same time.
    @Test func retriesAreAFifthOfTheCalls() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, retry: { attempts: 2, on: [503], backoff: 1ms } }")
        harness.on("/1", .status(503, after: 20))
        let clients = try (0..<30).map { _ in try harness.send(get()) }
        harness.pass(100)
        #expect(clients.allSatisfy { $0.answers.map(\.status) == [502] })
        #expect(harness.seen.count == 30 + 6)
        harness.expectQuiet()
    }

    /// Of a few calls all may; what was given back may be used again.
    @Test func aFewRetriesAreAlwaysAllowed() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, retry: { attempts: 2, on: [503], backoff: 1ms } }")
        harness.on("/1", .status(503))
        for _ in 0..<10 { _ = try harness.ask() }
        #expect(harness.seen.count == 20)
        harness.expectQuiet()
    }
}
