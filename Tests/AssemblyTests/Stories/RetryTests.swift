import TestSupport
import Testing

/// `retry`, and the one resend that is built in.
@Suite(.watched) struct RetryTests {
    private func stage(
        _ replies: [Reply], retry: String = "attempts: 3, backoff: 100ms", call: String = "get: /1",
        endpoint: String = "", seed: UInt64 = 1
    ) throws -> Stage {
        let stage = try Stage(
            "one: { from: a, \(call), required: true, retry: { \(retry) } }", endpoint: endpoint,
            seed: seed)
        stage.on("/1", replies)
        return stage
    }

    @Test func attemptsCountsAllTries() throws {
        let stage = try stage([.closes()])
        #expect(try stage.ask().status == 502)
        #expect(stage.seen.count == 3)
        #expect(try stage.outcomes() == "connection_terminated 1")
        stage.expectQuiet()
    }

    /// Found by seed 5001291 of the simulation.
    @Test(arguments: [2, 3, 4]) func attemptsCountsTriesThatFailInDifferentWays(_ attempts: Int)
        throws
    {
        let refuses = Reply.status(503, "{}", "Connection: close")
        let stage = try stage(
            [refuses, .closes(), refuses, .closes(), refuses, .closes()],
            retry: "attempts: \(attempts), on: [terminated, 503], backoff: 1ms")
        _ = try stage.ask()
        #expect(stage.seen.count == attempts)
        stage.expectQuiet()
    }

    @Test func aTryThatWorksEndsThem() throws {
        let stage = try stage([.closes(), .ok("1")])
        #expect(try stage.ask().status == 200)
        #expect(stage.seen.count == 2)
        stage.expectQuiet()
    }

    /// Half to all of the back-off, which doubles.
    @Test(arguments: 1...10 as ClosedRange<UInt64>) func theWaitGrowsAndIsJittered(_ seed: UInt64)
        throws
    {
        let stage = try stage([.closes()], seed: seed)
        _ = try stage.ask()
        let times = stage.seen.map(\.ms)
        #expect((50.0...100).contains(times[1] - times[0]))
        #expect((100.0...200).contains(times[2] - times[1]))
        stage.expectQuiet()
    }

    @Test func aRefusedConnectionIsTriedAgain() throws {
        let stage = try stage([.ok("1")])
        stage.backend()?.refuse()
        #expect(try stage.ask().status == 502)
        #expect(stage.ms >= 150)
        stage.expectQuiet()
    }

    @Test(arguments: [500, 404, 502, 503]) func aStatusIsNotTriedAgainUnlessListed(_ status: Int)
        throws
    {
        let stage = try stage([.status(status)])
        _ = try stage.ask()
        #expect(stage.seen.count == 1)
        stage.expectQuiet()
    }

    @Test func aListedStatusIsTriedAgain() throws {
        let stage = try stage([.status(503), .ok("1")], retry: "attempts: 3, on: [503]")
        #expect(try stage.ask().status == 200)
        stage.expectQuiet()
    }

    @Test func whatIsNotListedIsNotTriedAgain() throws {
        let stage = try stage([.closes()], retry: "attempts: 3, on: [connect]")
        _ = try stage.ask()
        #expect(stage.seen.count == 1)
        stage.expectQuiet()
    }

    @Test func aRetryAfterIsHonoured() throws {
        let stage = try stage(
            [.status(503, "{}", "Retry-After: 1"), .ok("1")], retry: "attempts: 2, on: [503]")
        #expect(try stage.ask().outcome == "200 at 1000")
        stage.expectQuiet()
    }

    @Test(arguments: ["9", "9223372036854775807", "99999999999999999999", "-1", "soon"])
    func aRetryAfterBeyondTheDeadlineOrWithoutSenseDoesNoHarm(_ value: String) throws {
        let stage = try stage(
            [.status(503, "{}", "Retry-After: \(value)"), .ok("1")], retry: "attempts: 2, on: [503]"
        )
        #expect([200, 502].contains(try stage.ask().status))
        #expect(stage.ms < 5000)
        stage.expectQuiet()
    }

