import Basics
import HTTP
import HTTP2
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPServer

/// Clients of HTTP/2 that are slow, silent, or do not read, in virtual time.
@Suite(.watched) struct H2TimeoutTests {
    /// GOAWAY, then the end of this side.
    @Test func closesIdleConnection() throws {
        let harness = try ServerHarness.http2()
        let client = try H2Client(harness)
        let request = try client.send()
        harness.advance(74_000)
        #expect(request.summary == "200 /" && !client.peer.hasEnded)
        harness.advance(1_100)
        #expect(client.peer.hasEnded && client.side.log == ["goaway 1 0"])
        client.peer.stream.close()
        harness.advance()
        #expect(harness.server.connectionCount == 0)
    }

    @Test func closesConnectionWithoutARequest() throws {
        let harness = try ServerHarness.http2()
        let client = try H2Client(harness)
        harness.advance(9_900)
        #expect(!client.peer.hasEnded)
        harness.advance(200)
        #expect(client.peer.hasEnded && client.side.log == ["goaway 0 0"])
    }

    /// A connection that serves a request is not idle.
    @Test func keepsBusyConnection() throws {
        let harness = try ServerHarness.http2(service: ServerHarness.deferred)
        let client = try H2Client(harness)
        let request = try client.send()
        harness.advance(600_000)
        harness.respond("late")
        harness.advance()
        #expect(request.summary == "200 late")
        harness.advance(76_000)
        #expect(client.peer.hasEnded)
    }

    /// PINGs do not keep a connection alive.
    @Test func closesIdleConnectionThatPings() throws {
        let harness = try ServerHarness.http2()
        let client = try H2Client(harness)
        _ = try client.send()
        for _ in 0..<9 {
            harness.advance(9_000)
            client.side.session.sendPing()
            client.flush()
        }
        harness.advance()
        #expect(client.peer.hasEnded)
    }

    /// An unfinished header block: also one byte at a time, and also if a field of it is malformed.
    @Test(arguments: [(true, "x"), (false, "x"), (true, "X")])
    func closesConnectionWithUnfinishedHead(_ drips: Bool, _ name: String) throws {
        let harness = try ServerHarness.http2()
        let peer = try harness.connect()
        var frames = H2Frames.opening()
        frames.get(on: 1)
        frames.append(.headers, 1, on: 3, H2Frames.block(H2Frames.get() + [(name, "")]))
        frames.append(
            .continuation, on: 3,
            H2Frames.block([("y", String(repeating: "v", count: 200))]))
        peer.stream.write(Array(frames.bytes.dropLast(180)).span)
        harness.advance()
        #expect(harness.log == ["GET / 200 1"])
        for _ in 0..<99 {
            if drips { peer.send("v") }
            harness.advance(100)
        }
        #expect(!peer.hasEnded)
        harness.advance(200)
        #expect(peer.hasEnded && peer.goAway?.last == 11)
        #expect(harness.server.losses[.tooSlow] == 1)
    }

    /// A malformed head in two frames is complete, though no request came of it.
    @Test func keepsConnectionWithACompleteMalformedHead() throws {
        let harness = try ServerHarness.http2(service: ServerHarness.deferred)
        let peer = try harness.connect()
        var frames = H2Frames.opening()
        frames.get(on: 1)
        frames.append(.headers, 1, on: 3, H2Frames.block(H2Frames.get() + [("X", "")]))
        frames.append(.continuation, 4, on: 3, H2Frames.block([("y", "z")]))
        peer.send(frames)
        harness.advance(60_000)
        #expect(!peer.hasEnded && peer.resets == [[3, 1]] && peer.goAway == nil)
        harness.respond("ok")
        harness.advance()
        #expect(harness.log == ["GET / 200 2"])
    }

    /// 408 on the stream; the connection stays.
    @Test func rejectsSlowBody() throws {
        let harness = try ServerHarness.http2(service: ServerHarness.echoBody)
        let client = try H2Client(harness)
        let slow = try client.send(.post, endsStream: false)
        harness.advance(4_900)
        #expect(slow.responses.isEmpty)
        harness.advance(400)
        #expect(slow.summary == "408" && slow.closed == .noError)
        #expect(harness.log == ["POST / 408 0"] && harness.server.losses[.tooSlow] == 1)
        let next = try client.send(.post, endsStream: false)
        try client.send("ok", on: next, ends: true)
        harness.advance()
        #expect(next.summary == "200 ok")
    }

    /// The time counts for each stream.
    @Test func limitsTheBodyOfEachStream() throws {
        let harness = try ServerHarness.http2(service: ServerHarness.echoBody)
        let client = try H2Client(harness)
        let first = try client.send(.post, endsStream: false)
        harness.advance(3_000)
        let second = try client.send(.post, endsStream: false)
        harness.advance(3_000)
        #expect(first.summary == "408" && second.responses.isEmpty)
        try client.send("x", on: second, ends: true)
        harness.advance()
        #expect(second.summary == "200 x")
    }

