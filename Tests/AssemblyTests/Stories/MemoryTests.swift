import Assembly
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// `buffered_bytes`: the limit of all buffers together. Load beyond it is shed, and all buffered
/// bytes are released.
@Suite(.watched) struct MemoryTests {
    static let limit = "limits: { buffered_bytes: 64KiB }"
    static let much = "\"" + String(repeating: "x", count: 40_000) + "\""

    @Test func bodyBeyondTheLimitIs503() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x", top: Self.limit)
        let head = request("POST", "/x", ["Content-Length: 70000"])
        let client = try harness.send(head + String(repeating: "x", count: 10_000))
        harness.pass(1)
        #expect(client.responses.isEmpty)
        client.send(String(repeating: "x", count: 60_000))
        let response = harness.response(of: client)
        #expect(response.status == 503)
        #expect(response["Retry-After"] == "1")
        #expect(client.isClosed)
        #expect(harness.events == [])
        #expect(try harness.fetch(post("{}")).status == 200)
        harness.expectQuiet()
    }

    @Test func requestBeyondTheLimitIs503AndItsConnectionStays() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x", top: Self.limit)
        harness.on("/1", .ok("1", after: 100))
        let first = try harness.send(post(Self.much))
        harness.pass(1)
        let second = try harness.send(post(Self.much))
        #expect(harness.response(of: second).status == 503)
        #expect(!second.isClosed)
        #expect(harness.response(of: first).status == 200)
        second.send(post(Self.much))
        #expect(harness.response(of: second).status == 200)
        harness.expectQuiet()
    }

    @Test func backendResponseBeyondTheLimitFailsItsCall() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2 }
            """, endpoint: "succeed_when: any", top: Self.limit)
        harness.on("/1", .ok(Self.much))
        harness.on("/2", .ok(Self.much, after: 10))
        let response = try harness.fetch()
        #expect(response.status == 200)
        #expect(response["Gateway-Complete"] == "false")
        #expect(response.failures == #"[{"call":"two","kind":"queue_full"}]"#)
        harness.on("/2", .ok("2"))
        #expect(try harness.fetch()["Gateway-Complete"] == "true")
        harness.expectQuiet()
    }

    @Test func requiredResponseBeyondTheLimitIs503() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true }", top: "limits: { buffered_bytes: 16KiB }")
        harness.on("/1", .ok(Self.much))
        let response = try harness.fetch()
        #expect(response.status == 503)
        #expect(response["Retry-After"] == "1")
        #expect(try harness.connections() == 0)
        harness.expectQuiet()
    }

    /// A response that a client does not read stays buffered until another request needs the
    /// memory.
    @Test func unreadResponseIsDroppedForOtherRequests() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }", top: Self.limit)
        harness.network.settings.windowBytes = 2000
        harness.on("/1", .ok(Self.much))
        let slow = ScriptedPeerThatWaits(try harness.stream())
        slow.send(get())
        harness.pass(100)
        let held = try #require(harness.instance).snapshot
        #expect(held.connections == 1 && held.bufferedBytes > 30_000)
        let response = try harness.fetch()
        #expect(response.status == 200 && response.failures == nil)
        #expect(harness.instance?.snapshot.connections == 1)
        slow.close()
        harness.expectQuiet()
    }

    @Test func unreadResponseIsKeptBelowTheLimit() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", top: "limits: { write_timeout: 5s }")
        harness.network.settings.windowBytes = 2000
        harness.on("/1", .ok(Self.much))
        let slow = ScriptedPeerThatWaits(try harness.stream())
        slow.send(get())
        harness.pass(4900)
        #expect(try harness.fetch().status == 200)
        #expect(harness.instance?.snapshot.connections == 2)
        harness.pass(200)
        #expect(harness.instance?.snapshot.connections == 1)
        slow.close()
        harness.expectQuiet()
    }

    @Test func incompleteHeadsBeyondTheLimitReceive503() throws {
        let harness = try GatewayHarness(ServingTests.call, top: Self.limit)
        let half = get().dropLast(2) + "X: " + String(repeating: "x", count: 20_000)
        let clients = try (0..<5).map { _ in
            let client = try harness.send(String(half))
            harness.pass(1)
            return client
        }
        harness.pass(10)
        #expect(clients.map { $0.responses.first?.status } == [nil, nil, nil, 503, 503])
        #expect(clients.map(\.isClosed) == [false, false, false, true, true])
        for client in clients { client.leave() }
        harness.pass(10)
        #expect(try harness.fetch().status == 200)
        harness.expectQuiet()
    }
}
