import Basics
import HTTP
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// Which connections are used again.
@Suite struct KeepAliveTests {
    @Test func oneConnectionServesOneRequestAfterTheOther() throws {
        let scene = try Scene()
        for path in ["/a", "/b", "/c"] { #expect(scene.outcome(.get, path) == "200 \(path)") }
        #expect(scene.backend.log == ["1.1 /a", "1.2 /b", "1.3 /c"])
        #expect(scene.counts == "0 in flight, 1 idle, 1 open")
        scene.expectQuiet()
    }

    @Test func requestsAtOnceGetAConnectionEach() throws {
        let scene = try Scene()
        let sent = ["/a", "/b", "/c"].map { scene.send(.get, $0) }
        #expect(scene.counts == "3 in flight, 0 idle, 3 open")
        #expect(sent.map { scene.outcome(of: $0) } == ["200 /a", "200 /b", "200 /c"])
        #expect(scene.backend.connections == 3)
        scene.pass(.milliseconds(1))
        #expect(scene.counts == "0 in flight, 3 idle, 3 open")
        scene.expectQuiet()
    }

    @Test func atTheLimitRequestsWaitInOrder() throws {
        var settings = PoolSettings()
        settings.maxConnections = 1
        let scene = try Scene(settings)
        let sent = ["/a", "/b", "/c"].map { scene.send(.get, $0) }
        #expect(scene.counts == "3 in flight, 0 idle, 1 open")
        #expect(sent.map { scene.outcome(of: $0) } == ["200 /a", "200 /b", "200 /c"])
        #expect(scene.backend.log == ["1.1 /a", "1.2 /b", "1.3 /c"])
        scene.expectQuiet()
    }

    @Test func noMoreThanMaxIdleAreKept() throws {
        var settings = PoolSettings()
        settings.maxIdle = 2
        let scene = try Scene(settings)
        for sent in (0..<5).map({ _ in scene.send() }) {
            #expect(scene.outcome(of: sent) == "200 /")
        }
        scene.pass(.milliseconds(1))
        #expect(scene.counts == "0 in flight, 2 idle, 2 open")
        scene.expectQuiet()
    }

    /// With the default settings.
    @Test func repeatedBurstsReuseTheirConnections() throws {
        let scene = try Scene()
        scene.network.settings.backlogMax = 256
        for _ in 0..<5 {
            for sent in (0..<256).map({ _ in scene.send() }) {
                #expect(scene.outcome(of: sent) == "200 /")
            }
            scene.pass(.seconds(1))
            #expect(scene.counts == "0 in flight, 256 idle, 256 open")
        }
        #expect(scene.backend.connections == 256, "no client of the later bursts reconnected")
        scene.expectQuiet()
    }

    @Test func surplusConnectionsAreClosedAfterTheLoadHasFallen() throws {
        var settings = PoolSettings()
        settings.idleTimeout = .seconds(10)
        let scene = try Scene(settings)
        func burst(_ size: Int) {
            let sent = (0..<size).map { _ in scene.send() }
            #expect(sent.allSatisfy { scene.outcome(of: $0) == "200 /" })
        }
        burst(100)
        for _ in 0..<9 {
            scene.pass(.seconds(1))
            burst(3)
        }
        #expect(scene.pool.idle >= 99, "a burst like the last one may come")
        for _ in 0..<2 {
            scene.pass(.seconds(1))
            burst(3)
        }
        scene.pass(.milliseconds(1))
        #expect(scene.counts == "0 in flight, 3 idle, 3 open")
        #expect(scene.backend.connections == 100)
        scene.expectQuiet()
    }

    @Test func anIdleConnectionIsClosedAfterItsTime() throws {
        var settings = PoolSettings()
        settings.idleTimeout = .seconds(10)
        let scene = try Scene(settings)
        #expect(scene.outcome() == "200 /")
        scene.pass(.seconds(9))
        #expect(scene.pool.idle == 1)
        scene.pass(.seconds(2))
        #expect(scene.pool.idle == 0)
        #expect(scene.backend.peers.map(\.hasEnded) == [true])
        #expect(scene.loop.pendingTimers == 0, "no timer ticks for an empty pool")
        scene.expectQuiet()
    }

    @Test func useKeepsAConnectionYoung() throws {
        var settings = PoolSettings()
        settings.idleTimeout = .seconds(10)
        let scene = try Scene(settings)
        for _ in 0..<5 {
            #expect(scene.outcome() == "200 /")
            scene.pass(.seconds(7))
        }
        #expect(scene.backend.connections == 1)
        scene.expectQuiet()
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nPOISON",
    ])
    func afterSuchAnAnswerTheNextRequestGetsAFreshConnection(_ answer: String) throws {
        let scene = try Scene { asked in asked.peer.send(answer) }
        #expect(scene.outcome() == "200 hi")
        #expect(scene.outcome() == "200 hi")
        #expect(scene.backend.log == ["1.1 /", "2.1 /"])
        scene.expectQuiet()
    }

    @Test func aLateSecondAnswerIsNeverTakenForTheNextOne() throws {
        let scene = try Scene { asked in
            asked.answer("right")
            if asked.connection == 1 {
                asked.peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong")
            }
        }
        scene.network.settings.split = .sizes([43, 1])
        #expect(scene.outcome() == "200 right")
        scene.pass(.milliseconds(1))
        #expect(scene.pool.idle == 0)
        #expect(scene.outcome() == "200 right")
        scene.expectQuiet()
    }

    @Test func aBodyAfterAnAnswerToHeadIsNeverTakenForTheNextOne() throws {
        let scene = try Scene { asked in asked.answer("POISON") }
        #expect(scene.outcome(.head) == "200 ")
        #expect(scene.outcome() == "200 POISON", "of its own connection")
        #expect(scene.backend.log == ["1.1 /", "2.1 /"])
        scene.expectQuiet()
    }

    @Test func anIdleConnectionThatTheBackendClosesIsForgottenAtOnce() throws {
        let scene = try Scene()
        #expect(scene.outcome() == "200 /")
        for peer in scene.backend.peers { peer.stream.close() }
        scene.pass(.milliseconds(1))
        #expect(scene.counts == "0 in flight, 0 idle, 0 open")
        scene.expectQuiet()
    }
}
