import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import Testing

@testable import HTTPServer

/// Responses whose body is delivered piece by piece: the exchange ends with the body's last byte.
@Suite struct StreamedResponseTests {
    /// Sends a request to a server that streams a scripted body.
    private func download(
        _ framing: BodyFraming, status: Status = .ok, request: String = get()
    ) throws -> (body: ScriptedBody, harness: ServerHarness, peer: ScriptedPeer) {
        let body = ScriptedBody(framing)
        let harness = try ServerHarness { _, _, exchange in
            exchange.local.value(Response(status: status, body: .stream(body)))
        }
        let peer = try harness.connect()
        peer.send(request)
        harness.advance()
        return (body, harness, peer)
    }

    /// The bytes behind the head.
    private func body(of peer: ScriptedPeer) -> String {
        peer.text.firstRange(of: "\r\n\r\n").map { String(peer.text[$0.upperBound...]) } ?? ""
    }

    @Test func sendsTheHeadBeforeTheBody() throws {
        let (body, harness, peer) = try download(.length(10))
        #expect(peer.text.contains("Content-Length: 10\r\n") && self.body(of: peer) == "")
        harness.onServer { body.deliver("hello") }
        harness.advance()
        #expect(self.body(of: peer) == "hello")
        #expect(harness.server.requestsInFlight == 0 && harness.server.streams == 1)
        #expect(harness.log == [])
        harness.onServer {
            body.deliver("world")
            body.end()
        }
        harness.advance()
        #expect(summary(of: peer) == "200 helloworld")
        #expect(harness.server.streams == 0 && harness.log == ["GET / 200 10"])
    }

    @Test func servesTheNextRequestAfterTheBody() throws {
        let body = ScriptedBody(.length(5))
        let harness = try ServerHarness { harness, request, exchange in
            guard request.head.target.text == Bytes("/stream") else {
                return ServerHarness.echo(harness, request, exchange)
            }
            return exchange.local.value(Response(status: .ok, body: .stream(body)))
        }
        let peer = try harness.connect()
        peer.send(get("/stream") + get("/next"))
        harness.advance()
        #expect(harness.requests.count == 1)
        harness.onServer {
            body.deliver("hello")
            body.end()
        }
        harness.advance()
        #expect(summary(of: peer) == "200 hello | 200 /next")
    }

