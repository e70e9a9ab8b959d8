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
        let harness = try GatewayHarness(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x", top: Self.limit)
        let head = request("POST", "/x", ["Content-Length: 70000"])
        let client = try harness.send(head + String(repeating: "x", count: 10_000))
        harness.pass(1)
        #expect(client.answers.isEmpty)
        client.send(String(repeating: "x", count: 60_000))
        let answer = harness.answer(of: client)
        #expect(answer.status == 503)
        #expect(answer["Retry-After"] == "1")
        #expect(client.isClosed)
        #expect(harness.events == [])
        #expect(try harness.ask(post("{}")).status == 200)
        harness.expectQuiet()
    }

    @Test func aRequestThatFindsNoRoomIs503AndItsConnectionStays() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x", top: Self.limit)
        harness.on("/1", .ok("1", after: 100))
        let first = try harness.send(post(Self.much))
        harness.pass(1)
        let second = try harness.send(post(Self.much))
        #expect(harness.answer(of: second).status == 503)
        #expect(!second.isClosed)
        #expect(harness.answer(of: first).status == 200)
        second.send(post(Self.much))
        #expect(harness.answer(of: second).status == 200)
        harness.expectQuiet()
    }

    @Test func anAnswerThatFindsNoRoomIsAFailureOfItsCall() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2 }
            """, endpoint: "succeed_when: any", top: Self.limit)
        harness.on("/1", .ok(Self.much))
        harness.on("/2", .ok(Self.much, after: 10))
        let answer = try harness.ask()
        #expect(answer.status == 200)
        #expect(answer["Gateway-Complete"] == "false")
        #expect(answer.failures == #"[{"call":"two","kind":"queue_full"}]"#)
        harness.on("/2", .ok("2"))
        #expect(try harness.ask()["Gateway-Complete"] == "true")
        harness.expectQuiet()
    }

    @Test func aRequiredAnswerThatFindsNoRoomIs503() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true }", top: "limits: { buffered_bytes: 16KiB }")
        harness.on("/1", .ok(Self.much))
        let answer = try harness.ask()
        #expect(answer.status == 503)
        #expect(answer["Retry-After"] == "1")
        #expect(try harness.connections() == 0)
        harness.expectQuiet()
    }

    /// What a client does not read is held until it does, or until another client needs the room.
    @Test func anAnswerThatNobodyReadsGivesWayToOthers() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }", top: Self.limit)
        harness.network.settings.windowBytes = 2000
        harness.on("/1", .ok(Self.much))
        let slow = ScriptedPeerThatWaits(try harness.stream())
        slow.send(get())
        harness.pass(100)
        let held = try #require(harness.local).snapshot
        #expect(held.connections == 1 && held.bufferedBytes > 30_000)
        let answer = try harness.ask()
        #expect(answer.status == 200 && answer.failures == nil)
        #expect(harness.local?.snapshot.connections == 1)
        slow.close()
        harness.expectQuiet()
    }

    @Test func anAnswerThatNobodyReadsIsKeptWhereThereIsRoom() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", top: "limits: { write_timeout: 5s }")
        harness.network.settings.windowBytes = 2000
        harness.on("/1", .ok(Self.much))
        let slow = ScriptedPeerThatWaits(try harness.stream())
        slow.send(get())
        harness.pass(4900)
        #expect(try harness.ask().status == 200)
        #expect(harness.local?.snapshot.connections == 2)
        harness.pass(200)
        #expect(harness.local?.snapshot.connections == 1)
        slow.close()
        harness.expectQuiet()
    }

    @Test func halfHeadsBeyondTheLimitAreTold503() throws {
        let harness = try GatewayHarness(ServingTests.call, top: Self.limit)
        let half = get().dropLast(2) + "X: " + String(repeating: "x", count: 20_000)
        let clients = try (0..<5).map { _ in
            let client = try harness.send(String(half))
            harness.pass(1)
            return client
        }
        harness.pass(10)
        #expect(clients.map { $0.answers.first?.status } == [nil, nil, nil, 503, 503])
        #expect(clients.map(\.isClosed) == [false, false, false, true, true])
        for client in clients { client.leave() }
        harness.pass(10)
        #expect(try harness.ask().status == 200)
        harness.expectQuiet()
    }
}
