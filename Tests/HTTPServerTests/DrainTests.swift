import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import Testing

@testable import HTTPServer

/// Draining, closing and limits of a server.
@Suite struct DrainTests {
    @Test func completesRunningRequestsAndClosesIdleConnections() throws {
        let harness = try ServerHarness(service: ServerHarness.deferred)
        let idle = try harness.connect()
        let busy = try harness.connect()
        busy.send(get("/1") + get("/2"))
        harness.advance()
        var isDrained = false
        harness.onServer { harness.server.drain().whenSettled { _ in isDrained = true } }
        harness.advance()
        #expect(summary(of: idle) == "!")
        #expect(!busy.hasEnded && !isDrained)
        idle.stream.close()
        harness.respond("one")
        harness.advance()
        #expect(summary(of: busy) == "200 close one!")
        busy.stream.close()
        harness.advance()
        #expect(isDrained && harness.server.connectionCount == 0)
        #expect(throws: (any Error).self) { try harness.connect() }
    }

    @Test func announcesTheDrainBeforeItStopsAccepting() throws {
        let harness = try ServerHarness()
        harness.server.announceDrain()
        #expect(try harness.responses(to: get()) == "200 close /!")
    }

    @Test func drainsAtOnceWithoutConnections() throws {
        let harness = try ServerHarness()
        var isDrained = false
        harness.onServer { harness.server.drain().whenSettled { _ in isDrained = true } }
        harness.advance()
        #expect(isDrained)
    }

    @Test func closeEndsEverythingAtOnce() throws {
        let harness = try ServerHarness(service: ServerHarness.deferred)
        let peer = try harness.connect()
        peer.send(get())
        harness.advance()
        harness.onServer { harness.server.close() }
        harness.advance()
        #expect(harness.cancelled == [0] && harness.server.connectionCount == 0)
    }

    @Test func rejectsAConnectionBeyondTheLimit() throws {
        var settings = ServerSettings()
        settings.connections = 1
        let harness = try ServerHarness(settings)
        let first = try harness.connect()
        first.send("GET /")
        harness.advance()
        let second = try harness.connect()
        harness.advance()
        #expect(summary(of: second) == "503 close!")
        #expect(second.text.contains("Retry-After: 1\r\n"))
        first.send(" HTTP/1.1\r\nHost: a\r\n\r\n")
        harness.advance()
        #expect(summary(of: first) == "200 /")
        #expect(harness.log == ["refused 503", "GET / 200 1"])
    }

    @Test func closesIdleConnectionsAtOnce() throws {
        let harness = try ServerHarness()
        let silent = try harness.connect()
        let kept = try harness.connect()
        kept.send(get())
        harness.advance(300)
        var isDrained = false
        harness.onServer { harness.server.drain().whenSettled { _ in isDrained = true } }
        #expect(isDrained && harness.server.connectionCount == 0)
        harness.advance()
        #expect(summary(of: silent) == "!" && summary(of: kept) == "200 /!")
    }

    /// A request that arrives after the end must not cause a reset that destroys the previous
    /// response.
    @Test func connectionLingersAfterARecentResponse() throws {
        let harness = try ServerHarness()
        let peer = try harness.connect()
        peer.send(get())
        harness.advance(10)
        harness.onServer { _ = harness.server.drain() }
        #expect(harness.server.connectionCount == 1)
        peer.send(get("/2"))
        harness.advance(200)
        #expect(summary(of: peer) == "200 /!" && peer.failures.isEmpty)
        #expect(harness.server.connectionCount == 1)
        harness.advance(60)
        #expect(harness.server.connectionCount == 0)
    }

    @Test func rejectsARequestBeyondTheLimit() throws {
        var settings = ServerSettings()
        settings.requestsInFlight = 1
        let harness = try ServerHarness(settings, service: ServerHarness.deferred)
        let first = try harness.connect()
        first.send(get("/1"))
        harness.advance()
        #expect(try harness.responses(to: get("/2") + get("/3")) == "503 | 503")
        harness.respond("one")
        harness.advance()
        #expect(summary(of: first) == "200 one")
        #expect(harness.server.requestsInFlight == 0)
    }

    @Test func closeLeavesNothingOpen() throws {
        let harness = try ServerHarness(service: ServerHarness.echoBody)
        for text in [get(), post("Content-Length: 5\r\n", "he"), "GET", "BAD\r\n", get() + get()] {
            let peer = try harness.connect()
            peer.send(text)
            harness.advance()
            peer.stream.close()
        }
        harness.onServer { harness.server.close() }
        harness.advance(1)
        #expect(harness.server.connectionCount == 0 && harness.server.requestsInFlight == 0)
        #expect(harness.network.leftovers == [])
    }
}