    /// CVE-2019-9517: a window that is never opened.
    @Test func resetsResponseWhoseWindowStaysClosed() throws {
        let harness = try ServerHarness.http2 { _, request, exchange in
            let count = request.head.target.text.count > 1 ? 1000 : 10
            return exchange.local.value(
                Response(status: .ok, body: Bytes(String(repeating: "x", count: count))))
        }
        let peer = try harness.connect()
        var frames = H2Frames.opening()
        frames.settings([(4, 100)])
        frames.get("/long", on: 1)
        frames.get("/", on: 3)
        peer.send(frames)
        harness.advance(29_000)
        #expect(peer.resets == [] && harness.log == ["GET / 200 10"])
        harness.advance(1_100)
        #expect(peer.resets == [[1, 8]] && peer.goAway == nil)
        #expect(harness.log == ["GET / 200 10", "GET /long 200 100 truncated"])
        #expect(harness.server.requestsInFlight == 0)
    }

    /// A response that has used up its window ends when its body does: it must not occupy a stream for as
    /// long as the client likes.
    @Test func endsStreamedResponseWhoseWindowIsUsedUp() throws {
        let body = ScriptedBody(.chunked)
        let harness = try ServerHarness.http2 { _, _, exchange in
            exchange.local.value(Response(status: .ok, body: .stream(body)))
        }
        let peer = try harness.connect()
        var frames = H2Frames.opening()
        frames.settings([(4, 5)])
        frames.get(on: 1)
        peer.send(frames)
        harness.advance()
        harness.onServer { body.deliver("hello") }
        harness.advance(100)
        #expect(harness.log == [] && harness.server.streams == 1)
        harness.onServer { body.end() }
        harness.advance()
        #expect(harness.log == ["GET / 200 5"] && harness.server.streams == 0)
        let end = try #require(peer.frames.last)
        #expect(end.isKind(.data) && end.flags == 1 && end.payload.isEmpty)
    }

    /// The time begins with the response, however long the service has worked.
    @Test func limitsTheTimeFromTheResponse() throws {
        let harness = try ServerHarness.http2(service: ServerHarness.deferred)
        let peer = try harness.connect()
        var frames = H2Frames.opening()
        frames.settings([(4, 0)])
        frames.get(on: 1)
        peer.send(frames)
        harness.advance(100_000)
        harness.respond("late")
        harness.advance(29_000)
        #expect(peer.resets == [])
        harness.advance(1_100)
        #expect(peer.resets == [[1, 8]])
    }

    /// A client that takes some bytes in each period is not blocked.
    @Test func keepsResponseThatMakesProgress() throws {
        let harness = try ServerHarness.http2 { _, _, exchange in
            exchange.local.value(Response(status: .ok, body: Bytes("hello")))
        }
        let peer = try harness.connect()
        var frames = H2Frames.opening()
        frames.settings([(4, 0)])
        frames.get(on: 1)
        peer.send(frames)
        for _ in 0..<5 {
            harness.advance(25_000)
            var more = H2Frames()
            more.windowUpdate(1, on: 1)
            peer.send(more)
        }
        harness.advance()
        #expect(peer.resets == [] && harness.log == ["GET / 200 5"])
    }

    /// With large windows all of a response waits for the socket, whose kernel reports room in large steps.
    @Test(arguments: [(50_000, 1), (100, 0)])
    func writeTimeoutSparesAClientThatReads(_ rate: Int, _ connections: Int) throws {
        var settings = ServerSettings()
        settings.limits.writeTimeout = .seconds(2)
        let harness = try ServerHarness.http2(settings) { _, _, exchange in
            exchange.local.value(
                Response(status: .ok, body: Bytes(String(repeating: "x", count: 12_000_000))))
        }
        harness.network.settings.windowBytes = 4 << 20
        harness.network.settings.refillBytes = 1 << 20
        let client = try H2Client(harness)
        client.peer.onReceived = { $0.stream.pauseReading() }
        (client.peer.stream as? SimStream)?.split = .sizes([rate])
        _ = try client.send()
        var update = H2Frames()
        update.windowUpdate(1 << 24, on: 0)
        update.windowUpdate(1 << 24, on: 1)
        client.peer.send(update)
        for _ in 0..<20 {
            harness.advance(1000)
            client.peer.stream.resumeReading()
        }
        #expect(harness.server.connectionCount == connections)
    }

    /// Output that the client does not take from its socket.
    @Test func closesConnectionThatIsNotRead() throws {
        let harness = try ServerHarness.http2 { _, _, exchange in
            exchange.local.value(
                Response(status: .ok, body: Bytes(String(repeating: "x", count: 3_000_000))))
        }
        let client = try H2Client(harness)
        client.peer.stream.pauseReading()
        let request = try client.send()
        var update = H2Frames()
        update.windowUpdate(1 << 24, on: 0)
        update.windowUpdate(1 << 24, on: 1)
        client.peer.send(update)
        harness.advance(29_000)
        #expect(harness.server.connectionCount == 1)
        harness.advance(2_000)
        #expect(harness.server.connectionCount == 0 && !request.hasEnded)
        #expect(harness.log.count == 1 && harness.log[0].hasSuffix("truncated"))
        #expect(harness.server.bufferedBytes == 0)
    }
}
