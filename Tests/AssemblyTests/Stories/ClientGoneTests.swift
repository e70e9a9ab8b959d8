import TestSupport
import Testing

/// A client that goes away takes its whole request with it.
@Suite(.watched) struct ClientGoneTests {
    enum Way: CaseIterable {
        /// Closes its connection: noticed when the gateway asks whether it is still there.
        case closes
        case resets
    }

    private func goneAt20(_ way: Way, _ stage: Stage) throws {
        let client = try stage.send(get())
        stage.pass(20)
        switch way {
        case .closes: client.leave()
        case .resets: client.reset()
        }
        stage.pass(100)
    }

    @Test(arguments: Way.allCases) func allCallsAreCancelled(_ way: Way) throws {
        let stage = try Stage(RequiredTests.mixed)
        stage.on("/1", .hangs)
        stage.on("/2", .hangs)
        try goneAt20(way, stage)
        #expect(stage.events.count == 4)
        #expect(stage.backend(7001)?.openCount == 0)
        #expect(stage.backend(7002)?.openCount == 0)
        stage.expectQuiet()
    }

    @Test func aResetIsNoticedAtOnce() throws {
        let stage = try Stage(RequiredTests.mixed)
        stage.on("/1", .hangs)
        stage.on("/2", .hangs)
        try goneAt20(.resets, stage)
        #expect(stage.events == ["0 GET /1", "0 GET /2", "20 given up /1", "20 given up /2"])
        stage.expectQuiet()
    }

    @Test(arguments: Way.allCases) func theLogSays499(_ way: Way) throws {
        let stage = try Stage("one: { from: a, get: /1 }")
        stage.on("/1", .hangs)
        try goneAt20(way, stage)
        #expect(stage.loggedStatuses == ["499"])
        stage.expectQuiet()
    }

    @Test(arguments: Way.allCases) func theBreakerDoesNotCountIt(_ way: Way) throws {
        let stage = try Stage(
            "one: { from: a, get: /1 }",
            backend: "breaker: { open_at: 1%, min_requests: 1, try_again_after: 10s }")
        stage.on("/1", .hangs)
        try goneAt20(way, stage)
        #expect(try !stage.isBreakerOpen())
        #expect(try stage.outcomes() == "")
        stage.expectQuiet()
    }

    /// No timer of the request survives it: not its timeout, deadline, hedge or padding.
    @Test func noTimerIsLeft() throws {
        let stage = try Stage(
            """
            one: { from: a, get: /1, timeout: 3s, hedge: { after: 1s } }
            two: { from: b, get: "/2/{one.id}", retry: { attempts: 3 } }
            """, endpoint: "min_duration: 20s")
        stage.on("/1", .hangs)
        let client = try stage.send(get())
        stage.pass(20)
        let held = stage.timers
        client.reset()
        stage.pass(150)
        #expect(held >= 3)
        #expect(stage.timers == 0)
        stage.expectQuiet()
    }

    @Test func aCallThatWaitsForAnotherIsNeverMade() throws {
        let stage = try Stage(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: "/2/{one.id}" }
            """)
        stage.on("/1", .ok(#"{"id":7}"#, after: 50))
        let client = try stage.send(get())
        stage.pass(20)
        client.reset()
        stage.pass(100)
        #expect(stage.events == ["0 GET /1", "20 given up /1"])
        stage.expectQuiet()
    }

    @Test func aCallWhoseConnectionIsBeingMadeIsGivenUp() throws {
        let stage = try Stage("one: { from: a, get: /1 }")
        stage.silence(7001)
        try goneAt20(.resets, stage)
        #expect(try stage.connections() == 0)
        stage.expectQuiet()
    }

    @Test func anAnswerThatIsHeldBackIsNotSent() throws {
        let stage = try Stage("one: { from: a, get: /1 }", endpoint: "min_duration: 400ms")
        try goneAt20(.resets, stage)
        #expect(stage.loggedStatuses == ["499"])
        stage.expectQuiet()
    }

    @Test func aClientThatOnlyEndsItsSideGetsItsAnswer() throws {
        let stage = try Stage("one: { from: a, get: /1 }")
        stage.on("/1", .ok("1", after: 300))
        let client = try stage.send(get())
        client.end()
        #expect(stage.answer(of: client).summary == #"200 at 300 {"one":1}"#)
        stage.expectQuiet()
    }

    @Test func aBodyThatNeverEndsIs499() throws {
        let stage = try Stage("one: { from: a, post: /1 }", endpoint: "route: POST /x")
        let client = try stage.send(request("POST", "/x", ["Content-Length: 10"]) + "half")
        stage.pass(20)
        client.reset()
        stage.pass(1)
        #expect(stage.loggedStatuses == ["499"])
        #expect(stage.events == [])
        stage.expectQuiet()
    }
}
