import Assembly
import Basics
import HTTP
import HTTP2
import Reactor
import SimReactor
import TLS
import TestSupport
import Testing
import WorkerSupport

/// WebSockets that clients open on streams of HTTP/2 (RFC 8441), to a backend of HTTP/1.1.
@Suite(.watched) struct WebSocketStreamTests {
    private static let proxy = "to: a, upgrade: [websocket], idle_timeout: 10s"
    private static let listen = "listen: { address: \"127.0.0.1:8080\", protocols: [http2, http1] }"

    private func harness(
        _ proxy: String = proxy, endpoint: String = "", top: String = "",
        files: [String: String] = [:]
    ) throws -> ProxyHarness {
        try ProxyHarness(proxy, endpoint: endpoint, top: "\(Self.listen)\n\(top)", files: files)
    }

    private func connect(_ harness: ProxyHarness) throws -> ScriptedH2Client {
        try ScriptedH2Client(ScriptedPeer(harness.gateway.stream()), on: harness.gateway.testbed)
    }

    /// The value of a field that the backend has received.
    private func received(_ name: String, _ harness: ProxyHarness) -> String? {
        harness.received.split(separator: "\r\n").first { $0.hasPrefix(name + ": ") }.map {
            String($0.dropFirst(name.count + 2))
        }
    }

    /// The backend's response to the handshake.
    private func acceptance(_ harness: ProxyHarness, _ more: String = "") throws -> String {
        let key = try #require(received("Sec-WebSocket-Key", harness))
        let text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        var accept: [UInt8] = []
        let hash = try #require(SHA1.hash(Array(text.utf8)))
        accept.append(base64: hash.span)
        return "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            + "Sec-WebSocket-Accept: \(String(decoding: accept, as: UTF8.self))\r\n\(more)\r\n"
    }

    /// A client with an open WebSocket.
    private func open(
        _ harness: ProxyHarness
    ) throws -> (client: ScriptedH2Client, stream: H2Recorder) {
        let client = try connect(harness)
        let stream = try client.openWebSocket("/x/live")
        harness.pass(1)
        try harness.respond(acceptance(harness))
        #expect(stream.responses.map(\.status) == [.ok] && !stream.hasEnded)
        try harness.clearReceived()
        return (client, stream)
    }

    private func expectQuiet(
        _ harness: ProxyHarness, _ client: ScriptedH2Client,
        _ location: SourceLocation = #_sourceLocation
    ) {
        client.peer.stream.close()
        harness.expectQuiet(location)
    }

    @Test func gatewayMakesTheHandshakeOfHTTP1() throws {
        let harness = try harness()
        let client = try connect(harness)
        let fields = [
            ("sec-websocket-version", "13"), ("sec-websocket-protocol", "chat, log"),
            ("sec-websocket-extensions", "permessage-deflate"), ("origin", "https://shop.test"),
            ("cookie", "a=b"), ("sec-websocket-key", "forged"),
        ]
        let stream = try client.openWebSocket("/x/live?a=b", fields)
        harness.pass(1)
        #expect(harness.received.hasPrefix("GET /x/live?a=b HTTP/1.1\r\n"))
        #expect(harness.received.contains("Connection: Upgrade\r\nUpgrade: websocket\r\n"))
        for (name, value) in fields.dropLast().dropLast() {
            #expect(received(name, harness) == value)
        }
        #expect(received("Cookie", harness) == "a=b" && !harness.received.contains("forged"))
        let key = try #require(received("Sec-WebSocket-Key", harness))
        #expect(Base64.bytes(Bytes(key))?.count == 16)
        #expect(!harness.received.contains("Content-Length"))
        try harness.respond(
            acceptance(harness, "Sec-WebSocket-Protocol: chat\r\nX-A: 1\r\nConnection: X-B\r\n"))
        let response = try #require(stream.responses.first)
        #expect(response.status == .ok && response.fields["sec-websocket-protocol"] == "chat")
        #expect(response.fields["x-a"] == "1")
        #expect(response.fields["sec-websocket-accept"] == nil)
        #expect(!response.fields.contains(.upgrade) && !response.fields.contains(.connection))
        expectQuiet(harness, client)
    }

