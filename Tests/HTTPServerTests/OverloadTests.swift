import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPServer

/// Clients that use many resources must not keep others out.
@Suite struct OverloadTests {
    // MARK: Permits

    @Test func slowBodiesTakeNoPermits() throws {
        var settings = ServerSettings()
        settings.requestsInFlight = 2
        let harness = try ServerHarness(settings, service: ServerHarness.echoBody)
        let slow = try (0..<10).map { _ in
            let peer = try harness.connect()
            peer.send(post("Content-Length: 5\r\n", "he"))
            return peer
        }
        harness.advance()
        #expect(harness.requests.count == 10 && harness.server.requestsInFlight == 0)
        #expect(try harness.responses(to: get()) == "200")
        for peer in slow { peer.send("llo") }
        harness.advance()
        #expect(slow.map { summary(of: $0) } == Array(repeating: "200 hello", count: 10))
        #expect(harness.server.requestsInFlight == 0)
    }

    @Test func requestTakesItsPermitWithTheLastBodyByte() throws {
        var settings = ServerSettings()
        settings.requestsInFlight = 1
        let harness = try ServerHarness(settings) { harness, request, exchange in
            request.body.collect(upTo: 100, on: exchange.local)
                .then { _ in ServerHarness.deferred(harness, request, exchange) }
        }
        let first = try harness.connect()
        let second = try harness.connect()
        first.send(post("Content-Length: 5\r\n", "he"))
        second.send(post("Content-Length: 5\r\n", "he"))
        harness.advance()
        first.send("llo")
        harness.advance()
        #expect(harness.server.requestsInFlight == 1)
        second.send("llo" + get("/next"))
        harness.advance()
        #expect(summary(of: second) == "503 | 503")
        #expect(harness.log.map { $0.prefix(8) } == ["POST / 5", "GET /nex"])
        harness.respond("one")
        harness.advance()
        #expect(summary(of: first) == "200 one")
        #expect(harness.server.requestsInFlight == 0)
    }

    @Test func returnsThePermitHoweverTheRequestEnds() throws {
        let harness = try ServerHarness(service: ServerHarness.echoBody)
        for text in [
            get(), post("Content-Length: 5\r\n", "hello"), post("Content-Length: 101\r\n"),
            post("Transfer-Encoding: chunked\r\n", "zz\r\n"), post("Content-Length: 5\r\n", "he"),
        ] {
            let peer = try harness.connect()
            peer.send(text)
            harness.advance()
            peer.stream.close()
            harness.advance(100)
            #expect(harness.server.requestsInFlight == 0)
        }
        #expect(harness.server.bufferedBytes == 0)
    }

    // MARK: Connections

    private func crowded(_ limit: Int) throws -> ServerHarness {
        var settings = ServerSettings()
        settings.connections = limit
        return try ServerHarness(settings, service: ServerHarness.echo)
    }

    @Test func newConnectionEvictsTheLongestIdleOne() throws {
        let harness = try crowded(10)
        let peers = try (0..<9).map { _ in
            let peer = try harness.connect()
            peer.send(get())
            harness.advance(100)
            return peer
        }
        peers[0].send(get())
        harness.advance(300)
        #expect(harness.server.connectionCount == 9)
        #expect(try harness.responses(to: get()) == "200 /")
        #expect(peers.map(\.hasEnded) == [false, true] + Array(repeating: false, count: 7))
    }

    @Test func newConnectionEvictsAnIdleOneFromNinetyPercentOfTheLimitOn() throws {
        let harness = try crowded(100)
        for count in [89, 90] {
            while harness.server.connectionCount < count { try harness.connect().send(get()) }
            harness.advance(300)
            #expect(harness.server.losses[.idle] == 0)
        }
        try harness.connect().send(get())
        harness.advance()
        #expect(harness.server.losses[.idle] == 1 && harness.server.connectionCount == 90)
    }

    @Test(arguments: [(245, 0), (255, 1)])
    func newConnectionEvictsNoneThatIsIdleFor250Milliseconds(_ idle: Int, _ evicted: Int) throws {
        let harness = try crowded(10)
        harness.network.settings.latency = .zero ... .zero
        for _ in 0..<9 { try harness.connect().send(get()) }
        harness.advance(idle)
        try harness.connect().send(get())
        harness.advance(1)
        #expect(harness.server.losses[.idle] == evicted)
    }

