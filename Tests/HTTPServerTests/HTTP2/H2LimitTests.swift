import Basics
import HTTP
import HTTP2
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPServer

/// The limits of HTTP/2 connections, and floods.
@Suite(.watched) struct H2LimitTests {
    @Test func refusesStreamsBeyondTheLimit() throws {
        var settings = ServerSettings()
        settings.streamsPerConnection = 3
        let harness = try ServerHarness.http2(settings, service: ServerHarness.deferred)
        let peer = try harness.connect()
        var frames = H2Frames.opening()
        for stream in stride(from: 1 as UInt32, to: 10, by: 2) { frames.get(on: stream) }
        peer.send(frames)
        harness.advance()
        #expect(harness.requests.count == 3 && peer.resets == [[7, 7], [9, 7]])
        let announced = peer.frames.first { $0.isKind(.settings) }?.payload ?? []
        #expect(announced.prefix(6) == [0, 3, 0, 0, 0, 3])
        for _ in 0..<3 { harness.respond() }
    }

    /// RFC 9113 5.1.2: only the stream ends, also if the client knows the limit.
    @Test func keepsConnectionThatExceedsTheKnownLimit() throws {
        var settings = ServerSettings()
        settings.streamsPerConnection = 1
        let harness = try ServerHarness.http2(settings, service: ServerHarness.deferred)
        let peer = try harness.connect()
        var frames = H2Frames.opening()
        frames.append(.settings, H2Frames.acknowledgement, on: 0)
        for stream in [1, 3] as [UInt32] { frames.get(on: stream) }
        peer.send(frames)
        harness.advance()
        #expect(peer.resets == [[3, 7]] && peer.goAway == nil && !peer.hasEnded)
        #expect(harness.requests.count == 1 && harness.server.losses[.malformed] == 1)
        harness.respond()
        harness.advance()
        frames = H2Frames()
        frames.get(on: 5)
        peer.send(frames)
        harness.advance()
        #expect(harness.requests.count == 2 && peer.goAway == nil)
        harness.respond()
    }

    /// A client whose connection ends by PRIORITY on stream 0 (RFC 9113 6.3).
    private func invalidPeer(of harness: ServerHarness) throws -> ScriptedPeer {
        let peer = try harness.connect()
        var frames = H2Frames.opening()
        frames.append(.priority, on: 0, [0, 0, 0, 1, 5])
        peer.send(frames)
        harness.advance()
        return peer
    }

    @Test func endsConnectionOfAnInvalidFrame() throws {
        let harness = try ServerHarness.http2()
        let peer = try invalidPeer(of: harness)
        #expect(peer.hasEnded && peer.goAway?.last == 1)
        #expect(harness.server.losses[.malformed] == 1 && harness.server.losses[.flood] == 0)
    }

    @Test func rejectsRequestsInFlightBeyondTheLimit() throws {
        var settings = ServerSettings()
        settings.requestsInFlight = 2
        let harness = try ServerHarness.http2(settings, service: ServerHarness.deferred)
        let client = try H2Client(harness)
        let requests = try (0..<3).map { try client.send(.get, "/\($0)") }
        harness.advance()
        #expect(requests[2].summary == "503")
        #expect(requests[2].responses.first?.fields[.retryAfter] == "1")
        #expect(harness.server.losses[.requestsInFlight] == 1)
        harness.respond()
        harness.respond()
        harness.advance()
        let next = try client.send()
        harness.advance()
        #expect(next.responses.isEmpty)
        harness.respond("ok")
        harness.advance()
        #expect(next.summary == "200 ok")
    }

    @Test func countsMemoryAndReturnsAllOfIt() throws {
        let harness = try ServerHarness.http2(service: ServerHarness.deferred)
        let client = try H2Client(harness)
        harness.advance()
        let idle = harness.server.bufferedBytes
        #expect(idle > 0)
        let request = try client.send(.post, endsStream: false)
        try client.send(String(repeating: "x", count: 50_000), on: request)
        harness.advance()
        #expect(harness.server.bufferedBytes > idle + 50_000)
        try client.reset(request)
        harness.advance()
        #expect(harness.server.bufferedBytes < idle + 20_000)
        client.peer.stream.close()
        harness.advance()
        #expect(harness.server.bufferedBytes == 0)
    }

    @Test func rejectsRequestsWithoutMemory() throws {
        var settings = ServerSettings()
        settings.bufferedBytes = 40_000
        let harness = try ServerHarness.http2(settings, service: ServerHarness.deferred)
        let client = try H2Client(harness)
        let request = try client.send(.post, endsStream: false)
        try client.send(String(repeating: "x", count: 60_000), on: request, ends: true)
        harness.advance()
        #expect(request.summary == "503")
        #expect(harness.server.losses[.bufferedBytes] == 1 && harness.requests.isEmpty)
    }