    /// Each handshake has a key of its own.
    @Test func keysDiffer() throws {
        let harness = try harness()
        let client = try connect(harness)
        var keys: Set<String> = []
        for _ in 0..<5 {
            _ = try client.openWebSocket("/x/live")
            harness.pass(1)
            keys.insert(try #require(received("Sec-WebSocket-Key", harness)))
        }
        #expect(keys.count == 5 && harness.connections.count == 5)
        expectQuiet(harness, client)
    }

    @Test func bytesPassInBothDirections() throws {
        let harness = try harness()
        let (client, stream) = try open(harness)
        try client.send("ping", on: stream)
        harness.pass(1)
        try harness.respond("pong")
        #expect(harness.received == "ping" && stream.text == "pong")
        let streams = try #require(harness.gateway.instance?.snapshot.streams)
        #expect(streams.map { [$0[.response], $0[.tunnel]] } == [[0, 1]])
        try harness.backend().stream.close()
        harness.pass(1)
        #expect(stream.hasEnded && stream.closed == .noError)
        #expect(harness.logged("status") == ["200"] && harness.logged("outcome") == ["ok"])
        #expect(harness.logged("bytes_in") == ["4"] && harness.logged("method") == ["GET"])
        expectQuiet(harness, client)
    }

    @Test func clientThatEndsItsSideStillReceives() throws {
        let harness = try harness()
        let (client, stream) = try open(harness)
        try harness.backend().onEnded = { _ in }
        try client.send("last", on: stream, ends: true)
        harness.pass(1)
        #expect(harness.received == "last")
        #expect(try harness.backend().hasEnded)
        try harness.respond("still here")
        #expect(stream.text == "still here" && !stream.hasEnded)
        try harness.backend().stream.close()
        harness.pass(1)
        #expect(stream.hasEnded)
        expectQuiet(harness, client)
    }

    @Test(arguments: [true, false]) func resetEndsBothSides(_ ofClient: Bool) throws {
        let harness = try harness()
        let (client, stream) = try open(harness)
        if ofClient {
            try client.reset(stream)
        } else {
            (try harness.backend().stream as? SimStream)?.reset()
        }
        harness.pass(1)
        #expect(stream.closed == .cancel && !stream.hasEnded)
        if ofClient { #expect(try harness.backend().hasEnded) }
        #expect(harness.logged("end") == [ofClient ? "client_disconnected" : "backend_truncated"])
        #expect(!client.peer.hasEnded, "the connection stays")
        expectQuiet(harness, client)
    }

    @Test func idleTunnelIsReset() throws {
        let harness = try harness()
        let (client, stream) = try open(harness)
        harness.pass(9_000)
        try client.send("x", on: stream)
        harness.pass(9_000)
        try harness.respond("y")
        harness.pass(9_000)
        #expect(stream.closed == nil)
        harness.pass(2_000)
        #expect(stream.closed == .cancel && harness.logged("end") == ["idle"])
        expectQuiet(harness, client)
    }

    /// The window of a stream and what the connections hold bound what a slow backend makes the
    /// gateway store.
    @Test func slowBackendPausesTheClient() throws {
        let harness = try harness()
        let (client, stream) = try open(harness)
        harness.gateway.network.settings.windowBytes = 10_000
        try harness.backend().stream.pauseReading()
        try client.send(String(repeating: "x", count: 2_000_000), on: stream)
        harness.pass(100)
        let sent = stream.stream?.sentBytes ?? 0
        #expect((64_000...600_000).contains(sent))
        #expect(harness.gateway.instance?.snapshot.bufferedBytes ?? .max < 600_000)
        try harness.backend().stream.resumeReading()
        for _ in 0..<50 {
            harness.pass(100)
            client.flush()
        }
        #expect(harness.received.utf8.count == 2_000_000)
        expectQuiet(harness, client)
    }

    // MARK: Refusals

    @Test(arguments: ["", "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"])
    func backendMustProveTheHandshake(_ accept: String) throws {
        let harness = try harness()
        let client = try connect(harness)
        let stream = try client.openWebSocket("/x/live")
        harness.pass(1)
        try harness.respond(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                + accept + "\r\n")
        #expect(stream.responses.map(\.status.code) == [502] && stream.hasEnded)
        #expect(stream.text.contains(#""failures":[{"kind":"http_protocol_error"}]"#))
        #expect(try harness.backend().hasEnded)
        expectQuiet(harness, client)
    }

    /// A 2xx would open the tunnel; other responses are those of the backend.
    @Test(arguments: [(200, 502), (204, 502), (302, 302), (403, 403), (426, 426), (503, 503)])
    func backendMayRefuse(_ code: Int, _ expected: UInt16) throws {
        let harness = try harness()
        let client = try connect(harness)
        let stream = try client.openWebSocket("/x/live")
        harness.pass(1)
        let body = code == 204 ? "\r\n" : "Content-Length: 2\r\n\r\nno"
        try harness.respond("HTTP/1.1 \(code) X\r\n\(body)")
        #expect(stream.responses.map(\.status.code) == [expected] && stream.hasEnded)
        #expect((stream.text == "no") == (expected != 502))
        expectQuiet(harness, client)
    }

    /// RFC 8441 3: announced as soon as one endpoint accepts WebSockets.
    @Test func endpointsWithoutUpgradeRespond501() throws {
        let gateway = try GatewayHarness(
            config: """
                version: 1
                \(Self.listen)
                backends:
                  a: { url: "http://127.0.0.1:7001" }
                endpoints:
                  - { route: GET /live, proxy: { to: a, upgrade: [websocket] } }
                  - { route: GET /plain, proxy: a }
                  - { route: GET /other, proxy: { to: a, upgrade: [other] } }
                  - { route: GET /calls, calls: { one: { from: a, get: / } } }
                  - { route: POST /post, proxy: { to: a, upgrade: [websocket] } }
                """)
        let client = try ScriptedH2Client(ScriptedPeer(gateway.stream()), on: gateway.testbed)
        let paths = ["/plain", "/other", "/calls", "/post", "/none"]
        let streams = try paths.map { try client.openWebSocket($0) }
        gateway.pass(5)
        #expect(streams.map { $0.responses.first?.status.code } == [501, 501, 501, 405, 404])
        #expect(streams.allSatisfy { $0.hasEnded } && gateway.events == [])
        let other = try client.openWebSocket("/live", named: "connect-udp")
        gateway.pass(5)
        #expect(other.responses.map(\.status.code) == [501] && gateway.events == [])
        client.peer.stream.close()
        gateway.expectQuiet()
    }

    @Test func isNotAnnouncedWithoutAnEndpoint() throws {
        let harness = try harness("to: a, upgrade: [other]")
        let client = try connect(harness)
        let stream = try client.openWebSocket("/x/live")
        harness.pass(5)
        #expect(stream.closed == .protocolError && harness.connections.isEmpty)
        expectQuiet(harness, client)
    }

    /// Authentication, rate limits and CORS see a GET.
    @Test func filtersOfTheEndpointApply() throws {
        let harness = try harness(
            endpoint: """
                auth: keys
                rate_limits: [few]
                cors: { origins: ["https://shop.test"] }
                """,
            top: """
                auth: { keys: { api_key: { keys: keys.yaml } } }
                rate_limits: { few: { rate: 1/m, key: caller } }
                """,
            files: ["keys.yaml": Keys.entry("ann", "secret")])
        let client = try connect(harness)
        let denied = try client.openWebSocket("/x/live")
        harness.pass(5)
        #expect(denied.responses.map(\.status.code) == [401] && harness.connections.isEmpty)
        let fields = [("x-api-key", "secret"), ("origin", "https://shop.test")]
        let stream = try client.openWebSocket("/x/live", fields)
        harness.pass(1)
        try harness.respond(acceptance(harness))
        let response = try #require(stream.responses.first)
        #expect(response.status == .ok)
        #expect(response.fields["access-control-allow-origin"] == "https://shop.test")
        #expect(received("x-api-key", harness) == nil)
        let limited = try client.openWebSocket("/x/live", fields)
        harness.pass(1)
        #expect(limited.responses.map(\.status.code) == [429])
        #expect(harness.connections.count == 1)
        expectQuiet(harness, client)
    }

    @Test func drainEndsWebSocketWithCloseFrames() throws {
        let harness = try harness(top: "drain: { timeout: 1500ms }")
        let (client, stream) = try open(harness)
        let drained = harness.gateway.drain()
        harness.pass(1_490)
        #expect(stream.text == "" && drained() == nil)
        harness.pass(15)
        #expect(stream.body == [0x88, 0x02, 0x03, 0xE9] && stream.hasEnded)
        #expect(try harness.backend().received.prefix(2) == [0x88, 0x82])
        harness.pass(300)
        #expect(drained() != nil && harness.logged("end") == ["cut_off"])
        expectQuiet(harness, client)
    }

    /// GOAWAY announces the drain; the tunnel ends when its peers end it.
    @Test func drainWaitsForTheTunnel() throws {
        let harness = try harness()
        let (client, stream) = try open(harness)
        let drained = harness.gateway.drain()
        harness.pass(3_000)
        #expect(client.frames.contains { $0.isKind(.goAway) } && drained() == nil)
        try client.send("ping", on: stream)
        harness.pass(1)
        try harness.respond("pong")
        #expect(harness.received == "ping" && stream.text == "pong")
        try harness.backend().stream.close()
        harness.pass(3_000)
        #expect(stream.hasEnded && drained() != nil)
        expectQuiet(harness, client)
    }
}
