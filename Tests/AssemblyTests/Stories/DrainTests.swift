import TestSupport
import Testing

/// The end of a core: what runs is answered, what idles is closed, and time is limited.
@Suite(.watched) struct DrainTests {
    static let call = "one: { from: a, get: /1 }"

    @Test func whatRunsIsAnswered() throws {
        let stage = try Stage(Self.call)
        stage.on("/1", .ok("1", after: 100))
        let client = try stage.send(get())
        stage.pass(20)
        let ended = stage.drain()
        let answer = stage.answer(of: client)
        #expect(answer.summary == #"200 at 100 {"one":1}"#)
        #expect(answer["Connection"] == "close")
        client.leave()
        stage.pass(1)
        #expect(ended() == 100)
        stage.expectQuiet()
    }

    @Test func idleConnectionsAreClosedAtOnce() throws {
        let stage = try Stage(Self.call)
        let client = try stage.send(get())
        _ = stage.answer(of: client)
        let ended = stage.drain()
        #expect(client.isClosed)
        client.leave()
        stage.pass(1)
        #expect(ended() == 0)
        stage.expectQuiet()
    }

    /// The clients keep their sides open.
    @Test func aCoreWithIdleConnectionsOnlyEndsAtOnce() throws {
        let stage = try Stage(Self.call)
        let silent = try stage.connect()
        let kept = try stage.send(get())
        _ = stage.answer(of: kept)
        stage.pass(300)
        let began = stage.ms
        let ended = stage.drain()
        stage.pass(1)
        #expect(ended() == began)
        #expect(silent.isClosed && kept.isClosed)
        stage.expectQuiet()
    }

    @Test func anUploadThatIsCutOffIsReported() throws {
        let stage = try Stage(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x",
            top: "drain: { timeout: 300ms }")
        _ = try stage.send(request("POST", "/x", ["Content-Length: 5"]) + "he")
        stage.pass(20)
        _ = stage.drain()
        stage.pass(300)
        #expect(stage.loggedStatuses == ["0"])
        #expect(stage.logged.contains { $0.contains("\"requests\":1") })
        stage.expectQuiet()
    }

    @Test func nobodyIsAcceptedAnyMore() throws {
        let stage = try Stage(Self.call)
        _ = stage.drain()
        #expect(throws: Stage.NobodyListens.self) { try stage.connect() }
        stage.expectQuiet()
    }

    @Test func theTimeIsLimited() throws {
        let stage = try Stage(Self.call, top: "drain: { timeout: 300ms }")
        stage.on("/1", .hangs)
        let client = try stage.send(get())
        stage.pass(20)
        let ended = stage.drain()
        stage.pass(299)
        let isOpen = !client.isClosed
        stage.pass(1)
        #expect(isOpen && client.isClosed)
        #expect(ended() == 320)
        #expect(stage.events == ["0 GET /1", "320 given up /1"])
        // No status was sent, and it was not the client that went away.
        #expect(stage.loggedStatuses == ["0"])
        #expect(stage.logged.contains { $0.contains(#""outcome":"cut_off""#) })
        #expect(
            stage.logged.contains {
                $0.contains("requests cut off") && $0.contains("\"requests\":1")
            })
        stage.expectQuiet()
    }

    @Test func anAnswerThatIsHeldBackIsWaitedFor() throws {
        let stage = try Stage(Self.call, endpoint: "min_duration: 400ms")
        let client = try stage.send(get())
        stage.pass(20)
        let ended = stage.drain()
        #expect(stage.answer(of: client).outcome == "200 at 400")
        client.leave()
        stage.pass(1)
        #expect(ended() == 400)
        stage.expectQuiet()
    }

    @Test func beforeItsEndACoreSaysSo() throws {
        let stage = try Stage(Self.call)
        let client = try stage.send(get())
        let before = stage.answer(of: client)
        stage.announceDrain()
        client.send(get())
        let after = stage.answer(of: client)
        #expect(before["Connection"] == nil)
        #expect(after.status == 200)
        #expect(after["Connection"] == "close")
        #expect(client.isClosed)
        stage.expectQuiet()
    }

    @Test func andStillAcceptsClients() throws {
        let stage = try Stage(Self.call)
        stage.announceDrain()
        #expect(try stage.ask().status == 200)
        stage.expectQuiet()
    }
}
