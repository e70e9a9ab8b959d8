import Basics
import HTTP
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// Reuse of connections.
@Suite struct KeepAliveTests {
    @Test func oneConnectionServesOneRequestAfterTheOther() throws {
        let harness = try PoolHarness()
        for path in ["/a", "/b", "/c"] { #expect(harness.outcome(.get, path) == "200 \(path)") }
        #expect(harness.backend.log == ["1.1 /a", "1.2 /b", "1.3 /c"])
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        harness.expectQuiet()
    }

    @Test func concurrentRequestsGetAConnectionEach() throws {
        let harness = try PoolHarness()
        let sent = ["/a", "/b", "/c"].map { harness.send(.get, $0) }
        #expect(harness.counts == "3 in flight, 0 idle, 3 open")
        #expect(sent.map { harness.outcome(of: $0) } == ["200 /a", "200 /b", "200 /c"])
        #expect(harness.backend.connections == 3)
        harness.advance(by: .milliseconds(1))
        #expect(harness.counts == "0 in flight, 3 idle, 3 open")
        harness.expectQuiet()
    }

    @Test func requestsQueueInOrderAtTheConnectionLimit() throws {
        var settings = PoolSettings()
        settings.maxConnections = 1
        let harness = try PoolHarness(settings)
        let sent = ["/a", "/b", "/c"].map { harness.send(.get, $0) }
        #expect(harness.counts == "3 in flight, 0 idle, 1 open")
        #expect(sent.map { harness.outcome(of: $0) } == ["200 /a", "200 /b", "200 /c"])
        #expect(harness.backend.log == ["1.1 /a", "1.2 /b", "1.3 /c"])
        harness.expectQuiet()
    }

    @Test func keepsAtMostMaxIdleConnections() throws {
        var settings = PoolSettings()
        settings.maxIdle = 2
        let harness = try PoolHarness(settings)
        for sent in (0..<5).map({ _ in harness.send() }) {
            #expect(harness.outcome(of: sent) == "200 /")
        }
        harness.advance(by: .milliseconds(1))
        #expect(harness.counts == "0 in flight, 2 idle, 2 open")
        harness.expectQuiet()
    }

    /// With the default settings.
    @Test func repeatedBurstsReuseTheirConnections() throws {
        let harness = try PoolHarness()
        harness.network.settings.backlogMax = 256
        for _ in 0..<5 {
            for sent in (0..<256).map({ _ in harness.send() }) {
                #expect(harness.outcome(of: sent) == "200 /")
            }
            harness.advance(by: .seconds(1))
            #expect(harness.counts == "0 in flight, 256 idle, 256 open")
        }
        #expect(harness.backend.connections == 256, "no client of the later bursts reconnected")
        harness.expectQuiet()
    }

    @Test func surplusConnectionsAreClosedAfterTheLoadHasFallen() throws {
        var settings = PoolSettings()
        settings.idleTimeout = .seconds(10)
        let harness = try PoolHarness(settings)
        func burst(_ size: Int) {
            let sent = (0..<size).map { _ in harness.send() }
            #expect(sent.allSatisfy { harness.outcome(of: $0) == "200 /" })
        }
        burst(100)
        for _ in 0..<9 {
            harness.advance(by: .seconds(1))
            burst(3)
        }
        #expect(harness.pool.idle >= 99, "a burst like the last one may come")
        for _ in 0..<2 {
            harness.advance(by: .seconds(1))
            burst(3)
        }
        harness.advance(by: .milliseconds(1))
        #expect(harness.counts == "0 in flight, 3 idle, 3 open")
        #expect(harness.backend.connections == 100)
        harness.expectQuiet()
    }

    @Test func closesAConnectionAfterTheIdleTimeout() throws {
        var settings = PoolSettings()
        settings.idleTimeout = .seconds(10)
        let harness = try PoolHarness(settings)
        #expect(harness.outcome() == "200 /")
        harness.advance(by: .seconds(9))
        #expect(harness.pool.idle == 1)
        harness.advance(by: .seconds(2))
        #expect(harness.pool.idle == 0)
        #expect(harness.backend.peers.map(\.hasEnded) == [true])
        #expect(harness.loop.pendingTimers == 0, "no timer ticks for an empty pool")
        harness.expectQuiet()
    }

    @Test func useRestartsTheIdleTimeout() throws {
        var settings = PoolSettings()
        settings.idleTimeout = .seconds(10)
        let harness = try PoolHarness(settings)
        for _ in 0..<5 {
            #expect(harness.outcome() == "200 /")
            harness.advance(by: .seconds(7))
        }
        #expect(harness.backend.connections == 1)
        harness.expectQuiet()
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nPOISON",
    ])
    func opensANewConnectionAfterAResponseThatEndsIt(_ response: String) throws {
        let harness = try PoolHarness { exchange in exchange.peer.send(response) }
        #expect(harness.outcome() == "200 hi")
        #expect(harness.outcome() == "200 hi")
        #expect(harness.backend.log == ["1.1 /", "2.1 /"])
        harness.expectQuiet()
    }

