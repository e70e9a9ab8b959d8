import TestSupport
import Testing
import WorkerSupport

/// A new plan replaces the old one while requests are in flight.
@Suite(.watched) struct ReloadTests {
    static let call = "one: { from: a, get: /1 }"

    private func text(_ calls: String = call, endpoint: String = "", backend: String = "") -> String
    {
        GatewayHarness.text(calls, endpoint, backend)
    }

    @Test func aRequestInFlightFinishesOnTheOldPlan() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: "/2/{one}" }
            """)
        harness.on("/1", .ok("1", after: 100))
        let client = try harness.send(get())
        harness.pass(50)
        try harness.install(text("new: { from: c, get: /3 }"))
        #expect(harness.response(of: client).summary == #"200 at 100 {"one":1,"two":"/2/1"}"#)
        harness.expectQuiet()
    }

    @Test func nextRequestUsesTheNewPlan() throws {
        let harness = try GatewayHarness(Self.call)
        try harness.install(text("new: { from: c, get: /3 }"))
        #expect(try harness.fetch().body == #"{"new":"/3"}"#)
        harness.expectQuiet()
    }

    @Test func nextRequestOfAConnectionUsesTheNewPlan() throws {
        let harness = try GatewayHarness(Self.call)
        let client = try harness.send(get())
        _ = harness.response(of: client)
        try harness.install(text("new: { from: c, get: /3 }"))
        client.send(get())
        #expect(harness.response(of: client).body == #"{"new":"/3"}"#)
        harness.expectQuiet()
    }

    @Test func removedRouteIs404() throws {
        let harness = try GatewayHarness(Self.call)
        try harness.install(text(endpoint: "route: GET /y"))
        #expect(try harness.fetch().status == 404)
        #expect(try harness.fetch(get("/y")).status == 200)
        harness.expectQuiet()
    }

    @Test func connectionsToAnUnchangedBackendAreKept() throws {
        let harness = try GatewayHarness(Self.call)
        _ = try harness.fetch()
        try harness.install(text(endpoint: "deadline: 1s"))
        _ = try harness.fetch()
        #expect(harness.seen.map(\.connection) == [1, 1])
        harness.expectQuiet()
    }

    @Test func connectionsToARemovedBackendAreClosed() throws {
        let harness = try GatewayHarness(Self.call)
        _ = try harness.fetch()
        try harness.install(text(backend: #"urls: ["http://127.0.0.1:7003"]"#))
        #expect(harness.backend(7001)?.openCount == 0)
        harness.expectQuiet()
    }

    @Test func connectionInUseIsClosedAfterItsResponse() throws {
        let harness = try GatewayHarness(Self.call)
        harness.on("/1", .ok("1", after: 100))
        let client = try harness.send(get())
        harness.pass(50)
        try harness.install(text(backend: #"urls: ["http://127.0.0.1:7003"]"#))
        #expect(harness.response(of: client).outcome == "200 at 100")
        harness.pass(1)
        #expect(harness.backend(7001)?.openCount == 0)
        harness.expectQuiet()
    }

    @Test func countsOfAnEndpointContinue() throws {
        let harness = try GatewayHarness(Self.call)
        _ = try harness.fetch()
        try harness.install(text())
        _ = try harness.fetch()
        #expect(harness.responseCounts == ["GET /x: 200 2 times"])
        harness.expectQuiet()
    }

    @Test func countsOfABackendContinue() throws {
        let harness = try GatewayHarness(Self.call)
        _ = try harness.fetch()
        try harness.install(text())
        _ = try harness.fetch()
        #expect(try harness.outcomes() == "ok 2")
        harness.expectQuiet()
    }

    @Test func aCallInFlightIsCountedToo() throws {
        let harness = try GatewayHarness(Self.call)
        harness.on("/1", .ok("1", after: 100))
        let client = try harness.send(get())
        harness.pass(50)
        try harness.install(text())
        _ = harness.response(of: client)
        #expect(try harness.outcomes() == "ok 1")
        harness.expectQuiet()
    }

    @Test func anOpenBreakerStaysOpen() throws {
        let breaker = "breaker: { open_at: 1%, min_requests: 1, try_again_after: 10s }"
        let harness = try GatewayHarness(Self.call, backend: breaker)
        harness.on("/1", .status(500))
        _ = try harness.fetch()
        try harness.install(text(backend: breaker))
        #expect(try harness.fetch().status == 503)
        harness.expectQuiet()
    }

    @Test func changedBreakerIsReset() throws {
        let harness = try GatewayHarness(
            Self.call, backend: "breaker: { open_at: 1%, min_requests: 1, try_again_after: 10s }")
        harness.on("/1", .status(500), .ok("1"))
        _ = try harness.fetch()
        try harness.install(
            text(backend: "breaker: { open_at: 2%, min_requests: 1, try_again_after: 10s }"))
        #expect(try harness.fetch().status == 200)
        harness.expectQuiet()
    }

    @Test func callsInFlightKeepTheirPermits() throws {
        let harness = try GatewayHarness(Self.call, backend: "max_concurrent: 1")
        harness.on("/1", .ok("1", after: 100))
        let client = try harness.send(get())
        harness.pass(50)
        try harness.install(text(backend: "max_concurrent: 1"))
        #expect(try harness.fetch().status == 503)
        #expect(harness.response(of: client).status == 200)
        #expect(try harness.fetch().status == 200)
        harness.expectQuiet()
    }

    private static let others = #""http://127.0.0.1:7002""#

    /// Three calls in flight count against the new limit, unless none of their hosts is left.
    @Test(arguments: [
        ("max_concurrent: 4", [200, 503]), ("max_concurrent: 3", [503, 503]),
        ("max_concurrent: 2", [503, 503]), ("breaker: {}", [200, 200]),
        ("max_concurrent: 4, breaker: {}", [200, 503]),
        ("urls: [\(others), \"http://127.0.0.1:7001/n\"], max_concurrent: 4", [200, 503]),
        ("urls: [\(others)], max_concurrent: 1", [200, 503]),
    ])
    func aNewMaxConcurrentAppliesToTheCallsInFlight(_ backend: String, _ statuses: [Int]) throws {
        let call = "one: { from: a, get: /1, required: true }"
        let harness = try GatewayHarness(call, backend: "max_concurrent: 3")
        harness.on("/1", .ok("1", after: 100))
        let former = [try harness.send(get()), try harness.send(get()), try harness.send(get())]
        harness.pass(50)
        try harness.install(text(call, backend: backend))
        let clients = [try harness.send(get()), try harness.send(get())]
        harness.pass(200)
        #expect(clients.compactMap { $0.responses.first?.status } == statuses)
        #expect(former.map { $0.responses.first?.status } == [200, 200, 200])
        harness.expectQuiet()
    }

    @Test func callsInTheQueueGetThePermitsOfANewMaxConcurrent() throws {
        let call = "one: { from: a, get: /1, required: true }"
        let queue = "queue: { size: 2, wait: 1s }"
        let harness = try GatewayHarness(call, backend: "max_concurrent: 1, \(queue)")
        harness.on("/1", .ok("1", after: 100))
        let clients = [try harness.send(get()), try harness.send(get()), try harness.send(get())]
        harness.pass(50)
        try harness.install(text(call, backend: "max_concurrent: 1, queue: { size: 1, wait: 1s }"))
        #expect(try harness.load() == "1 running, 2 waiting")
        #expect(try harness.fetch().outcome == "503 at 0")
        try harness.install(text(call, backend: "max_concurrent: 2, \(queue)"))
        harness.pass(0)
        #expect(try harness.load() == "2 running, 1 waiting")
        #expect(
            clients.map { harness.response(of: $0).outcome } == [
                "200 at 100", "200 at 150", "200 at 200",
            ])
        harness.expectQuiet()
    }

    @Test func requestsInFlightStillCountAgainstMaxInFlight() throws {
        let harness = try GatewayHarness(Self.call, endpoint: "max_in_flight: 1")
        harness.on("/1", .ok("1", after: 100))
        let client = try harness.send(get())
        harness.pass(50)
        try harness.install(text(endpoint: "max_in_flight: 1"))
        #expect(try harness.fetch().outcome == "503 at 0")
        #expect(harness.response(of: client).outcome == "200 at 100")
        // Admitted, now that the former request has ended.
        #expect(try harness.fetch().outcome == "200 at 100")
        harness.expectQuiet()
    }

    @Test func aNewMaxInFlightAppliesToTheRequestsInFlight() throws {
        let harness = try GatewayHarness(Self.call, endpoint: "max_in_flight: 3")
        harness.on("/1", .ok("1", after: 100))
        let former = [try harness.send(get()), try harness.send(get())]
        harness.pass(50)
        try harness.install(text(endpoint: "max_in_flight: 2"))
        #expect(try harness.fetch().status == 503)
        try harness.install(text(endpoint: "max_in_flight: 3"))
        #expect(try harness.fetch().outcome == "200 at 100")
        #expect(former.map { $0.responses.first?.status } == [200, 200])
        harness.expectQuiet()
    }

    @Test func requestsOfAnotherRouteDoNotCountAgainstMaxInFlight() throws {
        let harness = try GatewayHarness(Self.call, endpoint: "max_in_flight: 1")
        harness.on("/1", .ok("1", after: 100))
        _ = try harness.send(get())
        harness.pass(50)
        try harness.install(text(endpoint: "route: GET /y\nmax_in_flight: 1"))
        #expect(try harness.fetch(get("/y")).outcome == "200 at 100")
        harness.expectQuiet()
    }

    @Test func clientDisconnectCancelsARequestOfTheOldPlan() throws {
        let harness = try GatewayHarness(Self.call)
        harness.on("/1", .hangs)
        let client = try harness.send(get())
        harness.pass(50)
        try harness.install(text("new: { from: c, get: /3 }"))
        client.reset()
        harness.pass(1)
        #expect(harness.events == ["0 GET /1", "50 cancelled /1"])
        #expect(harness.loggedStatuses == ["499"])
        harness.expectQuiet()
    }

    @Test func limitsAreReloaded() throws {
        let harness = try GatewayHarness(Self.call)
        harness.on("/1", .ok("1", after: 100))
        try harness.install(
            GatewayHarness.text(Self.call, "", "", "limits: { requests_in_flight: 1 }"))
        _ = try harness.send(get())
        #expect(try harness.fetch().status == 503)
        harness.expectQuiet()
    }

    @Test func timeLimitsAreReloadedForOpenConnectionsToo() throws {
        let harness = try GatewayHarness(Self.call)
        let client = try harness.send(get())
        _ = harness.response(of: client)
        try harness.install(GatewayHarness.text(Self.call, "", "", "limits: { idle_timeout: 1s }"))
        client.send(get())
        _ = harness.response(of: client)
        harness.pass(1000)
        #expect(client.isClosed)
        harness.expectQuiet()
    }

    @Test func theAccessLogIsReloaded() throws {
        let harness = try GatewayHarness(Self.call)
        try harness.install(GatewayHarness.text(Self.call, "", "", "log: { access: false }"))
        _ = try harness.fetch()
        #expect(harness.loggedStatuses == [])
        harness.expectQuiet()
    }

    @Test func theDrainTimeIsReloaded() throws {
        let harness = try GatewayHarness(Self.call)
        harness.on("/1", .hangs)
        _ = try harness.send(get())
        try harness.install(GatewayHarness.text(Self.call, "", "", "drain: { timeout: 300ms }"))
        let ended = harness.drain()
        harness.pass(400)
        #expect(ended() == 300)
        harness.expectQuiet()
    }

    @Test func repeatedReloadsLeakNothing() throws {
        let harness = try GatewayHarness(Self.call)
        for number in 1...20 {
            _ = try harness.fetch()
            try harness.install(text(endpoint: "deadline: \(number)s"))
        }
        #expect(harness.backend(7001)?.connections == 1)
        harness.expectQuiet()
    }
}
