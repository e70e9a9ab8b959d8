import Basics
import HTTP
import HTTP2
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPServer

/// Streams that become a tunnel (RFC 8441).
@Suite(.watched) struct H2TunnelTests {
    private static let settings: ServerSettings = {
        var settings = ServerSettings()
        settings.acceptsWebSocket = true
        return settings
    }()

    /// A server whose service responds with this tunnel.
    private func harness(
        _ tunnel: ScriptedTunnel, _ settings: ServerSettings = settings
    ) throws -> ServerHarness {
        try ServerHarness.http2(settings) { _, _, exchange in
            exchange.local.value(Response(status: .ok, fields: ["X-A": "1"], body: .tunnel(tunnel)))
        }
    }

    /// An open tunnel with the client's stream.
    private func open(
        _ tunnel: ScriptedTunnel
    ) throws -> (harness: ServerHarness, client: H2Client, stream: H2Recorder) {
        let harness = try harness(tunnel)
        let client = try H2Client(harness)
        let stream = try client.openWebSocket("/live")
        harness.advance()
        return (harness, client, stream)
    }

    @Test(arguments: [true, false]) func announcesExtendedConnect(_ accepts: Bool) throws {
        var settings = ServerSettings()
        settings.acceptsWebSocket = accepts
        let harness = try harness(ScriptedTunnel(), settings)
        let client = try H2Client(harness)
        harness.advance()
        let payload = try #require(client.frames.first { $0.isKind(.settings) }).payload
        let entries = stride(from: 0, to: payload.count, by: 6).map { payload[$0..<($0 + 6)] }
        #expect(entries.contains([0, 8, 0, 0, 0, 1]) == accepts)
        let stream = try client.openWebSocket("/live")
        harness.advance()
        #expect(stream.summary == (accepts ? "200..." : "reset 1"))
    }

    @Test func bytesPassInBothDirections() throws {
        let tunnel = ScriptedTunnel()
        let (harness, client, stream) = try open(tunnel)
        let response = try #require(stream.responses.first)
        #expect(response.status == .ok && response.fields["x-a"] == "1")
        #expect(!response.fields.contains(.contentLength) && !stream.hasEnded)
        let head = try #require(harness.requests.first?.request.head)
        #expect(head.opensWebSocket && head.method == .get && head.version == .http2)
        #expect(harness.server.streams == 1 && harness.server.requestsInFlight == 0)
        for text in ["one", "two"] {
            try client.send(text, on: stream)
            harness.onServer { tunnel.body.deliver(text.uppercased()) }
            harness.advance()
        }
        #expect(tunnel.received.text == "onetwo" && stream.text == "ONETWO")
        harness.onServer { tunnel.body.end() }
        harness.advance()
        #expect(stream.hasEnded && stream.closed == .noError && harness.server.streams == 0)
        #expect(harness.log == ["GET /live 200 6"])
    }

    /// Its bytes wait until the service has a tunnel, within the window.
    @Test func clientMayBeginBeforeTheResponse() throws {
        let tunnel = ScriptedTunnel()
        var answer: (() -> Void)?
        let harness = try ServerHarness.http2(Self.settings) { _, _, exchange in
            let resolver = LocalResolver<Response>(on: exchange.local)
            let promise = resolver.promise
            var held: LocalResolver<Response>? = consume resolver
            answer = {
                held.take()?.fulfill(Response(status: .ok, body: .tunnel(tunnel)))
            }
            return promise
        }
        let client = try H2Client(harness)
        let stream = try client.openWebSocket()
        try client.send("early", on: stream, ends: true)
        harness.advance()
        #expect(tunnel.received.text == "" && harness.server.requestsInFlight == 1)
        harness.onServer { answer?() }
        harness.advance()
        #expect(tunnel.received.text == "early" && tunnel.received.hasEnded)
        harness.onServer { tunnel.body.end() }
        harness.advance()
        #expect(stream.hasEnded && stream.closed == .noError)
    }

