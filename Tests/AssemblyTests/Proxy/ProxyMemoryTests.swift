import Assembly
import HTTP
import HTTP2
import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// What a proxied request buffers counts in `buffered_bytes`: whatever one side does not take has a limit for all
/// streams together.
@Suite(.watched) struct ProxyMemoryTests {
    private static let breaker = ", breaker: { min_requests: 1, open_at: 1% }"
    private static let accepted =
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

    private func held(_ gateway: GatewayHarness) -> Int {
        gateway.instance?.snapshot.bufferedBytes ?? .max
    }

    /// A client whose streams have windows of this size.
    private func client(_ harness: H2ProxyHarness, window: Int) throws -> ScriptedH2Client {
        var limits = H2Limits()
        limits.streamWindow = window
        return try ScriptedH2Client(
            ScriptedPeer(harness.gateway.stream()), on: harness.gateway.testbed, limits)
    }

    private func download(
        _ harness: H2ProxyHarness, _ client: ScriptedH2Client, streams: Int
    ) throws -> [H2Recorder] {
        try (0..<streams).map { number in
            let call = try client.send(.get, "/x/\(number)")
            harness.pass()
            let exchange = try harness.exchange()
            exchange.begin()
            harness.pass()
            exchange.send(String(repeating: "x", count: 400_000))
            harness.pass()
            return call
        }
    }

    /// 64 KiB in the queue of the client, and the window of the backend's stream behind it.
    @Test func countsDownloadsThatTheClientDoesNotTake() throws {
        let harness = try H2ProxyHarness()
        let client = try client(harness, window: 0)
        let calls = try download(harness, client, streams: 10)
        #expect((10 * 100_000...10 * 200_000).contains(held(harness.gateway)))
        #expect(calls.allSatisfy { $0.closed == nil })
        harness.expectQuiet(client)
    }

    @Test func endsDownloadsWithoutRoom() throws {
        let harness = try H2ProxyHarness(
            backend: Self.breaker, top: "limits: { buffered_bytes: 400KiB }")
        // A connection gets no further streams beyond a quarter of the memory.
        let clients = try (0..<3).map { _ in try client(harness, window: 0) }
        let calls = try clients.flatMap { try download(harness, $0, streams: 1) }
        #expect(held(harness.gateway) <= 400 * 1024)
        #expect(calls.contains { $0.closed == .internalError })
        let ends = harness.logged("end")
        #expect(!ends.isEmpty && ends.allSatisfy { $0 == "memory_limit" })
        for client in clients { client.peer.stream.close() }
        harness.pass(50)
        // The backend is not to blame: no breaker is open.
        let other = try harness.connect()
        let call = try other.send(.get, "/x/a")
        harness.pass()
        try harness.exchange().begin(.ok, ends: true)
        harness.pass()
        #expect(call.responses.map(\.status) == [.ok])
        harness.expectQuiet(other)
    }

    /// The client is closed as one that does not read, before other requests are refused.
    @Test func closesAClientThatTakesNothingWhenMemoryIsShort() throws {
        let harness = try H2ProxyHarness(top: "limits: { buffered_bytes: 400KiB }")
        let silent = try client(harness, window: 0)
        _ = try download(harness, silent, streams: 2)
        #expect(held(harness.gateway) > 200_000)
        harness.pass(5000)
        let other = try harness.connect()
        _ = try download(harness, other, streams: 1)
        harness.pass(10)
        #expect(silent.peer.hasEnded || !silent.peer.failures.isEmpty)
        #expect(harness.logged("end") == ["client_too_slow", "client_too_slow"])
        harness.expectQuiet(silent, other)
    }

    @Test(arguments: [false, true]) func uploadWithoutRoomIs503(_ hasRoom: Bool) throws {
        let harness = try ProxyHarness(
            backend: "breaker: { min_requests: 1, open_at: 1% }",
            top: "limits: { buffered_bytes: \(hasRoom ? 400 : 100)KiB }")
        harness.gateway.network.settings.windowBytes = 10_000
        let size = 200_000
        let clients = try (0..<2).map { _ in
            let client = try harness.send(request("PUT", "/x/a", ["Content-Length: \(size)"]))
            try harness.backend().stream.pauseReading()
            client.send(String(repeating: "x", count: size))
            harness.pass(50)
            return client
        }
        #expect(held(harness.gateway) <= (hasRoom ? 400 : 100) * 1024)
        #expect(clients[0].text.isEmpty || !hasRoom)
        #expect(clients[1].text.hasPrefix(hasRoom ? "" : "HTTP/1.1 503 "))
        #expect(clients[1].text.contains("Retry-After") == !hasRoom)
        if hasRoom { #expect(held(harness.gateway) > 130_000 && clients[1].text.isEmpty) }
        for client in clients { client.stream.close() }
        harness.pass(50)
        let client = try harness.send(get("/x/b"))
        try harness.respond("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(client.text.hasPrefix("HTTP/1.1 200 "))
        harness.expectQuiet()
    }

    @Test func tunnelWithoutRoomEnds() throws {
        let harness = try ProxyHarness(
            "to: a, upgrade: [websocket]", top: "limits: { buffered_bytes: 100KiB }")
        harness.gateway.network.settings.windowBytes = 10_000
        let backends = try (0..<2).map { _ in
            let client = try harness.send(
                get("/x/live", "Connection: Upgrade", "Upgrade: websocket"))
            try harness.respond(Self.accepted)
            let backend = try harness.backend()
            backend.stream.pauseReading()
            client.send(String(repeating: "x", count: 200_000))
            harness.pass(50)
            return backend
        }
        #expect((50_000...100 * 1024).contains(held(harness.gateway)), "one tunnel is left")
        #expect(harness.logged("end") == ["memory_limit"])
        for backend in backends { backend.stream.close() }
        harness.pass(50)
        harness.expectQuiet()
    }
}
