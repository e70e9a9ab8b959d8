import TestSupport
import Testing
import WorkerSupport

/// `retry`, and the built-in resend after a lost connection.
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

    @Test func attemptsIncludesTheFirstOne() throws {
        let harness = try harness([.closes()])
        #expect(try harness.fetch().status == 502)
        #expect(harness.seen.count == 3)
        #expect(try harness.outcomes() == "connection_terminated 1")
        harness.expectQuiet()
    }

    /// Both kinds of failure count, also when they alternate.
    @Test(arguments: [2, 3, 4]) func attemptsCountsDifferentFailures(_ attempts: Int)
        throws
    {
        let refuses = Reply.status(503, "{}", "Connection: close")
        let harness = try harness(
            [refuses, .closes(), refuses, .closes(), refuses, .closes()],
            retry: "attempts: \(attempts), on: [terminated, 503], backoff: 1ms")
        _ = try harness.fetch()
        #expect(harness.seen.count == attempts)
        harness.expectQuiet()
    }

    @Test func successEndsTheRetries() throws {
        let harness = try harness([.closes(), .ok("1")])
        #expect(try harness.fetch().status == 200)
        #expect(harness.seen.count == 2)
        harness.expectQuiet()
    }

    /// Half to all of the backoff, which doubles.
    @Test(arguments: 1...10 as ClosedRange<UInt64>) func backoffGrowsWithJitter(_ seed: UInt64)
        throws
    {
        let harness = try harness([.closes()], seed: seed)
        _ = try harness.fetch()
        let times = harness.seen.map(\.ms)
        #expect((50.0...100).contains(times[1] - times[0]))
        #expect((100.0...200).contains(times[2] - times[1]))
        harness.expectQuiet()
    }

    @Test func refusedConnectionIsRetried() throws {
        let harness = try harness([.ok("1")])
        harness.backend()?.refuse()
        #expect(try harness.fetch().status == 502)
        #expect(harness.ms >= 150)
        harness.expectQuiet()
    }

    @Test(arguments: [500, 404, 502, 503]) func statusIsNotRetriedUnlessListed(_ status: Int)
        throws
    {
        let harness = try harness([.status(status)])
        _ = try harness.fetch()
        #expect(harness.seen.count == 1)
        harness.expectQuiet()
    }

    @Test func listedStatusIsRetried() throws {
        let harness = try harness([.status(503), .ok("1")], retry: "attempts: 3, on: [503]")
        #expect(try harness.fetch().status == 200)
        harness.expectQuiet()
    }

    @Test func unlistedConditionIsNotRetried() throws {
        let harness = try harness([.closes()], retry: "attempts: 3, on: [connect]")
        _ = try harness.fetch()
        #expect(harness.seen.count == 1)
        harness.expectQuiet()
    }

    @Test func aRetryAfterIsHonoured() throws {
        let harness = try harness(
            [.status(503, "{}", "Retry-After: 1"), .ok("1")], retry: "attempts: 2, on: [503]")
        #expect(try harness.fetch().outcome == "200 at 1000")
        harness.expectQuiet()
    }

    @Test(arguments: ["9", "9223372036854775807", "99999999999999999999", "-1", "soon"])
    func lateOrInvalidRetryAfterIsHarmless(_ value: String) throws {
        let harness = try harness(
            [.status(503, "{}", "Retry-After: \(value)"), .ok("1")], retry: "attempts: 2, on: [503]"
        )
        #expect([200, 502].contains(try harness.fetch().status))
        #expect(harness.ms < 5000)
        harness.expectQuiet()
    }

    @Test func sentPostIsNotRetried() throws {
        let harness = try harness(
            [.closes()], call: "post: /1", endpoint: "route: POST /x")
        #expect(try harness.fetch(post("1")).status == 502)
        #expect(harness.seen.count == 1)
        harness.expectQuiet()
    }

    @Test func timeoutCoversAllAttempts() throws {
        let harness = try harness([.closes(after: 200)], endpoint: "timeout: 350ms")
        #expect(try harness.fetch().outcome == "504 at 350")
        harness.expectQuiet()
    }

    @Test func clientDisconnectEndsTheBackoff() throws {
        let harness = try harness([.closes()], retry: "attempts: 3, backoff: 1s")
        let client = try harness.send(get())
        harness.pass(10)
        client.reset()
        harness.pass(150)
        #expect(harness.timers == 0)
        #expect(harness.seen.count == 1)
        harness.expectQuiet()
    }

    // MARK: The built-in resend

    /// The reused connection fails when the second request is sent on it.
    private func deadConnection(_ call: String, _ endpoint: String = "") throws -> GatewayHarness {
        let harness = try GatewayHarness(
            "one: { from: a, \(call), required: true }", endpoint: endpoint)
        harness.on("/1", .ok("1"), .resets(), .ok("3"))
        return harness
    }

    @Test func requestOnADeadConnectionIsResentAtOnce() throws {
        let harness = try deadConnection("get: /1")
        _ = try harness.fetch()
        #expect(try harness.fetch().summary == #"200 at 0 {"one":3}"#)
        #expect(harness.seen.map(\.connection) == [1, 1, 2])
        harness.expectQuiet()
    }

    @Test func aPostIsNotResent() throws {
        let harness = try deadConnection("post: /1", "route: POST /x")
        _ = try harness.fetch(post("1"))
        #expect(try harness.fetch(post("1")).status == 502)
        harness.expectQuiet()
    }

    @Test func requestOnANewConnectionIsNotResent() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1, required: true }")
        harness.on("/1", .resets(), .ok("2"))
        #expect(try harness.fetch().status == 502)
        harness.expectQuiet()
    }

    @Test func connectionsAreReused() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        for _ in 1...3 { _ = try harness.fetch() }
        #expect(harness.seen.map(\.connection) == [1, 1, 1])
        harness.expectQuiet()
    }

    @Test func connectionClosedWhileIdleIsNotUsed() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1, required: true }", endpoint: "route: POST /x")
        _ = try harness.fetch(post("1"))
        harness.backend()?.closeIdle()
        harness.pass(1)
        #expect(try harness.fetch(post("1")).status == 200)
        #expect(harness.seen.map(\.connection) == [1, 2])
        harness.expectQuiet()
    }

    // MARK: Budget

    /// A fifth of the running calls may be retried at the same time.
    @Test func retriesAreAFifthOfTheCalls() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, retry: { attempts: 2, on: [503], backoff: 1ms } }")
        harness.on("/1", .status(503, after: 20))
        let clients = try (0..<30).map { _ in try harness.send(get()) }
        harness.pass(100)
        #expect(clients.allSatisfy { $0.responses.map(\.status) == [502] })
        #expect(harness.seen.count == 30 + 6)
        harness.expectQuiet()
    }

    /// With few calls, all may be retried; released permits are reused.
    @Test func aFewRetriesAreAlwaysAllowed() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, retry: { attempts: 2, on: [503], backoff: 1ms } }")
        harness.on("/1", .status(503))
        for _ in 0..<10 { _ = try harness.fetch() }
        #expect(harness.seen.count == 20)
        harness.expectQuiet()
    }
}