    /// A client stores no more than the window, until the service reads.
    @Test func storesNoMoreThanTheWindow() throws {
        let harness = try ServerHarness.http2(service: ServerHarness.deferred)
        let client = try H2Client(harness)
        let request = try client.send(.post, endsStream: false)
        try client.send(String(repeating: "x", count: 500_000), on: request, ends: true)
        harness.advance(100)
        #expect(request.stream?.sentBytes == 64 * 1024)
        #expect(harness.server.bufferedBytes < 120_000)
        harness.respond()
        harness.advance()
        #expect(request.summary == "200 ok" && harness.server.bufferedBytes < 60_000)
    }

    @Test func endsConnectionOfAFlood() throws {
        let harness = try ServerHarness.http2()
        let healthy = try H2Client(harness)
        let peer = try harness.connect()
        peer.send(H2Frames.opening())
        harness.advance()
        for number in 0..<250 as Range<UInt32> where !peer.hasEnded {
            var frames = H2Frames()
            frames.get(on: 2 * number + 1)
            frames.reset(on: 2 * number + 1)
            peer.send(frames)
            harness.advance(1)
        }
        #expect(peer.hasEnded && peer.goAway?.last == 11)
        #expect(harness.server.losses[.flood] == 1)
        let request = try healthy.send(.get, "/ok")
        harness.advance()
        #expect(request.summary == "200 /ok")
    }

    /// So that the last frames arrive, input is discarded for a while, but not without end.
    @Test func closesConnectionThatSendsOnAfterItsEnd() throws {
        let harness = try ServerHarness.http2()
        let peer = try invalidPeer(of: harness)
        #expect(peer.hasEnded && harness.server.connectionCount == 1)
        peer.stream.write([UInt8](repeating: 0, count: 1_100_000).span)
        harness.advance(1000)
        #expect(harness.server.connectionCount == 1)
        peer.stream.write([UInt8](repeating: 0, count: 20_000).span)
        harness.advance(100)
        #expect(harness.server.connectionCount == 0)
    }

    /// Responses behind a closed window count as unread ones.
    @Test func endsBlockedStreamWhenMemoryIsShort() throws {
        var settings = ServerSettings()
        settings.bufferedBytes = 1_000_000
        let harness = try ServerHarness.http2(settings) { _, request, exchange in
            let count = request.head.target.text.count > 1 ? 400_000 : 10
            return exchange.local.value(
                Response(status: .ok, body: Bytes(String(repeating: "x", count: count))))
        }
        let peer = try harness.connect()
        var frames = H2Frames.opening()
        frames.settings([(4, 0)])
        frames.get("/large", on: 1)
        peer.send(frames)
        harness.advance(200)
        let reader = try H2Client(harness)
        let first = try reader.send()
        harness.advance(2_000)
        #expect(first.summary == "200 xxxxxxxxxx" && !peer.hasEnded)
        let second = try harness.connect()
        frames = H2Frames.opening()
        frames.settings([(4, 0)])
        frames.get("/large", on: 1)
        second.send(frames)
        harness.advance()
        #expect(peer.resets == [[1, 11]] && second.resets == [], "the one that has waited longest")
        #expect(!peer.hasEnded && !reader.peer.hasEnded)
        #expect(harness.server.losses[.waiting] == 1 && harness.server.losses[.unread] == 0)
        #expect(harness.server.bufferedBytes < 750_000)
    }

    /// Its own request needs the memory for which the connection is closed.
    @Test func servesNoRequestOfTheConnectionThatIsClosedForIt() throws {
        var settings = ServerSettings()
        settings.bufferedBytes = 1_000_000
        let harness = try ServerHarness.http2(settings) { _, _, exchange in
            exchange.local.value(
                Response(status: .ok, body: Bytes(String(repeating: "x", count: 200_000))))
        }
        let peer = try harness.connect()
        var frames = H2Frames.opening()
        frames.settings([(4, 0)])
        frames.get("/first", on: 1)
        peer.send(frames)
        harness.advance(800)
        let budget = harness.server.budget
        let others = budget.limit - budget.bytesHeld - 10
        harness.onServer { #expect(budget.reserve(others)) }
        frames = H2Frames()
        frames.get("/second", on: 3)
        peer.send(frames)
        harness.advance()
        #expect(peer.hasEnded && harness.server.losses[.unread] == 1)
        #expect(harness.log == ["GET /first 499 0", "GET /second 499 0"])
        #expect(harness.requests.count == 1, "the service gets no request whose client is gone")
        #expect(harness.server.requestsInFlight == 0 && budget.bytesHeld == others)
    }

    @Test func evictsIdleConnection() throws {
        var settings = ServerSettings()
        settings.connections = 10
        let harness = try ServerHarness.http2(settings)
        let first = try H2Client(harness)
        _ = try first.send()
        harness.advance(1000)
        let others = try (0..<9).map { _ in try H2Client(harness) }
        harness.advance()
        #expect(first.peer.hasEnded && first.side.log == ["goaway 1 0"])
        #expect(harness.server.losses[.idle] == 1 && others.allSatisfy { !$0.peer.hasEnded })
    }
}
