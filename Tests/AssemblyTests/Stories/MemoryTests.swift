import Assembly
import SimReactor
import TestSupport
import Testing

/// `buffered_bytes`: what all requests and connections may hold together. Beyond it load is shed, and
/// everything that was held is given back.
@Suite(.watched) struct MemoryTests {
    static let limit = "limits: { buffered_bytes: 64KiB }"
    static let much = "\"" + String(repeating: "x", count: 40_000) + "\""

    @Test func aBodyThatFindsNoRoomIs503() throws {
        let stage = try Stage(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x", top: Self.limit)
        let head = request("POST", "/x", ["Content-Length: 70000"])
        let client = try stage.send(head + String(repeating: "x", count: 10_000))
        stage.pass(1)
        #expect(client.answers.isEmpty)
        client.send(String(repeating: "x", count: 60_000))
        let answer = stage.answer(of: client)
        #expect(answer.status == 503)
        #expect(answer["Retry-After"] == "1")
        #expect(client.isClosed)
        #expect(stage.events == [])
        #expect(try stage.ask(post("{}")).status == 200)
        stage.expectQuiet()
    }

    @Test func aRequestThatFindsNoRoomIs503AndItsConnectionStays() throws {
        let stage = try Stage(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x", top: Self.limit)
        stage.on("/1", .ok("1", after: 100))
        let first = try stage.send(post(Self.much))
        stage.pass(1)
        let second = try stage.send(post(Self.much))
        #expect(stage.answer(of: second).status == 503)
        #expect(!second.isClosed)
        #expect(stage.answer(of: first).status == 200)
        second.send(post(Self.much))
        #expect(stage.answer(of: second).status == 200)
        stage.expectQuiet()
    }

    @Test func anAnswerThatFindsNoRoomIsAFailureOfItsCall() throws {
        let stage = try Stage(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2 }
            """, endpoint: "succeed_when: any", top: Self.limit)
        stage.on("/1", .ok(Self.much))
        stage.on("/2", .ok(Self.much, after: 10))
        let answer = try stage.ask()
        #expect(answer.status == 200)
        #expect(answer["Gateway-Complete"] == "false")
        #expect(answer.failures == #"[{"call":"two","kind":"queue_full"}]"#)
        stage.on("/2", .ok("2"))
        #expect(try stage.ask()["Gateway-Complete"] == "true")
        stage.expectQuiet()
    }

    @Test func aRequiredAnswerThatFindsNoRoomIs503() throws {
        let stage = try Stage(
            "one: { from: a, get: /1, required: true }", top: "limits: { buffered_bytes: 16KiB }")
        stage.on("/1", .ok(Self.much))
        let answer = try stage.ask()
        #expect(answer.status == 503)
        #expect(answer["Retry-After"] == "1")
        #expect(try stage.connections() == 0)
        stage.expectQuiet()
    }

    /// What a client does not read is held until it does, or until another client needs the room.
    @Test func anAnswerThatNobodyReadsGivesWayToOthers() throws {
        let stage = try Stage("one: { from: a, get: /1 }", top: Self.limit)
        stage.network.settings.windowBytes = 2000
        stage.on("/1", .ok(Self.much))
        let slow = ScriptedPeerThatWaits(try stage.stream())
        slow.send(get())
        stage.pass(100)
        let held = try #require(stage.core).snapshot
        #expect(held.connections == 1 && held.bufferedBytes > 30_000)
        let answer = try stage.ask()
        #expect(answer.status == 200 && answer.failures == nil)
        #expect(stage.core?.snapshot.connections == 1)
        slow.close()
        stage.expectQuiet()
    }

    @Test func anAnswerThatNobodyReadsIsKeptWhereThereIsRoom() throws {
        let stage = try Stage("one: { from: a, get: /1 }", top: "limits: { write_timeout: 5s }")
        stage.network.settings.windowBytes = 2000
        stage.on("/1", .ok(Self.much))
        let slow = ScriptedPeerThatWaits(try stage.stream())
        slow.send(get())
        stage.pass(4900)
        #expect(try stage.ask().status == 200)
        #expect(stage.core?.snapshot.connections == 2)
        stage.pass(200)
        #expect(stage.core?.snapshot.connections == 1)
        slow.close()
        stage.expectQuiet()
    }

    @Test func halfHeadsBeyondTheLimitAreTold503() throws {
        let stage = try Stage(ServingTests.call, top: Self.limit)
        let half = get().dropLast(2) + "X: " + String(repeating: "x", count: 20_000)
        let clients = try (0..<5).map { _ in
            let client = try stage.send(String(half))
            stage.pass(1)
            return client
        }
        stage.pass(10)
        #expect(clients.map { $0.answers.first?.status } == [nil, nil, nil, 503, 503])
        #expect(clients.map(\.isClosed) == [false, false, false, true, true])
        for client in clients { client.leave() }
        stage.pass(10)
        #expect(try stage.ask().status == 200)
        stage.expectQuiet()
    }
}
