import TestSupport
import Testing

/// The end of a core: what runs is answered, what idles is closed, and time is limited.
@Suite(.watched) struct DrainTests {
    static let call = "one: { from: a, get: /1 }"

    @Test func whatRunsIsAnswered() throws {
        let harness = try GatewayHarness(Self.call)
        harness.on("/1", .ok("1", after: 100))
        let client = try harness.send(get())
        harness.pass(20)
        let ended = harness.drain()
        let answer = harness.answer(of: client)
        #expect(answer.summary == #"200 at 100 {"one":1}"#)
        #expect(answer["Connection"] == "close")
        client.leave()
        harness.pass(1)
        #expect(ended() == 100)
        harness.expectQuiet()
    }

    @Test func idleConnectionsAreClosedAtOnce() throws {
        let harness = try GatewayHarness(Self.call)
        let client = try harness.send(get())
        _ = harness.answer(of: client)
        let ended = harness.drain()
        #expect(client.isClosed)
        client.leave()
        harness.pass(1)
        #expect(ended() == 0)
        harness.expectQuiet()
    }

    /// The clients keep their sides open.
    @Test func aCoreWithIdleConnectionsOnlyEndsAtOnce() throws {
        let harness = try GatewayHarness(Self.call)
        let silent = try harness.connect()
        let kept = try harness.send(get())
        _ = harness.answer(of: kept)
        harness.pass(300)
        let began = harness.ms
        let ended = harness.drain()
        harness.pass(1)
        #expect(ended() == began)
        #expect(silent.isClosed && kept.isClosed)
        harness.expectQuiet()
    }

    @Test func anUploadThatIsCutOffIsReported() throws {
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

    @Test func nobodyIsAcceptedAnyMore() throws {
        let harness = try GatewayHarness(Self.call)
        _ = harness.drain()
        #expect(throws: GatewayHarness.NotConnected.self) { try harness.connect() }
        harness.expectQuiet()
    }

    @Test func theTimeIsLimited() throws {
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
        #expect(harness.events == ["0 GET /1", "320 given up /1"])
        // No status was sent, and it was not the client that went away.
        #expect(harness.loggedStatuses == ["0"])
        #expect(harness.logged.contains { $0.contains(#""outcome":"cut_off""#) })
        #expect(
            harness.logged.contains {
                $0.contains("requests cut off") && $0.contains("\"requests\":1")
            })
        harness.expectQuiet()
    }

    @Test func anAnswerThatIsHeldBackIsWaitedFor() throws {
        let harness = try GatewayHarness(Self.call, endpoint: "min_duration: 400ms")
        let client = try harness.send(get())
        harness.pass(20)
        let ended = harness.drain()
        #expect(harness.answer(of: client).outcome == "200 at 400")
        client.leave()
        harness.pass(1)
        #expect(ended() == 400)
        harness.expectQuiet()
    }

    @Test func beforeItsEndACoreSaysSo() throws {
        let harness = try GatewayHarness(Self.call)
        let client = try harness.send(get())
        let before = harness.answer(of: client)
        harness.announceDrain()
        client.send(get())
        let after = harness.answer(of: client)
        #expect(before["Connection"] == nil)
        #expect(after.status == 200)
        #expect(after["Connection"] == "close")
        #expect(client.isClosed)
        harness.expectQuiet()
    }

    @Test func andStillAcceptsClients() throws {
        let harness = try GatewayHarness(Self.call)
        harness.announceDrain()
        #expect(try harness.ask().status == 200)
        harness.expectQuiet()
    }
}