    @Test func unsolicitedResponseIsNeverUsedForTheNextRequest() throws {
        let harness = try PoolHarness { exchange in
            exchange.respond("right")
            if exchange.connection == 1 {
                exchange.peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong")
            }
        }
        harness.network.settings.split = .sizes([43, 1])
        #expect(harness.outcome() == "200 right")
        harness.advance(by: .milliseconds(1))
        #expect(harness.pool.idle == 0)
        #expect(harness.outcome() == "200 right")
        harness.expectQuiet()
    }

    @Test func bodyBehindAResponseToHeadIsNeverUsedForTheNextRequest() throws {
        let harness = try PoolHarness { exchange in exchange.respond("POISON") }
        #expect(harness.outcome(.head) == "200 ")
        #expect(harness.outcome() == "200 POISON", "of its own connection")
        #expect(harness.backend.log == ["1.1 /", "2.1 /"])
        harness.expectQuiet()
    }

    @Test func removesAnIdleConnectionWhenTheBackendClosesIt() throws {
        let harness = try PoolHarness()
        #expect(harness.outcome() == "200 /")
        for peer in harness.backend.peers { peer.stream.close() }
        harness.advance(by: .milliseconds(1))
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    // MARK: Age

    private func harness(maxAge: Duration) throws -> PoolHarness {
        var settings = PoolSettings()
        settings.maxAge = maxAge
        return try PoolHarness(settings)
    }

    @Test func aConnectionThatIsAlwaysUsedEndsAtItsAge() throws {
        let harness = try harness(maxAge: .seconds(100))
        for _ in 0..<79 {
            #expect(harness.outcome() == "200 /")
            harness.advance(by: .seconds(1))
        }
        #expect(harness.backend.connections == 1, "not before four fifths of the age")
        for _ in 0..<22 {
            #expect(harness.outcome() == "200 /")
            harness.advance(by: .seconds(1))
        }
        #expect(harness.backend.connections == 2)
        #expect(harness.backend.peers.map(\.hasEnded) == [true, false])
        harness.expectQuiet()
    }

    @Test func connectionsOfOneBurstDoNotEndTogether() throws {
        let harness = try harness(maxAge: .seconds(50))
        for sent in (0..<50).map({ _ in harness.send() }) {
            #expect(harness.outcome(of: sent) == "200 /")
        }
        harness.advance(by: .seconds(40) - .milliseconds(10))
        #expect(harness.backend.openCount == 50)
        var ended: [Int] = []
        for _ in 0..<10 {
            let before = harness.backend.openCount
            harness.advance(by: .seconds(1))
            ended.append(before - harness.backend.openCount)
        }
        harness.advance(by: .milliseconds(20))
        #expect(harness.backend.openCount == 0)
        #expect(ended.allSatisfy { $0 < 15 }, "\(ended)")
        harness.expectQuiet()
    }

    @Test func aCallInProgressKeepsItsConnection() throws {
        var settings = PoolSettings()
        settings.maxAge = .seconds(10)
        let harness = try PoolHarness(settings) { exchange in
            exchange.after(.seconds(15)) { exchange.respond(exchange.path) }
        }
        let sent = harness.send()
        harness.advance(by: .seconds(12))
        #expect(sent.outcome == nil && harness.counts == "1 in flight, 0 idle, 1 open")
        harness.advance(by: .seconds(4))
        #expect(sent.outcome == "200 /")
        #expect(harness.counts == "0 in flight, 0 idle, 0 open", "it ends behind the call")
        #expect(harness.loop.pendingTimers == 0)
        harness.expectQuiet()
    }
}