    @Test func clientThatEndsItsSideStillReceives() throws {
        let tunnel = ScriptedTunnel()
        let (harness, client, stream) = try open(tunnel)
        try client.send("last", on: stream, ends: true)
        harness.advance()
        #expect(tunnel.received.text == "last" && tunnel.received.hasEnded)
        harness.onServer { tunnel.body.deliver("more") }
        harness.advance()
        #expect(stream.text == "more" && !stream.hasEnded)
        harness.onServer { tunnel.body.end() }
        harness.advance()
        #expect(stream.hasEnded && stream.closed == .noError)
    }

    /// RFC 8441 5.
    @Test func brokenTunnelResetsItsStream() throws {
        let tunnel = ScriptedTunnel()
        let (harness, client, stream) = try open(tunnel)
        harness.onServer { tunnel.body.fail() }
        harness.advance()
        #expect(stream.closed == .cancel && !stream.hasEnded && harness.server.streams == 0)
        #expect(harness.log == ["GET /live 200 0 truncated"])
        let next = try client.openWebSocket("/next")
        harness.advance()
        #expect(next.summary == "200...", "the connection stays")
    }

    @Test func clientThatResetsCancelsTheTunnel() throws {
        let tunnel = ScriptedTunnel()
        let (harness, client, stream) = try open(tunnel)
        try client.reset(stream)
        harness.advance()
        #expect(tunnel.isCancelled && tunnel.received.error != nil && harness.server.streams == 0)
        #expect(harness.log == ["GET /live 200 0 truncated"])
    }

    @Test func slowClientPausesTheTunnel() throws {
        let tunnel = ScriptedTunnel()
        let (harness, client, stream) = try open(tunnel)
        stream.consumes = false
        for _ in 0..<3 {
            harness.onServer { tunnel.body.deliver(String(repeating: "x", count: 50_000)) }
            harness.advance()
        }
        #expect(tunnel.body.isPaused && stream.body.count == 64 * 1024)
        try client.reset(stream)
        harness.advance()
        #expect(tunnel.isCancelled && harness.server.bufferedBytes < 60_000)
    }

    /// Every 2xx would open the tunnel.
    @Test(arguments: [200, 204, 299]) func responseThatIsNoTunnelIsAnError(_ code: Int) throws {
        let harness = try ServerHarness.http2(Self.settings) { _, _, exchange in
            exchange.local.value(Response(status: Status(code) ?? .ok, body: Bytes("text")))
        }
        let client = try H2Client(harness)
        let stream = try client.openWebSocket()
        harness.advance()
        #expect(stream.summary == "500" && stream.hasEnded)
        #expect(harness.log == ["GET / 500 \(stream.body.count)"])
    }

    @Test func otherResponsesPass() throws {
        let harness = try ServerHarness.http2(Self.settings) { _, _, exchange in
            exchange.local.value(Response(status: .forbidden, body: Bytes("no")))
        }
        let client = try H2Client(harness)
        let stream = try client.openWebSocket()
        try client.send("ignored", on: stream)
        harness.advance()
        #expect(stream.summary == "403 no" && stream.closed == .noError)
    }

    /// An ordinary request cannot become a tunnel.
    @Test func tunnelForAnotherRequestIsAnError() throws {
        let tunnel = ScriptedTunnel()
        let harness = try harness(tunnel)
        let client = try H2Client(harness)
        let request = try client.send()
        harness.advance()
        #expect(request.summary == "500" && tunnel.isCancelled)
    }

    @Test func tunnelsBeyondTheLimitAreRefused() throws {
        var settings = Self.settings
        settings.streams = 1
        let tunnel = ScriptedTunnel()
        let harness = try harness(tunnel, settings)
        let client = try H2Client(harness)
        let first = try client.openWebSocket()
        harness.advance()
        let second = try client.openWebSocket()
        harness.advance()
        #expect(first.summary == "200..." && second.summary == "503")
    }
}
