import Basics
import HTTP
import HTTP2
import Reactor
import SimReactor
import TLS
import TestCertificates
import TestSupport
import Testing

@testable import HTTPClient

/// How a pool uses connections of HTTP/2: capacities, tests of silent ones, the choice of the
/// protocol.
@Suite struct H2PoolTests {
    private func settings(_ change: (inout PoolSettings) -> Void) -> PoolSettings {
        var settings = H2PoolHarness.settings
        change(&settings)
        return settings
    }

    // MARK: Capacity

    @Test func opensAnotherConnectionWhenAllAreFull() throws {
        let settings = settings {
            $0.http2.maxStreams = 2
            $0.http2.maxConnections = 2
        }
        let harness = try H2PoolHarness(settings) { _ in }
        let sent = (1...5).map { harness.send(.get, "/\($0)") }
        harness.advance(by: .milliseconds(10))
        #expect(harness.backend.connections.count == 2)
        #expect(harness.backend.connections.map { $0.side.streams.count } == [2, 2])
        #expect(harness.pool.usage.waiting == 1)
        harness.backend.connections[1].side.streams[0].respond(body: "ok")
        harness.backend.connections[1].flush()
        harness.advance(by: .milliseconds(10))
        #expect(sent.count { $0.outcome == "200 ok" } == 1 && harness.pool.usage.waiting == 0)
        for call in sent { call.cancel() }
        harness.expectQuiet()
    }

    @Test func theBackendMayAllowFewerCalls() throws {
        let harness = try H2PoolHarness { $0.respond("ok") }
        harness.backend.limits.streams = 3
        _ = harness.outcome()
        harness.backend.script = { _ in }
        let sent = (1...8).map { harness.send(.get, "/\($0)") }
        harness.advance(by: .milliseconds(10))
        #expect(harness.backend.connections.map { $0.side.session.streams.count } == [3, 3, 2])
        for call in sent { call.cancel() }
        harness.expectQuiet()
    }

    /// Sends frames for each request of a connection that no session serves, in their order.
    private func scriptFrames(
        of harness: H2PoolHarness, _ write: @escaping (inout H2Frames, _ stream: UInt32) -> Void
    ) {
        harness.backend.onAccept = { connection in
            connection.isFrozen = true
            let record = connection.peer.onReceived
            var answered = 0
            connection.peer.onReceived = { [unowned connection] peer in
                record(peer)
                while answered < connection.count(.headers) {
                    var frames = H2Frames()
                    write(&frames, UInt32(2 * answered + 1))
                    answered += 1
                    connection.send(frames)
                }
            }
        }
    }

    /// RFC 9113 6.5.2: the connection is of no use behind its calls. The next call gets another one.
    @Test func connectionThatAllowsNoStreamsEndsBehindItsCalls() throws {
        let harness = try H2PoolHarness()
        scriptFrames(of: harness) { frames, stream in
            frames.settings([(3, 0)])
            frames.request([(":status", "200")], on: stream)
        }
        for number in 1...5 {
            #expect(harness.outcome() == "200 ")
            harness.advance(by: .milliseconds(10))
            #expect(harness.counts == "0 in flight, 0 idle, 0 open")
            #expect(harness.backend.connections.count == number && harness.backend.openCount == 0)
        }
        harness.expectQuiet()
    }

    /// A server may allow none for a while.
    @Test func connectionThatAllowsStreamsAgainIsKept() throws {
        let harness = try H2PoolHarness()
        scriptFrames(of: harness) { frames, stream in
            guard stream == 1 else { return frames.request([(":status", "204")], on: stream) }
            frames.settings([(3, 0)])
        }
        let slow = harness.send()
        harness.advance(by: .milliseconds(10))
        #expect(harness.pool.leased == 1 && harness.pool.idle == 0)
        var frames = H2Frames()
        frames.settings([(3, 1)])
        frames.request([(":status", "200")], on: 1)
        harness.backend.connections[0].send(frames)
        harness.advance(by: .milliseconds(10))
        #expect(slow.outcome == "200 " && harness.counts == "0 in flight, 1 idle, 1 open")
        #expect(harness.outcome() == "204 " && harness.backend.connections.count == 1)
        harness.expectQuiet()
    }