    @Test func silentConnectionsDoNotBlockOthers() throws {
        let harness = try crowded(10)
        for _ in 0..<40 { _ = try harness.connect() }
        // Those beyond the limit received a 503 and are closed two seconds later.
        harness.advance(2_100)
        #expect(harness.server.connectionCount <= 10)
        for _ in 0..<3 { #expect(try harness.responses(to: get()) == "200 /") }
    }

    /// Nor do those of a listener that awaits the first bytes to find the protocol.
    @Test func silentConnectionsOfUnknownProtocolDoNotBlockOthers() throws {
        var settings = ServerSettings()
        settings.connections = 10
        let harness = try ServerHarness.http2(settings)
        let peers = try (0..<10).map { _ in try harness.connect() }
        let early = try harness.connect()
        harness.advance()
        #expect(summary(of: early) == "503 close!", "the others may still send their requests")
        harness.advance(2_100)
        for _ in 0..<3 { #expect(try harness.responses(to: get()) == "200 /") }
        let client = try H2Client(harness)
        let request = try client.send()
        harness.advance()
        #expect(request.summary == "200 /")
        // From the third request on, fewer than nine connections are open.
        #expect(harness.server.losses[.idle] == 2 && peers.count(where: \.hasEnded) == 2)
    }

    /// One that has sent a part of the preface waits for the rest, as others do in the middle of a head.
    @Test func connectionWithAPartOfThePrefaceIsNotIdle() throws {
        var settings = ServerSettings()
        settings.connections = 1
        let harness = try ServerHarness.http2(settings)
        let peer = try harness.connect()
        peer.send("PRI")
        harness.advance(300)
        #expect(try harness.responses(to: get()) == "503 close!")
        peer.send("OR / HTTP/1.1\r\nHost: a\r\n\r\n")
        harness.advance()
        #expect(summary(of: peer) == "200 /")
    }

    /// An idle HTTP/2 connection leaves its place at once, not when its client has closed it.
    @Test func burstOfConnectionsEvictsIdleConnectionsOfHTTP2() throws {
        var settings = ServerSettings()
        settings.connections = 10
        let harness = try ServerHarness.http2(settings)
        let idle = try (0..<9).map { _ in
            let client = try H2Client(harness)
            _ = try client.send()
            harness.advance(300)
            return client
        }
        let peers = try (0..<6).map { _ in try harness.connect() }
        for peer in peers { peer.send(get()) }
        harness.advance()
        #expect(peers.map { summary(of: $0) } == Array(repeating: "200 /", count: 6))
        #expect(idle.map(\.side.log) == (0..<9).map { $0 < 6 ? ["goaway 1 0"] : [] })
        #expect(idle.map(\.peer.hasEnded) == (0..<9).map { $0 < 6 })
        #expect(harness.server.losses[.idle] == 6)
    }

    /// The first client has connected and sends its request a moment later.
    @Test func burstOfConnectionsDoesNotEvictARecentOne() throws {
        let harness = try crowded(10)
        let first = try harness.connect()
        for _ in 0..<40 { _ = try harness.connect() }
        harness.advance(100)
        first.send(get())
        harness.advance()
        #expect(summary(of: first) == "200 /")
    }

    /// A refused client keeps its connection open for as long as the server lets it linger.
    @Test func refusedConnectionCausesNoFurtherRefusal() throws {
        let harness = try crowded(3)
        let peers = try (0..<3).map { _ in
            let peer = try harness.connect()
            peer.send(get())
            harness.advance()
            return peer
        }
        let refused = try harness.connect()
        harness.advance()
        #expect(summary(of: refused) == "503 close!")
        peers[0].stream.close()
        harness.advance(400)
        // There is room: no idle connection is closed.
        let next = try harness.connect()
        next.send(get())
        harness.advance()
        #expect(summary(of: next) == "200 /")
        #expect(harness.server.losses[.idle] == 0 && harness.server.losses[.connections] == 1)
        // There is none: the longest idle one is closed, and the new one served.
        #expect(try harness.responses(to: get()) == "200 /")
        #expect(peers[1].hasEnded && !peers[2].hasEnded)
        #expect(harness.server.losses[.idle] == 1 && harness.server.losses[.connections] == 1)
    }

    /// `refusedConnections` bounds the refused connections that linger.
    @Test func manyRefusedConnectionsAreClosedWithoutAResponse() throws {
        var settings = ServerSettings()
        settings.connections = 2
        settings.refusedConnections = 3
        let harness = try ServerHarness(settings, service: ServerHarness.deferred)
        for _ in 0..<2 { try harness.connect().send(get()) }
        harness.advance()
        let refused = try (0..<6).map { _ in try harness.connect() }
        harness.advance()
        #expect(refused.count { summary(of: $0) == "503 close!" } == 3)
        #expect(harness.server.connectionCount == 5)
    }

    /// A server with ten connections, of which the tenth closes a silent one.
    private func closesSilent() throws -> ServerHarness {
        var settings = ServerSettings()
        settings.connections = 10
        settings.closesSilent = true
        return try ServerHarness(settings, service: ServerHarness.echo)
    }

    /// Connections that each send this; the first is the longest silent one.
    private func connect(_ count: Int, _ text: String, to harness: ServerHarness) throws
        -> [ScriptedPeer]
    {
        try (0..<count).map { _ in
            let peer = try harness.connect()
            peer.send(text)
            harness.advance(1)
            return peer
        }
    }

    @Test(arguments: [
        "", "GET / HTTP/1.1\r\nHost: lo",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab",
    ])
    func incompleteRequestsCloseNoConnectionOfAProbe(_ part: String) throws {
        let harness = try closesSilent()
        let kept = try harness.connect()
        kept.send(get())
        harness.advance(300)
        let silent = try connect(50, part, to: harness)
        #expect(silent.map(\.hasEnded) == (0..<50).map { $0 < 42 })
        #expect(try harness.responses(to: get()) == "200 /")
        kept.send(get())
        harness.advance()
        #expect(!kept.hasEnded && summary(of: kept) == "200 / | 200 /")
    }

    @Test func theLongestSilentConnectionIsClosedFirst() throws {
        let harness = try closesSilent()
        let peers = try connect(9, "GET / HTTP/1.1\r\n", to: harness)
        peers[0].send("A: b\r\n")
        peers[2].send("A: b\r\n")
        harness.advance(1)
        for (count, closed) in [(1, [1]), (2, [1, 3]), (3, [1, 3, 4])] {
            _ = try connect(1, "GET / HTTP/1.1\r\n", to: harness)
            #expect(peers.indices.filter { peers[$0].hasEnded } == closed, "\(count)")
        }
    }

    @Test func idleConnectionsAreClosedToo() throws {
        let harness = try closesSilent()
        let idle = try connect(9, get(), to: harness)
        #expect(try harness.responses(to: get()) == "200 /")
        #expect(idle.map(\.hasEnded) == (0..<9).map { $0 == 0 })
    }

    @Test func aClientThatReadsNoResponseIsSilent() throws {
        let harness = try closesSilent()
        harness.service = { _, _, exchange in
            exchange.local.value(
                Response(status: .ok, body: Bytes([UInt8](repeating: 1, count: 1 << 20))))
        }
        let unread = try (0..<9).map { _ in
            let peer = try harness.connect()
            peer.stream.pauseReading()
            peer.send(get())
            harness.advance(1)
            return peer
        }
        harness.service = ServerHarness.echo
        #expect(try harness.responses(to: get()) == "200 /")
        _ = unread
    }

    @Test func aRequestAtWorkIsNotSilent() throws {
        var settings = ServerSettings()
        settings.connections = 10
        settings.closesSilent = true
        let harness = try ServerHarness(settings, service: ServerHarness.deferred)
        let busy = try connect(10, get(), to: harness)
        #expect(try harness.responses(to: get()) == "503 close!")
        #expect(busy.map(\.hasEnded) == Array(repeating: false, count: 10))
    }

    /// A client beyond its own limit is rejected, and evicts no connection of others.
    @Test func clientBeyondItsLimitEvictsNoConnectionOfOthers() throws {
        var settings = ServerSettings()
        settings.connections = 4
        settings.connectionsPerClient = 3
        let harness = try ServerHarness(settings, service: ServerHarness.echo)
        let idle = try (0..<3).map { _ in
            let peer = try harness.connect()
            peer.send(get())
            harness.advance(300)
            return peer
        }
        for _ in 0..<3 { _ = try harness.connect() }
        #expect(idle.map(\.hasEnded) == [false, false, false])
    }

    @Test func connectionsAtWorkAreNotClosed() throws {
        var settings = ServerSettings()
        settings.connections = 4
        let harness = try ServerHarness(settings, service: ServerHarness.deferred)
        let busy = try (0..<4).map { _ in
            let peer = try harness.connect()
            peer.send(get())
            harness.advance()
            return peer
        }
        #expect(try harness.responses(to: get()) == "503 close!")
        for _ in busy { harness.respond() }
        harness.advance()
        #expect(busy.map { summary(of: $0) } == Array(repeating: "200 ok", count: 4))
    }

    @Test func limitsTheConnectionsOfAClient() throws {
        var settings = ServerSettings()
        settings.connectionsPerClient = 2
        let harness = try ServerHarness(settings, service: ServerHarness.deferred)
        let peers = try (0..<2).map { _ in try harness.connect() }
        #expect(try harness.responses(to: get()) == "503 close!")
        peers[0].stream.close()
        harness.advance()
        let next = try harness.connect()
        next.send(get())
        harness.advance()
        harness.respond()
        harness.advance()
        #expect(summary(of: next) == "200 ok")
    }

    /// A client at its limit keeps its refused connections open, and closes one that is served.
    @Test func refusedConnectionsDoNotCountForTheLimitOfTheirClient() throws {
        var settings = ServerSettings()
        settings.connectionsPerClient = 2
        let harness = try ServerHarness(settings)
        let peers = try (0..<2).map { _ in try harness.connect() }
        let refused = try (0..<3).map { _ in try harness.connect() }
        harness.advance()
        #expect(refused.allSatisfy { summary(of: $0) == "503 close!" })
        peers[0].stream.close()
        harness.advance()
        #expect(try harness.responses(to: get()) == "200 /")
    }

    /// A connection that the limit of the process refuses is none of its client.
    @Test func connectionThatTheProcessRefusesDoesNotCountForItsClient() throws {
        var settings = ServerSettings()
        settings.connections = 1
        settings.connectionsPerClient = 2
        let harness = try ServerHarness(settings, service: ServerHarness.deferred)
        let first = try harness.connect()
        first.send(get())
        harness.advance()
        for _ in 0..<3 { _ = try harness.connect() }
        harness.advance()
        harness.respond()
        harness.advance(300)
        let next = try harness.connect()
        next.send(get())
        harness.advance()
        harness.respond()
        harness.advance()
        #expect(summary(of: next) == "200 ok" && first.hasEnded)
        #expect(harness.server.losses[.connectionsPerClient] == 0)
    }

    @Test func closesConnectionsFarAboveTheLimitWithoutAResponse() throws {
        var settings = ServerSettings()
        settings.connectionsPerClient = 2
        let harness = try ServerHarness(settings)
        let peers = try (0..<20).map { _ in try harness.connect() }
        harness.advance()
        #expect(harness.server.connectionCount == 6)
        #expect(peers.count { summary(of: $0) == "503 close!" } == 4)
        for peer in peers { peer.stream.close() }
        harness.advance()
        #expect(try harness.responses(to: get()) == "200 /")
    }

    // MARK: Memory

    /// 20 responses of 10,000 bytes exceed the budget; the first clients read nothing.
    @Test func closesClientsThatDoNotReadWhenMemoryIsShort() throws {
        var settings = ServerSettings()
        settings.bufferedBytes = 100_000
        let harness = try ServerHarness(settings) { _, _, exchange in
            let body = Bytes([UInt8](repeating: 97, count: 10_000))
            let hasRoom = exchange.reserve(10_000)
            return exchange.local.value(
                hasRoom ? Response(status: .ok, body: body) : Response(status: .serviceUnavailable))
        }
        harness.network.settings.windowBytes = 1000
        var unread: [ScriptedPeer] = []
        for _ in 0..<20 {
            let peer = try harness.connect()
            peer.stream.pauseReading()
            peer.send(get())
            harness.advance(10)
            unread.append(peer)
        }
        #expect(harness.server.bufferedBytes <= 100_000)
        harness.advance(2000)
        for _ in 0..<5 {
            let honest = try harness.connect()
            honest.send(get())
            harness.advance(50)
            #expect(honest.text.hasPrefix("HTTP/1.1 200"))
            honest.stream.close()
        }
        // The newest of them may still be there, since only as many as necessary are closed.
        #expect((1...8).contains(harness.server.connectionCount))
        for peer in unread { peer.stream.close() }
        harness.advance(100)
        #expect(harness.server.bufferedBytes == 0)
    }

    @Test func keepsAClientThatReadsWhenMemoryIsShort() throws {
        var settings = ServerSettings()
        settings.bufferedBytes = 400_000
        let harness = try ServerHarness(settings) { _, request, exchange in
            let count = request.head.target.text == Bytes("/big") ? 290_000 : 10_000
            let body = Bytes([UInt8](repeating: 97, count: count))
            let hasRoom = exchange.reserve(count)
            return exchange.local.value(
                hasRoom ? Response(status: .ok, body: body) : Response(status: .serviceUnavailable))
        }
        harness.network.settings.windowBytes = 4000
        let reader = try harness.connect()
        reader.stream.pauseReading()
        reader.send(get("/big"))
        harness.advance()
        let silent = try (0..<3).map { _ in
            let peer = try harness.connect()
            peer.stream.pauseReading()
            peer.send(get())
            return peer
        }
        for _ in 0..<20 {
            reader.stream.resumeReading()
            harness.advance(0)
            reader.stream.pauseReading()
            harness.advance(100)
        }
        let honest = try (0..<8).map { _ in
            let peer = try harness.connect()
            peer.stream.pauseReading()
            peer.send(get())
            harness.advance()
            return peer
        }
        reader.stream.resumeReading()
        for peer in honest { peer.stream.resumeReading() }
        harness.advance(500)
        #expect(summary(of: reader).hasPrefix("200"))
        #expect(honest.allSatisfy { $0.text.hasPrefix("HTTP/1.1 200") })
        for peer in silent { peer.stream.resumeReading() }
        harness.advance(500)
        #expect(silent.allSatisfy { $0.received.count < 10_000 })
    }

    @Test func countsReadAheadBytesInFull() throws {
        let harness = try ServerHarness(service: ServerHarness.deferred)
        let peer = try harness.connect()
        peer.send(get() + get("/" + String(repeating: "a", count: 6000)) + get())
        harness.advance()
        harness.respond()
        harness.advance()
        // The running second request counts its own bytes; the array with the third one still
        // contains them.
        #expect(harness.server.bufferedBytes > 12_000)
        peer.stream.close()
        harness.advance(100)
        #expect(harness.server.bufferedBytes == 0)
    }

    // MARK: Fairness

    /// All requests arrive at once. Other connections are served before the last of them, at the
    /// same instant.
    @Test func servesOtherConnectionsBetweenPipelinedRequests() throws {
        let harness = try ServerHarness()
        harness.network.settings.latency = .zero ... .zero
        let greedy = try harness.connect()
        let other = try harness.connect()
        greedy.send((0..<400).map { get("/\($0)") }.joined())
        other.send(get("/other"))
        harness.advance()
        let order = harness.requests.map { $0.request.head.target.description }
        let position = try #require(order.firstIndex(of: "/other"))
        #expect(order.count == 401 && position <= 32)
        #expect(order.filter { $0 != "/other" } == (0..<400).map { "/\($0)" })
        #expect(summary(of: greedy).hasPrefix("200 /0 | 200 /1 |"))
        #expect(summary(of: greedy).hasSuffix("200 /399"))
    }

    @Test func clientThatHalfClosesGetsAllPipelinedResponses() throws {
        let harness = try ServerHarness()
        let peer = try harness.connect()
        peer.send((0..<100).map { get("/\($0)") }.joined())
        peer.stream.finishWriting()
        harness.advance()
        #expect(summary(of: peer) == (0..<100).map { "200 /\($0)" }.joined(separator: " | ") + "!")
    }

    @Test func drainEndsAPipeliningConnectionAfterItsNextResponse() throws {
        let harness = try ServerHarness()
        harness.network.settings.latency = .zero ... .zero
        let peer = try harness.connect()
        peer.send((0..<100).map { get("/\($0)") }.joined())
        harness.network.run(until: { harness.requests.count == 32 })
        _ = harness.server.drain()
        harness.advance(2100)
        #expect(summary(of: peer).hasSuffix("200 close /32!"))
        #expect(harness.server.connectionCount == 0)
    }

    @Test func emptyLinesBehindAPipelineDoNotKeepADrainedConnectionOpen() throws {
        let harness = try ServerHarness()
        harness.network.settings.latency = .zero ... .zero
        let peer = try harness.connect()
        peer.send((0..<32).map { get("/\($0)") }.joined() + "\r\n")
        harness.network.run(until: { harness.requests.count == 32 })
        _ = harness.server.drain()
        harness.advance(300)
        #expect(harness.server.connectionCount == 0)
    }
}
