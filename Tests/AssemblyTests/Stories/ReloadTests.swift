import TestSupport
import Testing

/// A new plan in the place of the old one, while requests are in flight.
@Suite(.watched) struct ReloadTests {
    static let call = "one: { from: a, get: /1 }"

    private func text(_ calls: String = call, endpoint: String = "", backend: String = "") -> String
    {
        Stage.text(calls, endpoint, backend)
    }

    @Test func aRequestInFlightFinishesOnTheOldPlan() throws {
        let stage = try Stage(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: "/2/{one}" }
            """)
        stage.on("/1", .ok("1", after: 100))
        let client = try stage.send(get())
        stage.pass(50)
        try stage.install(text("new: { from: c, get: /3 }"))
        #expect(stage.answer(of: client).summary == #"200 at 100 {"one":1,"two":"/2/1"}"#)
        stage.expectQuiet()
    }

    @Test func theNextRequestFindsTheNewPlan() throws {
        let stage = try Stage(Self.call)
        try stage.install(text("new: { from: c, get: /3 }"))
        #expect(try stage.ask().body == #"{"new":"/3"}"#)
        stage.expectQuiet()
    }

    @Test func theNextRequestOfAConnectionFindsTheNewPlan() throws {
        let stage = try Stage(Self.call)
        let client = try stage.send(get())
        _ = stage.answer(of: client)
        try stage.install(text("new: { from: c, get: /3 }"))
        client.send(get())
        #expect(stage.answer(of: client).body == #"{"new":"/3"}"#)
        stage.expectQuiet()
    }

    @Test func aRouteMayGo() throws {
        let stage = try Stage(Self.call)
        try stage.install(text(endpoint: "route: GET /y"))
        #expect(try stage.ask().status == 404)
        #expect(try stage.ask(get("/y")).status == 200)
        stage.expectQuiet()
    }

    @Test func connectionsToABackendThatStaysAreKept() throws {
        let stage = try Stage(Self.call)
        _ = try stage.ask()
        try stage.install(text(endpoint: "deadline: 1s"))
        _ = try stage.ask()
        #expect(stage.seen.map(\.connection) == [1, 1])
        stage.expectQuiet()
    }

    @Test func connectionsToABackendThatGoesAreClosed() throws {
        let stage = try Stage(Self.call)
        _ = try stage.ask()
        try stage.install(text(backend: #"urls: ["http://127.0.0.1:7003"]"#))
        #expect(stage.backend(7001)?.openCount == 0)
        stage.expectQuiet()
    }

    @Test func aConnectionAtWorkIsClosedAfterItsAnswer() throws {
        let stage = try Stage(Self.call)
        stage.on("/1", .ok("1", after: 100))
        let client = try stage.send(get())
        stage.pass(50)
        try stage.install(text(backend: #"urls: ["http://127.0.0.1:7003"]"#))
        #expect(stage.answer(of: client).outcome == "200 at 100")
        stage.pass(1)
        #expect(stage.backend(7001)?.openCount == 0)
        stage.expectQuiet()
    }

    @Test func theCountsOfAnEndpointGoOn() throws {
        let stage = try Stage(Self.call)
        _ = try stage.ask()
        try stage.install(text())
        _ = try stage.ask()
        #expect(stage.answered == ["GET /x: 200 2 times"])
        stage.expectQuiet()
    }

    @Test func theCountsOfABackendGoOn() throws {
        let stage = try Stage(Self.call)
        _ = try stage.ask()
        try stage.install(text())
        _ = try stage.ask()
        #expect(try stage.outcomes() == "ok 2")
        stage.expectQuiet()
    }

    @Test func aCallInFlightIsCountedToo() throws {
        let stage = try Stage(Self.call)
        stage.on("/1", .ok("1", after: 100))
        let client = try stage.send(get())
        stage.pass(50)
        try stage.install(text())
        _ = stage.answer(of: client)
        #expect(try stage.outcomes() == "ok 1")
        stage.expectQuiet()
    }

    @Test func anOpenBreakerStaysOpen() throws {
        let breaker = "breaker: { open_at: 1%, min_requests: 1, try_again_after: 10s }"
        let stage = try Stage(Self.call, backend: breaker)
        stage.on("/1", .status(500))
        _ = try stage.ask()
        try stage.install(text(backend: breaker))
        #expect(try stage.ask().status == 503)
        stage.expectQuiet()
    }

    @Test func aBreakerThatChangedBeginsAnew() throws {
        let stage = try Stage(
            Self.call, backend: "breaker: { open_at: 1%, min_requests: 1, try_again_after: 10s }")
        stage.on("/1", .status(500), .ok("1"))
        _ = try stage.ask()
        try stage.install(
            text(backend: "breaker: { open_at: 2%, min_requests: 1, try_again_after: 10s }"))
        #expect(try stage.ask().status == 200)
        stage.expectQuiet()
    }

    @Test func callsInFlightKeepTheirSlots() throws {
        let stage = try Stage(Self.call, backend: "max_concurrent: 1")
        stage.on("/1", .ok("1", after: 100))
        let client = try stage.send(get())
        stage.pass(50)
        try stage.install(text(backend: "max_concurrent: 1"))
        #expect(try stage.ask().status == 503)
        #expect(stage.answer(of: client).status == 200)
        #expect(try stage.ask().status == 200)
        stage.expectQuiet()
    }

    @Test func requestsInFlightStillCountAgainstMaxInFlight() throws {
        let stage = try Stage(Self.call, endpoint: "max_in_flight: 1")
        stage.on("/1", .ok("1", after: 100))
        let client = try stage.send(get())
        stage.pass(50)
        try stage.install(text(endpoint: "max_in_flight: 1"))
        #expect(try stage.ask().outcome == "503 at 0")
        #expect(stage.answer(of: client).outcome == "200 at 100")
        // Admitted, now that the former request has ended.
        #expect(try stage.ask().outcome == "200 at 100")
        stage.expectQuiet()
    }

    @Test func aNewMaxInFlightAppliesToTheRequestsInFlight() throws {
        let stage = try Stage(Self.call, endpoint: "max_in_flight: 3")
        stage.on("/1", .ok("1", after: 100))
        let former = [try stage.send(get()), try stage.send(get())]
        stage.pass(50)
        try stage.install(text(endpoint: "max_in_flight: 2"))
        #expect(try stage.ask().status == 503)
        try stage.install(text(endpoint: "max_in_flight: 3"))
        #expect(try stage.ask().outcome == "200 at 100")
        #expect(former.map { $0.answers.first?.status } == [200, 200])
        stage.expectQuiet()
    }

    @Test func requestsOfAnotherRouteDoNotCountAgainstMaxInFlight() throws {
        let stage = try Stage(Self.call, endpoint: "max_in_flight: 1")
        stage.on("/1", .ok("1", after: 100))
        _ = try stage.send(get())
        stage.pass(50)
        try stage.install(text(endpoint: "route: GET /y\nmax_in_flight: 1"))
        #expect(try stage.ask(get("/y")).outcome == "200 at 100")
        stage.expectQuiet()
    }

    @Test func aRequestOfTheOldPlanIsGivenUpWithItsClient() throws {
        let stage = try Stage(Self.call)
        stage.on("/1", .hangs)
        let client = try stage.send(get())
        stage.pass(50)
        try stage.install(text("new: { from: c, get: /3 }"))
        client.reset()
        stage.pass(1)
        #expect(stage.events == ["0 GET /1", "50 given up /1"])
        #expect(stage.loggedStatuses == ["499"])
        stage.expectQuiet()
    }

    @Test func limitsAreReloaded() throws {
        let stage = try Stage(Self.call)
        stage.on("/1", .ok("1", after: 100))
        try stage.install(Stage.text(Self.call, "", "", "limits: { requests_in_flight: 1 }"))
        _ = try stage.send(get())
        #expect(try stage.ask().status == 503)
        stage.expectQuiet()
    }

    @Test func timeLimitsAreReloadedForOpenConnectionsToo() throws {
        let stage = try Stage(Self.call)
        let client = try stage.send(get())
        _ = stage.answer(of: client)
        try stage.install(Stage.text(Self.call, "", "", "limits: { idle_timeout: 1s }"))
        client.send(get())
        _ = stage.answer(of: client)
        stage.pass(1000)
        #expect(client.isClosed)
        stage.expectQuiet()
    }

    @Test func theAccessLogIsReloaded() throws {
        let stage = try Stage(Self.call)
        try stage.install(Stage.text(Self.call, "", "", "log: { access: false }"))
        _ = try stage.ask()
        #expect(stage.loggedStatuses == [])
        stage.expectQuiet()
    }

    @Test func theDrainTimeIsReloaded() throws {
        let stage = try Stage(Self.call)
        stage.on("/1", .hangs)
        _ = try stage.send(get())
        try stage.install(Stage.text(Self.call, "", "", "drain: { timeout: 300ms }"))
        let ended = stage.drain()
        stage.pass(400)
        #expect(ended() == 300)
        stage.expectQuiet()
    }

    @Test func manyReloadsLeaveNothingBehind() throws {
        let stage = try Stage(Self.call)
        for number in 1...20 {
            _ = try stage.ask()
            try stage.install(text(endpoint: "deadline: \(number)s"))
        }
        #expect(stage.backend(7001)?.connections == 1)
        stage.expectQuiet()
    }
}