    /// A call that waits is not sent on a connection whose limit has fallen.
    @Test func limitHoldsForTheNextCallAtOnce() throws {
        let harness = try H2PoolHarness(
            settings {
                $0.http2.maxStreams = 1
                $0.http2.maxConnections = 1
            })
        scriptFrames(of: harness) { frames, stream in
            frames.settings([(3, 0)])
            frames.request([(":status", "200")], on: stream)
        }
        let sent = (1...3).map { harness.send(.get, "/\($0)") }
        harness.advance(by: .milliseconds(50))
        #expect(sent.allSatisfy { $0.outcome == "200 " })
        #expect(harness.backend.connections.count == 3 && harness.backend.openCount == 0)
        harness.expectQuiet()
    }

    /// While it is released, too, although its connections do not own it.
    @Test func releasedPoolClosesItsConnections() throws {
        let harness = try H2PoolHarness()
        do {
            let other = Pool(
                origin: harness.pool.origin, settings: H2PoolHarness.settings,
                loop: harness.testbed.loop)
            let sent = SentRequest(other.send(ClientRequest(.get, "/a")))
            #expect(harness.outcome(of: sent) == "200 /a" && harness.backend.openCount == 1)
        }
        harness.advance(by: .milliseconds(10))
        #expect(harness.backend.connections[0].count(.goAway) == 1)
        #expect(harness.backend.openCount == 0)
        harness.expectQuiet()
    }

    /// Its streams do not use it: their calls have ended, and they wait to be reset.
    @Test func releasedPoolDropsStreamsOfCancelledCalls() throws {
        var settings = H2PoolHarness.settings
        settings.http2.maxStreams = 1000
        let harness = try H2PoolHarness(settings) { exchange in
            if exchange.path == "/warm" { exchange.respond("ok") }
        }
        harness.backend.limits.streams = 1000
        do {
            let other = Pool(
                origin: harness.pool.origin, settings: settings, loop: harness.testbed.loop)
            let warm = SentRequest(other.send(ClientRequest(.get, "/warm")))
            #expect(harness.outcome(of: warm) == "200 ok")
            let sent = (1...150).map { _ in SentRequest(other.send(ClientRequest(.get, "/a"))) }
            harness.advance(by: .milliseconds(20))
            for call in sent { call.cancel() }
            harness.advance(by: .milliseconds(10))
            #expect(harness.backend.connections[0].count(.reset) == 100)
        }
        harness.advance(by: .milliseconds(10))
        #expect(harness.backend.openCount == 0)
        harness.expectQuiet()
    }

    // MARK: Silence

    private func frozenHarness(
        after: Duration = .seconds(10), timeout: Duration = .seconds(2)
    ) throws -> H2PoolHarness {
        let harness = try H2PoolHarness(
            settings {
                $0.http2.pingAfter = after
                $0.http2.pingTimeout = timeout
            })
        _ = harness.outcome()
        harness.backend.connections[0].isFrozen = true
        return harness
    }

    /// A call whose time is over tests the connection, which gets no other call meanwhile.
    @Test func deadConnectionIsFoundByATimeout() throws {
        let harness = try frozenHarness()
        let lost = harness.send(within: .seconds(1))
        harness.advance(by: .milliseconds(1010))
        #expect(lost.outcome == "TimedOut")
        #expect(harness.backend.connections[0].count(.ping) == 1)
        // Another one serves this call.
        #expect(harness.outcome(.get, "/a") == "200 /a")
        #expect(harness.backend.connections.count == 2)
        harness.advance(by: .seconds(2))
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        harness.expectQuiet()
    }

    /// Calls that wait fail when the PING is not acknowledged, or are sent again.
    @Test func deadConnectionIsFoundBySilence() throws {
        let harness = try frozenHarness()
        harness.advance(by: .seconds(30))
        #expect(harness.backend.connections[0].count(.ping) == 0, "no call waits")
        let get = harness.send(.get, "/get")
        let post = harness.send(.post, "/post")
        harness.advance(by: .milliseconds(9990))
        #expect(harness.backend.connections[0].count(.ping) == 0)
        harness.advance(by: .milliseconds(20))
        #expect(harness.backend.connections[0].count(.ping) == 1)
        harness.advance(by: .milliseconds(2010))
        #expect(get.outcome == "200 /get" && post.outcome == "connectionTerminated")
        #expect(harness.backend.connections.count == 2)
        harness.expectQuiet()
    }

