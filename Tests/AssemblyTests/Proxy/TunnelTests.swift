import Assembly
import Gateway
import HTTP
import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// Connections that switch to another protocol.
@Suite(.watched) struct TunnelTests {
    private static let proxy = "to: a, upgrade: [websocket], idle_timeout: 10s"
    private static let request = get(
        "/x/live", "Connection: keep-alive, Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: abc"
    )
    private static let accepted =
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n"
        + "Sec-WebSocket-Accept: def\r\n\r\n"

    private func open(_ proxy: String = proxy) throws -> (ProxyHarness, ScriptedPeer) {
        let harness = try ProxyHarness(proxy)
        let client = try harness.send(Self.request)
        try harness.respond(Self.accepted)
        return (harness, client)
    }

    @Test func bytesPassInBothDirections() throws {
        let (harness, client) = try open()
        #expect(harness.received.contains("Connection: Upgrade\r\nUpgrade: websocket\r\n"))
        #expect(harness.received.contains("Sec-WebSocket-Key: abc\r\n"))
        #expect(client.text.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
        #expect(client.text.contains("Connection: Upgrade\r\nUpgrade: websocket\r\n"))
        #expect(client.text.contains("Sec-WebSocket-Accept: def\r\n"))
        client.clearReceived()
        try harness.clearReceived()
        client.send("ping")
        try harness.respond("HTTP/1.1 200 OK\r\n\r\n")
        #expect(harness.received == "ping" && client.text == "HTTP/1.1 200 OK\r\n\r\n")
        try harness.backend().stream.close()
        harness.pass(1)
        #expect(client.hasEnded && harness.logged("status") == ["101"])
        #expect(harness.logged("bytes_in") == ["4"] && harness.logged("outcome") == ["ok"])
        harness.expectQuiet()
    }

    @Test func streamsAndTunnelsAreCounted() throws {
        let (harness, client) = try open()
        func counts() throws -> [[Int]] {
            let streams = try #require(harness.gateway.instance?.snapshot.streams)
            #expect(streams.map(\.endpoint) == ["ANY /x/*"])
            return streams.map { [$0[.response], $0[.tunnel]] }
        }
        #expect(try counts() == [[0, 1]])
        try harness.send(get("/x/events"))
        #expect(try counts() == [[0, 1]], "no head yet")
        try harness.respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
        #expect(try counts() == [[1, 1]])
        #expect(harness.gateway.instance?.snapshot.limits.streams == 10_000)
        try harness.respond("0\r\n\r\n")
        #expect(try counts() == [[0, 1]])
        client.stream.close()
        harness.pass(10)
        #expect(try counts() == [[0, 0]])
        harness.expectQuiet()
    }

    /// Its `deadline` does not apply to an endpoint with `proxy`.
    @Test func onlyAnEndpointWithCallsHasADeadline() throws {
        let harness = try GatewayHarness(
            config: """
                version: 1
                backends: { a: { url: "http://127.0.0.1:7001" } }
                endpoints:
                  - { route: GET /x, calls: { one: { from: a, get: / } } }
                  - { route: GET /y, proxy: a }
                """)
        let loads = try #require(harness.instance).snapshot.endpointLoads
        #expect(loads.map(\.deadline) == [.seconds(5), nil])
        harness.expectQuiet()
    }

    @Test func clientThatEndsItsSideStillReceives() throws {
        let (harness, client) = try open()
        // A backend that still sends.
        try harness.backend().onEnded = { _ in }
        client.clearReceived()
        client.send("last")
        client.stream.finishWriting()
        harness.pass(1)
        #expect(harness.received.hasSuffix("last"))
        #expect(try harness.backend().hasEnded)
        try harness.respond("still here")
        #expect(client.text == "still here")
        try harness.backend().stream.close()
        harness.pass(1)
        #expect(client.hasEnded)
        harness.expectQuiet()
    }