    @Test(arguments: [BodyFraming.chunked, .untilClose])
    func sendsABodyOfUnknownLengthInChunks(_ framing: BodyFraming) throws {
        let (body, harness, peer) = try download(framing)
        harness.onServer {
            body.deliver("hello")
            body.deliver(String(repeating: "x", count: 17))
            body.end()
        }
        harness.advance()
        #expect(peer.text.contains("Transfer-Encoding: chunked\r\n"))
        #expect(
            self.body(of: peer)
                == "5\r\nhello\r\n11\r\n\(String(repeating: "x", count: 17))\r\n0\r\n\r\n")
        #expect(!peer.hasEnded && harness.log == ["GET / 200 22"])
    }

    @Test func bodyOfUnknownLengthEndsAnHTTP10Connection() throws {
        let (body, harness, peer) = try download(
            .chunked, request: "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        harness.onServer {
            body.deliver("hello")
            body.end()
        }
        harness.advance()
        #expect(peer.text.contains("Connection: close\r\n"))
        #expect(!peer.text.contains("Transfer-Encoding"))
        #expect(self.body(of: peer) == "hello" && peer.hasEnded)
    }

    @Test func slowClientPausesTheBody() throws {
        let (body, harness, peer) = try download(.chunked)
        harness.network.settings.windowBytes = 10_000
        peer.stream.pauseReading()
        let piece = String(repeating: "x", count: 20_000)
        var sent = 0
        while !body.isPaused, sent < 20 {
            harness.onServer { body.deliver(piece) }
            sent += 1
        }
        #expect(body.isPaused && sent < 8)
        #expect(harness.server.bufferedBytes > BodyWriter.unsentBytesMax)
        #expect(
            harness.server.bufferedBytes <= BodyWriter.unsentBytesMax + 2
                * piece.count)
        peer.stream.resumeReading()
        harness.advance(100)
        #expect(!body.isPaused && body.pauses == 1)
        harness.onServer { body.end() }
        harness.advance(100)
        #expect(self.body(of: peer).hasSuffix("\r\n0\r\n\r\n"))
        #expect(harness.server.bufferedBytes == 0)
        #expect(harness.log == ["GET / 200 \(sent * piece.count)"])
    }

    @Test func cancelsTheBodyOfAClientThatDoesNotRead() throws {
        let (body, harness, peer) = try download(.chunked)
        harness.network.settings.windowBytes = 1000
        peer.stream.pauseReading()
        harness.onServer { body.deliver(String(repeating: "x", count: 20_000)) }
        harness.advance(29_000)
        #expect(!body.isCancelled)
        harness.advance(2_000)
        #expect(body.isCancelled && harness.server.connectionCount == 0)
        #expect(harness.log == ["GET / 200 992 truncated"])
        #expect(harness.server.bufferedBytes == 0 && harness.server.requestsInFlight == 0)
    }

    /// A slow backend is not a reason to end a connection.
    @Test func waitsForASlowBodyWithoutLimit() throws {
        let (body, harness, peer) = try download(.length(2))
        harness.onServer { body.deliver("a") }
        harness.advance(600_000)
        harness.onServer {
            body.deliver("b")
            body.end()
        }
        harness.advance()
        #expect(summary(of: peer) == "200 ab")
    }

    /// A truncated body must not look complete.
    @Test(arguments: [BodyFraming.chunked, .length(10)], ["fails", "ends early"])
    func truncatedBodyClosesTheConnection(_ framing: BodyFraming, _ how: String) throws {
        let (body, harness, peer) = try download(framing)
        harness.onServer {
            body.deliver("hello")
            if how == "fails" { body.fail() } else { body.end() }
        }
        harness.advance()
        // A chunked body states its own end, so it cannot end early.
        let isComplete = framing == .chunked && how == "ends early"
        #expect(self.body(of: peer).hasSuffix("0\r\n\r\n") == isComplete)
        #expect(peer.hasEnded != isComplete)
        #expect(harness.log == ["GET / 200 5" + (isComplete ? "" : " truncated")])
        #expect(harness.server.requestsInFlight == 0)
    }

    /// Its end is the end of the connection, so only a reset shows that something is missing.
    @Test(arguments: [BodyFraming.chunked, .untilClose], [true, false])
    func truncatedBodyResetsAnHTTP10Connection(_ framing: BodyFraming, _ isClose: Bool) throws {
        let (body, harness, peer) = try download(framing, request: "GET / HTTP/1.0\r\n\r\n")
        harness.onServer { body.deliver("hello") }
        harness.advance()
        harness.onServer { isClose ? harness.server.close() : body.fail() }
        harness.advance()
        #expect(self.body(of: peer) == "hello" && !peer.hasEnded)
        #expect(peer.failures == [.connectionReset])
        #expect(harness.log == ["GET / 200 5 truncated"])
    }

    /// The body was complete, but the client does not take it.
    @Test func unsentRestOfABodyResetsTheConnection() throws {
        let (body, harness, peer) = try download(
            .untilClose, request: "GET / HTTP/1.0\r\n\r\n")
        harness.network.settings.windowBytes = 1000
        peer.stream.pauseReading()
        harness.onServer {
            body.deliver(String(repeating: "x", count: 20_000))
            body.end()
        }
        harness.advance(31_000)
        #expect(harness.server.connectionCount == 0)
        peer.stream.resumeReading()
        harness.advance(100)
        #expect(self.body(of: peer).count < 20_000 && !peer.hasEnded)
        #expect(peer.failures == [.connectionReset])
    }

    @Test func bodyLongerThanStatedClosesTheConnection() throws {
        let (body, harness, peer) = try download(
            .length(5), request: get() + get("/2"))
        harness.onServer { body.deliver("hello, world") }
        harness.advance()
        #expect(self.body(of: peer) == "" && peer.hasEnded && body.isCancelled)
    }

    @Test(arguments: ["HEAD", "304"])
    func responseWithoutContentCancelsItsBody(_ kind: String) throws {
        let (body, harness, peer) = try download(
            .length(5), status: kind == "HEAD" ? .ok : .notModified,
            request: "\(kind == "HEAD" ? "HEAD" : "GET") / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(peer.text.contains("Content-Length: 5\r\n"))
        #expect(body.isCancelled && self.body(of: peer) == "")
        #expect(harness.server.requestsInFlight == 0 && !peer.hasEnded)
    }

    @Test func describedBodyStatesItsLength() throws {
        let harness = try ServerHarness { _, request, exchange in
            exchange.local.value(Response(status: .ok, body: .described(length: 7)))
        }
        let peer = try harness.connect()
        peer.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + get())
        harness.advance()
        let lengths = peer.text.split(separator: "\r\n").filter { $0.hasPrefix("Content-Length") }
        // Only a response to HEAD has a length without content.
        #expect(lengths == ["Content-Length: 7", "Content-Length: 0"])
    }

    @Test(arguments: [true, false])
    func lostClientCancelsTheBody(isReset: Bool) throws {
        let (body, harness, peer) = try download(.chunked)
        harness.onServer { body.deliver("hello") }
        harness.advance()
        #expect(!body.isCancelled)
        if isReset { (peer.stream as? SimStream)?.reset() } else { peer.stream.finishWriting() }
        harness.advance()
        #expect(body.isCancelled && harness.server.connectionCount == 0)
        #expect(harness.log == ["GET / 200 5 truncated"])
    }

    @Test func drainWaitsForTheBody() throws {
        let (body, harness, peer) = try download(.length(5))
        var isDrained = false
        harness.onServer { harness.server.drain().whenSettled { _ in isDrained = true } }
        harness.advance(1000)
        #expect(!isDrained)
        harness.onServer {
            body.deliver("hello")
            body.end()
        }
        harness.advance()
        #expect(self.body(of: peer) == "hello" && peer.hasEnded)
        peer.stream.close()
        harness.advance()
        #expect(isDrained)
    }

    @Test func closeOfTheServerCancelsTheBody() throws {
        let (body, harness, _) = try download(.length(5))
        harness.onServer { harness.server.close() }
        harness.advance()
        #expect(body.isCancelled && harness.server.connectionCount == 0)
    }

    /// The client left while the service was still working, so nothing reads the stream.
    @Test func cancelsAStreamThatArrivesAfterTheClientLeft() throws {
        let body = ScriptedBody(.chunked)
        var resolver: LocalResolver<Response>?
        let harness = try ServerHarness { _, _, exchange in
            let pending = LocalResolver<Response>(on: exchange.local)
            let promise = pending.promise
            resolver = consume pending
            return promise
        }
        let peer = try harness.connect()
        peer.send(get())
        harness.advance()
        harness.onServer {
            resolver.take()?.fulfill(Response(status: .ok, body: .stream(body)))
            (peer.stream as? SimStream)?.reset()
        }
        harness.advance()
        #expect(body.isCancelled || !body.hasReader)
        #expect(harness.server.connectionCount == 0 && harness.server.requestsInFlight == 0)
    }

    /// Only a status of 101 leaves the connection to another protocol.
    @Test func rejectsATunnelWithoutAnUpgrade() throws {
        let tunnel = ScriptedTunnel()
        let harness = try ServerHarness { _, _, exchange in
            exchange.local.value(Response(status: .ok, body: .tunnel(tunnel)))
        }
        #expect(try harness.responses(to: get()) == "500")
        #expect(tunnel.isCancelled)
    }

    /// A server that responds to each request with a tunnel.
    private func serving(_ tunnel: ScriptedTunnel) throws -> ServerHarness {
        let status = try #require(Status(101))
        return try ServerHarness { _, _, exchange in
            exchange.local.value(Response(status: status, body: .tunnel(tunnel)))
        }
    }

    @Test func tunnelPassesBytesInBothDirections() throws {
        let tunnel = ScriptedTunnel()
        let harness = try serving(tunnel)
        let peer = try harness.connect()
        peer.send(get() + "early")
        harness.advance()
        #expect(peer.text.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
        #expect(peer.text.hasSuffix("Connection: Upgrade\r\nUpgrade: test\r\n\r\n"))
        #expect(tunnel.received.text == "early")
        peer.send("GET / HTTP/1.1\r\n\r\n")
        harness.onServer { tunnel.body.deliver("HTTP/1.1 200 OK\r\n\r\n") }
        harness.advance()
        #expect(tunnel.received.text == "earlyGET / HTTP/1.1\r\n\r\n")
        #expect(peer.text.hasSuffix("Upgrade: test\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"))
        #expect(harness.requests.count == 1 && harness.server.streams == 1)
        // A client that ends its side still receives.
        peer.stream.finishWriting()
        harness.advance()
        #expect(tunnel.received.hasEnded && !tunnel.isCancelled)
        harness.onServer {
            tunnel.body.deliver("last")
            tunnel.body.end()
        }
        harness.advance()
        #expect(peer.text.hasSuffix("last") && peer.hasEnded)
        #expect(harness.server.streams == 0)
    }

    /// The protocol of a tunnel has ends of its own: what was sent before must arrive.
    @Test func brokenTunnelClosesItsConnection() throws {
        let tunnel = ScriptedTunnel()
        let harness = try serving(tunnel)
        let peer = try harness.connect()
        peer.send(get())
        harness.advance()
        harness.onServer {
            tunnel.body.deliver("last")
            tunnel.body.fail()
        }
        harness.advance()
        #expect(peer.text.hasSuffix("last") && peer.hasEnded && peer.failures == [])
    }

    @Test func resetOfATunnelCancelsIt() throws {
        let tunnel = ScriptedTunnel()
        let harness = try serving(tunnel)
        let peer = try harness.connect()
        peer.send(get())
        harness.advance()
        (peer.stream as? SimStream)?.reset()
        harness.advance()
        #expect(tunnel.isCancelled && tunnel.received.error != nil)
        #expect(harness.server.connectionCount == 0 && harness.server.streams == 0)
    }
}