    @Test func acknowledgedPINGKeepsTheConnection() throws {
        let harness = try H2PoolHarness { if $0.path == "/a" { $0.respond("ok") } }
        let slow = harness.send(within: .seconds(60))
        harness.advance(by: .seconds(35))
        let connection = harness.backend.connections[0]
        #expect(connection.count(.ping) == 3 && slow.outcome == nil)
        #expect(harness.outcome(.get, "/a") == "200 ok")
        connection.side.streams[0].respond(body: "late")
        connection.flush()
        harness.advance(by: .milliseconds(10))
        #expect(slow.outcome == "200 late" && harness.backend.connections.count == 1)
        harness.expectQuiet()
    }

    /// A busy connection needs no test.
    @Test func responsesPostponeTheTest() throws {
        let harness = try H2PoolHarness { if $0.path == "/a" { $0.respond("ok") } }
        let slow = harness.send(within: .seconds(60))
        for _ in 0..<10 {
            harness.advance(by: .seconds(4))
            #expect(harness.outcome(.get, "/a") == "200 ok")
        }
        #expect(harness.backend.connections[0].count(.ping) == 0)
        slow.cancel()
        harness.expectQuiet()
    }

    /// A cancelled call says nothing about its connection.
    @Test func cancellationIsNoReasonForATest() throws {
        let harness = try frozenHarness()
        let sent = harness.send()
        harness.advance(by: .seconds(1))
        sent.cancel()
        harness.advance(by: .seconds(1))
        #expect(harness.backend.connections[0].count(.ping) == 0)
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        harness.expectQuiet()
    }

    // MARK: TLS

    /// A pool with simulated TLS.
    private func secureHarness(
        _ choice: ProtocolChoice, _ offered: [String]
    ) throws -> H2PoolHarness {
        let harness = try H2PoolHarness(
            settings {
                $0.protocolChoice = choice
                $0.security = try? Certificates.trusting().security.simulated
            })
        var identity = SimIdentity(names: ["127.0.0.1"])
        identity.applicationProtocols = offered
        harness.network.identities[PoolHarness.address] = identity
        return harness
    }