    @Test(arguments: [true, false]) func resetEndsBothSides(_ ofClient: Bool) throws {
        let (harness, client) = try open()
        let peer = ofClient ? client : try harness.backend()
        (peer.stream as? SimStream)?.reset()
        harness.pass(50)
        let other = ofClient ? try harness.backend() : client
        #expect(other.hasEnded || !other.failures.isEmpty)
        #expect(
            harness.logged("end") == [ofClient ? "client_disconnected" : "backend_truncated"])
        harness.expectQuiet()
    }

    @Test func idleTunnelIsClosed() throws {
        let (harness, client) = try open()
        harness.pass(9_000)
        client.send("x")
        harness.pass(9_000)
        try harness.respond("y")
        harness.pass(9_000)
        #expect(!client.hasEnded)
        harness.pass(2_000)
        #expect(client.hasEnded || !client.failures.isEmpty)
        #expect(harness.logged("end") == ["idle"])
        harness.expectQuiet()
    }

    /// The first check of `idle_timeout` counts all that the client has read, the next one only what it
    /// has read since.
    @Test func clientThatStopsReadingIsIdle() throws {
        let (harness, client) = try open()
        harness.gateway.network.settings.windowBytes = 1 << 20
        harness.gateway.network.settings.refillBytes = 1 << 19
        client.onReceived = { $0.stream.pauseReading() }
        (client.stream as? SimStream)?.split = .sizes([20_000])
        try harness.respond(String(repeating: "x", count: 4_000_000))
        harness.pass(500)
        client.stream.resumeReading()
        harness.pass(500)
        client.send("ping")
        harness.pass(19_900)
        #expect(harness.received.hasSuffix("ping") && harness.logged("end") == [])
        harness.pass(200)
        #expect(harness.logged("end") == ["idle"])
        client.stream.resumeReading()
        harness.expectQuiet()
    }

    // MARK: The end of a drain

    /// A text frame "Hi" to the client, and the same masked to the backend (RFC 6455 5.7).
    private static let toClient: [UInt8] = [0x81, 0x02, 0x48, 0x69]
    private static let toBackend: [UInt8] = [0x81, 0x82, 1, 2, 3, 4, 0x49, 0x6B]

    /// What each side gets at the end of a drain, behind what the other side has sent before.
    private func receivedAtEndOfDrain(
        fromClient: [UInt8], fromBackend: [UInt8]
    ) throws -> (client: [UInt8], backend: [UInt8], harness: ProxyHarness) {
        let harness = try ProxyHarness(Self.proxy, top: "drain: { timeout: 300ms }")
        let client = try harness.send(Self.request)
        try harness.respond(Self.accepted)
        let backend = try harness.backend()
        client.stream.write(fromClient.span)
        backend.stream.write(fromBackend.span)
        harness.pass(1)
        client.clearReceived()
        backend.clearReceived()
        let ended = harness.gateway.drain()
        harness.pass(290)
        #expect(client.received == [] && backend.received == [] && ended() == nil)
        harness.pass(15)
        let received = (client.received, backend.received)
        harness.pass(300)
        #expect(ended() != nil)
        return (received.0, received.1, harness)
    }

    private static func unmasked(_ frame: [UInt8]) -> [UInt8] {
        guard frame.count == 8 else { return frame }
        return Array(frame[..<2]) + [frame[6] ^ frame[2], frame[7] ^ frame[3]]
    }

    @Test func drainEndsWebSocketWithCloseFrames() throws {
        let (client, backend, harness) = try receivedAtEndOfDrain(
            fromClient: Self.toBackend, fromBackend: Self.toClient)
        #expect(client == [0x88, 0x02, 0x03, 0xE9])
        #expect(Self.unmasked(backend) == [0x88, 0x82, 0x03, 0xE9])
        #expect(harness.logged("end") == ["cut_off"] && harness.logged("status") == ["101"])
        harness.expectQuiet()
    }

    /// Neither a backend that does not close, nor one that does not read, keeps the process alive.
    @Test(arguments: [true, false]) func drainEndsWithoutTheBackend(_ reads: Bool) throws {
        let harness = try ProxyHarness(Self.proxy, top: "drain: { timeout: 300ms }")
        harness.gateway.network.settings.windowBytes = 10_000
        let client = try harness.send(Self.request)
        try harness.respond(Self.accepted)
        let backend = try harness.backend()
        backend.onEnded = { _ in }
        if !reads {
            backend.stream.pauseReading()
            // A frame of 50,000 bytes.
            client.stream.write(
                ([0x82, 0xFE, 0xC3, 0x50, 0, 0, 0, 0] + Array(repeating: 0, count: 50_000)).span)
            harness.pass(1)
        }
        let ended = harness.gateway.drain()
        harness.pass(540)
        #expect(ended() == nil)
        harness.pass(20)
        #expect(ended() != nil)
        harness.expectQuiet()
    }

    /// A close frame inside of another frame would be part of its payload.
    @Test func drainSendsNoCloseFrameInsideOfAFrame() throws {
        let (client, backend, harness) = try receivedAtEndOfDrain(
            fromClient: Self.toBackend, fromBackend: Self.toClient.dropLast())
        #expect(client == [])
        #expect(Self.unmasked(backend) == [0x88, 0x82, 0x03, 0xE9])
        harness.expectQuiet()
    }

    /// RFC 6455 5.5.1.
    @Test func drainSendsNoCloseFrameBehindOne() throws {
        let close: [UInt8] = [0x88, 0x00]
        let (client, backend, harness) = try receivedAtEndOfDrain(
            fromClient: Self.toBackend.dropLast(), fromBackend: Self.toClient + close)
        #expect(client == [] && backend == [])
        harness.expectQuiet()
    }

    @Test func slowReaderPausesTheOtherSide() throws {
        let (harness, client) = try open()
        harness.gateway.network.settings.windowBytes = 10_000
        try harness.backend().stream.pauseReading()
        let size = 300_000
        client.send(String(repeating: "x", count: size))
        harness.pass(50)
        try harness.clearReceived()
        try harness.backend().stream.resumeReading()
        harness.pass(500)
        #expect(harness.received.utf8.count <= size && harness.received.utf8.count > size - 100_000)
        client.stream.close()
        harness.expectQuiet()
    }

    @Test func backendMustSwitchToTheRequestedProtocol() throws {
        let harness = try ProxyHarness(Self.proxy)
        let client = try harness.send(Self.request)
        try harness.respond(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n")
        #expect(client.text.hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
        #expect(try harness.backend().hasEnded)
        harness.expectQuiet()
    }

    @Test func protocolThatIsNotListedIsNotRequested() throws {
        let harness = try ProxyHarness("to: a, upgrade: [other]")
        let client = try harness.send(Self.request)
        #expect(
            !harness.received.contains("Upgrade") && harness.received.contains("Sec-WebSocket-Key"))
        try harness.respond("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")
        #expect(client.text.hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
        harness.expectQuiet()
    }

    @Test func refusalOfTheBackendIsAnOrdinaryResponse() throws {
        let harness = try ProxyHarness(Self.proxy)
        let client = try harness.send(Self.request)
        try harness.respond("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
        #expect(
            client.text.hasPrefix("HTTP/1.1 403 Forbidden\r\n") && bodyPart(client.text) == "no")
        client.send(get("/x/next"))
        harness.pass(1)
        #expect(harness.received.contains("GET /x/next "))
        harness.expectQuiet()
    }
}