    @Test func aPostThatWasSentIsNotSentAgain() throws {
        let stage = try stage(
            [.closes()], call: "post: /1", endpoint: "route: POST /x")
        #expect(try stage.ask(post("1")).status == 502)
        #expect(stage.seen.count == 1)
        stage.expectQuiet()
    }

    @Test func theTimeoutCoversAllTries() throws {
        let stage = try stage([.closes(after: 200)], endpoint: "timeout: 350ms")
        #expect(try stage.ask().outcome == "504 at 350")
        stage.expectQuiet()
    }

    @Test func aClientThatGoesEndsTheWait() throws {
        let stage = try stage([.closes()], retry: "attempts: 3, backoff: 1s")
        let client = try stage.send(get())
        stage.pass(10)
        client.reset()
        stage.pass(150)
        #expect(stage.timers == 0)
        #expect(stage.seen.count == 1)
        stage.expectQuiet()
    }

    // MARK: The resend that is built in

    /// The kept connection dies when the second request is on it.
    private func deadConnection(_ call: String, _ endpoint: String = "") throws -> Stage {
        let stage = try Stage("one: { from: a, \(call), required: true }", endpoint: endpoint)
        stage.on("/1", .ok("1"), .resets(), .ok("3"))
        return stage
    }

    @Test func aDeadConnectionCostsNothing() throws {
        let stage = try deadConnection("get: /1")
        _ = try stage.ask()
        #expect(try stage.ask().summary == #"200 at 0 {"one":3}"#)
        #expect(stage.seen.map(\.connection) == [1, 1, 2])
        stage.expectQuiet()
    }

    @Test func aPostIsNotResent() throws {
        let stage = try deadConnection("post: /1", "route: POST /x")
        _ = try stage.ask(post("1"))
        #expect(try stage.ask(post("1")).status == 502)
        stage.expectQuiet()
    }

    @Test func aFreshConnectionThatDiesIsNotResent() throws {
        let stage = try Stage("one: { from: a, get: /1, required: true }")
        stage.on("/1", .resets(), .ok("2"))
        #expect(try stage.ask().status == 502)
        stage.expectQuiet()
    }

    @Test func connectionsAreKept() throws {
        let stage = try Stage("one: { from: a, get: /1 }")
        for _ in 1...3 { _ = try stage.ask() }
        #expect(stage.seen.map(\.connection) == [1, 1, 1])
        stage.expectQuiet()
    }

    @Test func aConnectionThatTheBackendClosedWhileItWasIdleIsNotUsed() throws {
        let stage = try Stage(
            "one: { from: a, post: /1, required: true }", endpoint: "route: POST /x")
        _ = try stage.ask(post("1"))
        stage.backend()?.closeIdle()
        stage.pass(1)
        #expect(try stage.ask(post("1")).status == 200)
        #expect(stage.seen.map(\.connection) == [1, 2])
        stage.expectQuiet()
    }

    // MARK: Budget

    /// A fifth of the calls under way may be tried again at the same time.
    @Test func retriesAreAFifthOfTheCalls() throws {
        let stage = try Stage(
            "one: { from: a, get: /1, retry: { attempts: 2, on: [503], backoff: 1ms } }")
        stage.on("/1", .status(503, after: 20))
        let clients = try (0..<30).map { _ in try stage.send(get()) }
        stage.pass(100)
        #expect(clients.allSatisfy { $0.answers.map(\.status) == [502] })
        #expect(stage.seen.count == 30 + 6)
        stage.expectQuiet()
    }

    /// Of a few calls all may; what was given back may be used again.
    @Test func aFewRetriesAreAlwaysAllowed() throws {
        let stage = try Stage(
            "one: { from: a, get: /1, retry: { attempts: 2, on: [503], backoff: 1ms } }")
        stage.on("/1", .status(503))
        for _ in 0..<10 { _ = try stage.ask() }
        #expect(stage.seen.count == 20)
        stage.expectQuiet()
    }
}