    @Test(arguments: [ProtocolChoice.auto, .http2])
    func handshakeSelectsHTTP2(_ choice: ProtocolChoice) throws {
        let harness = try secureHarness(choice, ["h2", "http/1.1"])
        #expect(harness.outcome(.get, "/a") == "200 /a")
        let sent = (1...5).map { harness.send(.get, "/\($0)") }
        harness.advance(by: .milliseconds(20))
        #expect(sent.allSatisfy { $0.outcome != nil } && harness.backend.connections.count == 1)
        #expect(
            harness.backend.connections[0].side.streams.first?.request?.fields[.host] == "a")
        harness.expectQuiet()
    }

    /// Without HTTP/2 the backend gets HTTP/1.1.
    @Test(arguments: [ProtocolChoice.auto, .http1])
    func handshakeSelectsHTTP1(_ choice: ProtocolChoice) throws {
        let harness = try secureHarness(
            choice, choice == .auto ? ["http/1.1"] : ["h2", "http/1.1"])
        var text = ""
        harness.backend.onAccept = { connection in
            connection.isFrozen = true
            connection.peer.onReceived = { peer in
                text += peer.text
                peer.clearReceived()
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        #expect(harness.outcome(.get, "/a") == "200 ok")
        #expect(text.hasPrefix("GET /a HTTP/1.1\r\n"))
        harness.expectQuiet()
    }

    @Test func handshakeMustSelectHTTP2() throws {
        let harness = try secureHarness(.http2, ["http/1.1"])
        #expect(harness.outcome() == "protocolError")
        harness.expectQuiet()
    }

    /// A cold start with `auto` opens a connection for each call, and keeps one.
    @Test func surplusAttemptsAreCancelled() throws {
        let harness = try secureHarness(.auto, ["h2"])
        let sent = (1...10).map { harness.send(.get, "/\($0)") }
        #expect(harness.pool.connecting == 10)
        harness.advance(by: .milliseconds(50))
        #expect(sent.map(\.outcome) == (1...10).map { "200 /\($0)" })
        #expect(harness.pool.connections <= 2)
        harness.expectQuiet()
    }

    /// A backend that has HTTP/2 no more gets a connection for each call again.
    @Test func handshakeMaySelectHTTP1Later() throws {
        let harness = try secureHarness(.auto, ["h2", "http/1.1"])
        #expect(harness.outcome(.get, "/a") == "200 /a")
        harness.backend.connections[0].peer.stream.close()
        harness.advance(by: .milliseconds(10))
        harness.network.identities[PoolHarness.address]?.applicationProtocols = ["http/1.1"]
        harness.backend.onAccept = { $0.isFrozen = true }
        let sent = (1...10).map { harness.send(.get, "/\($0)") }
        harness.advance(by: .milliseconds(50))
        let connections = harness.backend.connections.dropFirst()
        #expect(connections.count == 10)
        for connection in connections {
            connection.peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        harness.advance(by: .milliseconds(10))
        #expect(sent.allSatisfy { $0.outcome == "200 ok" })
        harness.expectQuiet()
    }

    /// RFC 9113 7: remembered for `dnsTTL`.
    @Test func requiredHTTP1IsUsedForAWhile() throws {
        let harness = try secureHarness(.auto, ["h2", "http/1.1"])
        var isRequired = true
        harness.backend.script = { isRequired ? $0.reset(.http11Required) : $0.respond("h2") }
        harness.backend.onAccept = { connection in
            guard [2, 3].contains(connection.number) else { return }
            connection.isFrozen = true
            connection.peer.onReceived = { peer in
                peer.clearReceived()
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nh1")
            }
        }
        #expect(harness.outcome(.post) == "200 h1")
        isRequired = false
        #expect(harness.outcome() == "200 h1")
        harness.advance(by: .seconds(31))
        #expect(harness.outcome() == "200 h2")
        harness.expectQuiet()
    }

    /// OpenSSL on both sides.
    @Test func opensslSelectsHTTP2() throws {
        let harness = try H2PoolHarness(
            settings {
                $0.protocolChoice = .auto
                $0.security = try? Certificates.trusting().security
            })
        var server = TLSServerSettings(certificates: [try Certificates.identity("server")])
        server.protocols = ["h2", "http/1.1"]
        let context = try TLSServerContext(server)
        harness.backend.secure = { [loop = harness.testbed.peerLoop] stream in
            context.accept(stream, on: loop)
        }
        #expect(harness.outcome(.get, "/a") == "200 /a")
        let sent = (1...5).map { harness.send(.get, "/\($0)") }
        harness.advance(by: .milliseconds(20))
        #expect(sent.allSatisfy { $0.outcome != nil } && harness.backend.connections.count == 1)
        harness.expectQuiet()
    }

    /// At its age, a connection drains: its calls get their responses, and new calls another connection.
    @Test func aConnectionDrainsAtItsAge() throws {
        var late: H2BackendExchange?
        let harness = try H2PoolHarness(settings { $0.maxAge = .seconds(10) }) { exchange in
            if exchange.path == "/late" { late = exchange } else { exchange.respond(exchange.path) }
        }
        let sent = harness.send(.get, "/late")
        for _ in 0..<8 {
            #expect(harness.outcome(.get, "/a") == "200 /a")
            harness.advance(by: .milliseconds(990))
        }
        #expect(harness.backend.connections.count == 1)
        for _ in 0..<3 {
            #expect(harness.outcome(.get, "/b") == "200 /b")
            harness.advance(by: .seconds(1))
        }
        #expect(harness.backend.connections.count == 2)
        #expect(sent.outcome == nil && !harness.backend.connections[0].peer.hasEnded)
        let exchange = try #require(late)
        exchange.respond("late")
        exchange.connection.flush()
        harness.advance(by: .milliseconds(10))
        #expect(sent.outcome == "200 late" && harness.backend.connections[0].peer.hasEnded)
        harness.expectQuiet()
    }
}
