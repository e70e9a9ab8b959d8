import TestSupport
import Testing
import WorkerSupport

/// Draining: requests in flight finish, idle connections are closed, and the time is limited.
@Suite(.watched) struct DrainTests {
    static let call = "one: { from: a, get: /1 }"

    @Test func requestsInFlightReceiveTheirResponses() throws {
        let harness = try GatewayHarness(Self.call)
        harness.on("/1", .ok("1", after: 100))
        let client = try harness.send(get())
        harness.pass(20)
        let ended = harness.drain()
        let response = harness.response(of: client)
        #expect(response.summary == #"200 at 100 {"one":1}"#)
        #expect(response["Connection"] == "close")
        client.leave()
        harness.pass(1)
        #expect(ended() == 100)
        harness.expectQuiet()
    }

    @Test func idleConnectionsAreClosedAtOnce() throws {
        let harness = try GatewayHarness(Self.call)
        let client = try harness.send(get())
        _ = harness.response(of: client)
        let ended = harness.drain()
        #expect(client.isClosed)
        client.leave()
        harness.pass(1)
        #expect(ended() == 0)
        harness.expectQuiet()
    }

    /// The clients keep their sides open.
    @Test func instanceWithOnlyIdleConnectionsEndsAtOnce() throws {
        let harness = try GatewayHarness(Self.call)
        let silent = try harness.connect()
        let kept = try harness.send(get())
        _ = harness.response(of: kept)
        harness.pass(300)
        let began = harness.ms
        let ended = harness.drain()
        harness.pass(1)
        #expect(ended() == began)
        #expect(silent.isClosed && kept.isClosed)
        harness.expectQuiet()
    }

    @Test func cutOffUploadIsLogged() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x",
            top: "drain: { timeout: 300ms }")
        _ = try harness.send(request("POST", "/x", ["Content-Length: 5"]) + "he")
        harness.pass(20)
        _ = harness.drain()
        harness.pass(300)
        #expect(harness.loggedStatuses == ["0"])
        #expect(harness.logged.contains { $0.contains("\"requests\":1") })
        harness.expectQuiet()
    }

    /// Where another process has the same sockets: a client that has just connected sends its request
    /// before idle connections are closed.
    @Test func newConnectionIsServedAfterAcceptingHasStopped() throws {
        let harness = try GatewayHarness(Self.call)
        harness.on("/1", .ok("1", after: 0))
        let client = try harness.connect()
        harness.pass(1)
        harness.stopAccepting()
        #expect(throws: GatewayHarness.NotConnected.self) { try harness.connect() }
        harness.pass(100)
        client.send(get())
        let response = harness.response(of: client)
        #expect(response.status == 200 && response["Connection"] == "close")
        client.leave()
        let ended = harness.drain()
        harness.pass(1)
        #expect(ended() != nil)
        harness.expectQuiet()
    }

    @Test func newConnectionsAreRefused() throws {
        let harness = try GatewayHarness(Self.call)
        _ = harness.drain()
        #expect(throws: GatewayHarness.NotConnected.self) { try harness.connect() }
        harness.expectQuiet()
    }

    @Test func requestsAreCutOffAtTheDrainTimeout() throws {
        let harness = try GatewayHarness(Self.call, top: "drain: { timeout: 300ms }")
        harness.on("/1", .hangs)
        let client = try harness.send(get())
        harness.pass(20)
        let ended = harness.drain()
        harness.pass(299)
        let isOpen = !client.isClosed
        harness.pass(1)
        #expect(isOpen && client.isClosed)
        #expect(ended() == 320)
        #expect(harness.events == ["0 GET /1", "320 cancelled /1"])
        // No status was sent, and the client did not disconnect.
        #expect(harness.loggedStatuses == ["0"])
        #expect(harness.logged.contains { $0.contains(#""outcome":"cut_off""#) })
        #expect(
            harness.logged.contains {
                $0.contains("requests cut off") && $0.contains("\"requests\":1")
            })
        harness.expectQuiet()
    }

    @Test func paddedResponseIsAwaited() throws {
        let harness = try GatewayHarness(Self.call, endpoint: "min_duration: 400ms")
        let client = try harness.send(get())
        harness.pass(20)
        let ended = harness.drain()
        #expect(harness.response(of: client).outcome == "200 at 400")
        client.leave()
        harness.pass(1)
        #expect(ended() == 400)
        harness.expectQuiet()
    }

    @Test func announcedDrainClosesConnectionsAfterTheirResponse() throws {
        let harness = try GatewayHarness(Self.call)
        let client = try harness.send(get())
        let before = harness.response(of: client)
        harness.announceDrain()
        client.send(get())
        let after = harness.response(of: client)
        #expect(before["Connection"] == nil)
        #expect(after.status == 200)
        #expect(after["Connection"] == "close")
        #expect(client.isClosed)
        harness.expectQuiet()
    }

    @Test func announcedDrainStillAcceptsClients() throws {
        let harness = try GatewayHarness(Self.call)
        harness.announceDrain()
        #expect(try harness.fetch().status == 200)
        harness.expectQuiet()
    }
}
