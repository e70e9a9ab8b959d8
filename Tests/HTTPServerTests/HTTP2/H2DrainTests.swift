import Basics
import HTTP
import HTTP2
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPServer

/// The end of HTTP/2 connections when the server drains (RFC 9113 6.8).
@Suite(.watched) struct H2DrainTests {
    /// First the highest id, and the last one after the client has acknowledged that.
    @Test func losesNoAcceptedStream() throws {
        let harness = try ServerHarness.http2(service: ServerHarness.deferred)
        let client = try H2Client(harness)
        let first = try client.send(.get, "/1")
        harness.advance()
        // A request on the way: the client has not received GOAWAY.
        let second = try client.side.request(.get, "/2")
        client.side.write()
        let late = client.side.takeWritten()
        harness.onServer { harness.server.announceDrain() }
        client.peer.stream.write(late.span)
        harness.advance()
        #expect(client.side.log == ["goaway 2147483647 0", "goaway 3 0"])
        #expect(harness.requests.count == 2 && !client.peer.hasEnded)
        harness.respond("one")
        harness.respond("two")
        harness.advance()
        #expect(first.summary == "200 one" && second.summary == "200 two")
        #expect(client.peer.hasEnded, "the connection ends behind its streams")
    }

    /// A client that does not acknowledge gets a second.
    @Test func completesTheDrainWithoutAcknowledgement() throws {
        let harness = try ServerHarness.http2(service: ServerHarness.deferred)
        let peer = try harness.connect()
        var frames = H2Frames.opening()
        frames.get(on: 1)
        peer.send(frames)
        harness.advance()
        harness.onServer { harness.server.announceDrain() }
        harness.advance(990)
        #expect(peer.goAway == [0x7FFF_FFFF, 0])
        frames = H2Frames()
        frames.get(on: 3)
        peer.send(frames)
        harness.advance(20)
        #expect(peer.goAway == [3, 0])
        frames = H2Frames()
        frames.get(on: 5)
        peer.send(frames)
        harness.advance()
        #expect(harness.requests.count == 2, "a later stream is not served")
        harness.respond()
        harness.respond()
        harness.advance()
        #expect(peer.hasEnded)
    }

    @Test func drainClosesIdleAndCompletesBusyConnections() throws {
        let harness = try ServerHarness.http2(service: ServerHarness.deferred)
        let idle = try H2Client(harness)
        let waiting = try harness.connect()
        let busy = try H2Client(harness)
        let request = try busy.send()
        harness.advance(1000)
        var isDrained = false
        harness.onServer { harness.server.drain().whenSettled { _ in isDrained = true } }
        harness.advance()
        #expect(idle.peer.hasEnded && idle.side.log == ["goaway 0 0"])
        #expect(waiting.hasEnded, "its protocol is not known yet")
        #expect(!busy.peer.hasEnded && !isDrained)
        harness.respond("done")
        harness.advance()
        #expect(request.summary == "200 done" && busy.peer.hasEnded)
        for peer in [idle.peer, busy.peer] { peer.stream.close() }
        harness.advance()
        #expect(isDrained && harness.server.connectionCount == 0)
    }

    /// A connection that opens after the announcement ends after its request.
    @Test func endsLateConnectionAfterItsRequest() throws {
        let harness = try ServerHarness.http2()
        harness.onServer { harness.server.announceDrain() }
        let client = try H2Client(harness)
        let request = try client.send()
        harness.advance(20)
        #expect(request.summary == "200 /")
        #expect(client.side.log.first == "goaway 2147483647 0" && client.peer.hasEnded)
    }

    @Test func closeEndsEverythingAtOnce() throws {
        let harness = try ServerHarness.http2(service: ServerHarness.deferred)
        let client = try H2Client(harness)
        _ = try client.send()
        harness.advance()
        harness.onServer { harness.server.close() }
        harness.advance()
        #expect(harness.cancelled == [0] && harness.log == ["GET / 0 0"])
        #expect(harness.server.connectionCount == 0 && harness.server.bufferedBytes == 0)
    }

    /// The client's GOAWAY ends the connection behind its streams.
    @Test func endsAfterTheClientsGoAway() throws {
        let harness = try ServerHarness.http2(service: ServerHarness.deferred)
        let client = try H2Client(harness)
        let request = try client.send()
        client.side.session.shutDown()
        client.flush()
        harness.advance()
        #expect(!client.peer.hasEnded)
        harness.respond("x")
        harness.advance()
        #expect(request.summary == "200 x" && client.peer.hasEnded)
    }
}
