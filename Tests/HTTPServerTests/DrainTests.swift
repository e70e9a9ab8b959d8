import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import Testing

@testable import HTTPServer

/// How a server ends, and what it does when there is too much.
@Suite struct DrainTests {
    @Test func answersWhatRunsAndClosesWhatIsIdle() throws {
        let stage = try Stage(service: Stage.held)
        let idle = try stage.connect()
        let busy = try stage.connect()
        busy.send(get("/1") + get("/2"))
        stage.advance()
        var isDrained = false
        stage.onServer { stage.server.drain().whenSettled { _ in isDrained = true } }
        stage.advance()
        #expect(summary(of: idle) == "!")
        #expect(!busy.hasEnded && !isDrained)
        idle.stream.close()
        stage.answer("one")
        stage.advance()
        #expect(summary(of: busy) == "200 close one!")
        busy.stream.close()
        stage.advance()
        #expect(isDrained && stage.server.connectionCount == 0)
        #expect(throws: (any Error).self) { try stage.connect() }
    }

    @Test func announcesItsEndBeforeItStopsAccepting() throws {
        let stage = try Stage()
        stage.server.announceDrain()
        #expect(try stage.answers(to: get()) == "200 close /!")
    }

    @Test func isDrainedAtOnceWithoutConnections() throws {
        let stage = try Stage()
        var isDrained = false
        stage.onServer { stage.server.drain().whenSettled { _ in isDrained = true } }
        stage.advance()
        #expect(isDrained)
    }

    @Test func closesEverythingAtOnceWhenToldTo() throws {
        let stage = try Stage(service: Stage.held)
        let peer = try stage.connect()
        peer.send(get())
        stage.advance()
        stage.onServer { stage.server.close() }
        stage.advance()
        #expect(stage.cancelled == [0] && stage.server.connectionCount == 0)
    }

    @Test func tellsWhoIsTooMany() throws {
        var settings = ServerSettings()
        settings.connections = 1
        let stage = try Stage(settings)
        let first = try stage.connect()
        first.send("GET /")
        stage.advance()
        let second = try stage.connect()
        stage.advance()
        #expect(summary(of: second) == "503 close!")
        #expect(second.text.contains("Retry-After: 1\r\n"))
        first.send(" HTTP/1.1\r\nHost: a\r\n\r\n")
        stage.advance()
        #expect(summary(of: first) == "200 /")
        #expect(stage.log == ["refused 503", "GET / 200 1"])
    }

    @Test func idleConnectionsEndAtOnce() throws {
        let stage = try Stage()
        let silent = try stage.connect()
        let kept = try stage.connect()
        kept.send(get())
        stage.advance(300)
        var isDrained = false
        stage.onServer { stage.server.drain().whenSettled { _ in isDrained = true } }
        #expect(isDrained && stage.server.connectionCount == 0)
        stage.advance()
        #expect(summary(of: silent) == "!" && summary(of: kept) == "200 /!")
    }

    /// A request that crosses the end must not let a reset take away the answer before it.
    @Test func aConnectionThatWasJustAnsweredLingersForAMoment() throws {
        let stage = try Stage()
        let peer = try stage.connect()
        peer.send(get())
        stage.advance(10)
        stage.onServer { _ = stage.server.drain() }
        #expect(stage.server.connectionCount == 1)
        peer.send(get("/2"))
        stage.advance(200)
        #expect(summary(of: peer) == "200 /!" && peer.failures.isEmpty)
        #expect(stage.server.connectionCount == 1)
        stage.advance(60)
        #expect(stage.server.connectionCount == 0)
    }

    @Test func tellsWhichRequestIsTooMany() throws {
        var settings = ServerSettings()
        settings.requestsInFlight = 1
        let stage = try Stage(settings, service: Stage.held)
        let first = try stage.connect()
        first.send(get("/1"))
        stage.advance()
        #expect(try stage.answers(to: get("/2") + get("/3")) == "503 | 503")
        stage.answer("one")
        stage.advance()
        #expect(summary(of: first) == "200 one")
        #expect(stage.server.requestsInFlight == 0)
    }

    @Test func leavesNothingBehind() throws {
        let stage = try Stage(service: Stage.echoBody)
        for text in [get(), post("Content-Length: 5\r\n", "he"), "GET", "BAD\r\n", get() + get()] {
            let peer = try stage.connect()
            peer.send(text)
            stage.advance()
            peer.stream.close()
        }
        stage.onServer { stage.server.close() }
        stage.advance(1)
        #expect(stage.server.connectionCount == 0 && stage.server.requestsInFlight == 0)
        #expect(stage.network.leftovers == [])
    }
}
