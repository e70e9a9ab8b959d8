import TestSupport
import Testing
import WorkerSupport

/// A client that disconnects cancels its whole request.
@Suite(.watched) struct ClientGoneTests {
    enum Way: CaseIterable {
        /// Closes its connection: detected when the gateway probes it.
        case closes
        case resets
    }

    private func goneAt20(_ way: Way, _ harness: GatewayHarness) throws {
        let client = try harness.send(get())
        harness.pass(20)
        switch way {
        case .closes: client.leave()
        case .resets: client.reset()
        }
        harness.pass(100)
    }

    @Test(arguments: Way.allCases) func allCallsAreCancelled(_ way: Way) throws {
        let harness = try GatewayHarness(RequiredTests.mixed)
        harness.on("/1", .hangs)
        harness.on("/2", .hangs)
        try goneAt20(way, harness)
        #expect(harness.events.count == 4)
        #expect(harness.backend(7001)?.openCount == 0)
        #expect(harness.backend(7002)?.openCount == 0)
        harness.expectQuiet()
    }

    @Test func resetCancelsCallsAtOnce() throws {
        let harness = try GatewayHarness(RequiredTests.mixed)
        harness.on("/1", .hangs)
        harness.on("/2", .hangs)
        try goneAt20(.resets, harness)
        #expect(harness.events == ["0 GET /1", "0 GET /2", "20 cancelled /1", "20 cancelled /2"])
        harness.expectQuiet()
    }

    @Test(arguments: Way.allCases) func accessLogHasStatus499(_ way: Way) throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        harness.on("/1", .hangs)
        try goneAt20(way, harness)
        #expect(harness.loggedStatuses == ["499"])
        harness.expectQuiet()
    }

    @Test(arguments: Way.allCases) func breakerDoesNotCountCancelledCalls(_ way: Way) throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }",
            backend: "breaker: { open_at: 1%, min_requests: 1, try_again_after: 10s }")
        harness.on("/1", .hangs)
        try goneAt20(way, harness)
        #expect(try !harness.isBreakerOpen())
        #expect(try harness.outcomes() == "cancelled 1")
        harness.expectQuiet()
    }

    /// No timer of the request remains: not its timeout, deadline, hedge or padding.
    @Test func leavesNoTimer() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, timeout: 3s, hedge: { after: 1s } }
            two: { from: b, get: "/2/{one.id}", retry: { attempts: 3 } }
            """, endpoint: "min_duration: 20s")
        harness.on("/1", .hangs)
        let client = try harness.send(get())
        harness.pass(20)
        let held = harness.timers
        client.reset()
        harness.pass(150)
        #expect(held >= 3)
        #expect(harness.timers == 0)
        harness.expectQuiet()
    }

    @Test func waitingCallIsNeverStarted() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: "/2/{one.id}" }
            """)
        harness.on("/1", .ok(#"{"id":7}"#, after: 50))
        let client = try harness.send(get())
        harness.pass(20)
        client.reset()
        harness.pass(100)
        #expect(harness.events == ["0 GET /1", "20 cancelled /1"])
        harness.expectQuiet()
    }

    @Test func connectingCallIsCancelled() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        harness.silence(7001)
        try goneAt20(.resets, harness)
        #expect(try harness.connections() == 0)
        harness.expectQuiet()
    }

    @Test func paddedResponseIsNotSent() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", endpoint: "min_duration: 400ms")
        try goneAt20(.resets, harness)
        #expect(harness.loggedStatuses == ["499"])
        harness.expectQuiet()
    }

    @Test func halfClosedClientReceivesItsResponse() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        harness.on("/1", .ok("1", after: 300))
        let client = try harness.send(get())
        client.end()
        #expect(harness.response(of: client).summary == #"200 at 300 {"one":1}"#)
        harness.expectQuiet()
    }

    @Test func unfinishedBodyIsLoggedAs499() throws {
        let harness = try GatewayHarness("one: { from: a, post: /1 }", endpoint: "route: POST /x")
        let client = try harness.send(request("POST", "/x", ["Content-Length: 10"]) + "half")
        harness.pass(20)
        client.reset()
        harness.pass(1)
        #expect(harness.loggedStatuses == ["499"])
        #expect(harness.events == [])
        harness.expectQuiet()
    }
}
