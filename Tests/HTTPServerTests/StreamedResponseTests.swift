import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import Testing

@testable import HTTPServer

/// Responses whose body is delivered piece by piece: the exchange ends with the body's last byte.
@Suite struct StreamedResponseTests {
    /// A server that streams a scripted body to each request.
    private func stage(
        _ body: ScriptedBody, _ settings: ServerSettings = ServerSettings(), status: Status = .ok
    ) throws -> Stage {
        try Stage(settings) { _, _, exchange in
            exchange.core.value(Response(status: status, body: .stream(body)))
        }
    }

    /// What a client received behind the head.
    private func body(of peer: ScriptedPeer) -> String {
        peer.text.firstRange(of: "\r\n\r\n").map { String(peer.text[$0.upperBound...]) } ?? ""
    }

    @Test func theHeadLeavesBeforeTheBody() throws {
        let body = ScriptedBody(.length(10))
        let stage = try stage(body)
        let peer = try stage.connect()
        peer.send(get())
        stage.advance()
        #expect(peer.text.contains("Content-Length: 10\r\n") && self.body(of: peer) == "")
        stage.onServer { body.deliver("hello") }
        stage.advance()
        #expect(self.body(of: peer) == "hello")
        #expect(stage.server.requestsInFlight == 1 && stage.log == [])
        stage.onServer {
            body.deliver("world")
            body.end()
        }
        stage.advance()
        #expect(summary(of: peer) == "200 helloworld")
        #expect(stage.server.requestsInFlight == 0 && stage.log == ["GET / 200 10"])
    }

    @Test func theNextRequestIsServedBehindTheBody() throws {
        let body = ScriptedBody(.length(5))
        let stage = try Stage { stage, request, exchange in
            guard request.head.target.text == Bytes("/stream") else {
                return Stage.echo(stage, request, exchange)
            }
            return exchange.core.value(Response(status: .ok, body: .stream(body)))
        }
        let peer = try stage.connect()
        peer.send(get("/stream") + get("/next"))
        stage.advance()
        #expect(stage.asked.count == 1)
        stage.onServer {
            body.deliver("hello")
            body.end()
        }
        stage.advance()
        #expect(summary(of: peer) == "200 hello | 200 /next")
    }

    @Test(arguments: [BodyFraming.chunked, .untilClose])
    func aBodyOfUnknownLengthIsSentInChunks(_ framing: BodyFraming) throws {
        let body = ScriptedBody(framing)
        let stage = try stage(body)
        let peer = try stage.connect()
        peer.send(get())
        stage.advance()
        stage.onServer {
            body.deliver("hello")
            body.deliver(String(repeating: "x", count: 17))
            body.end()
        }
        stage.advance()
        #expect(peer.text.contains("Transfer-Encoding: chunked\r\n"))
        #expect(
            self.body(of: peer)
                == "5\r\nhello\r\n11\r\n\(String(repeating: "x", count: 17))\r\n0\r\n\r\n")
        #expect(!peer.hasEnded && stage.log == ["GET / 200 22"])
    }

    @Test func aBodyOfUnknownLengthEndsTheConnectionOfHTTP10() throws {
        let body = ScriptedBody(.chunked)
        let stage = try stage(body)
        let peer = try stage.connect()
        peer.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        stage.advance()
        stage.onServer {
            body.deliver("hello")
            body.end()
        }
        stage.advance()
        #expect(peer.text.contains("Connection: close\r\n"))
        #expect(!peer.text.contains("Transfer-Encoding"))
        #expect(self.body(of: peer) == "hello" && peer.hasEnded)
    }

    @Test func aSlowClientPausesTheBody() throws {
        let body = ScriptedBody(.chunked)
        let stage = try stage(body)
        stage.network.settings.windowBytes = 10_000
        let peer = try stage.connect()
        peer.stream.pauseReading()
        peer.send(get())
        stage.advance()
        let piece = String(repeating: "x", count: 20_000)
        var sent = 0
        while !body.isPaused, sent < 20 {
            stage.onServer { body.deliver(piece) }
            sent += 1
        }
        #expect(body.isPaused && sent < 8)
        #expect(stage.server.bufferedBytes > ResponseRelay.unsentBytesMax)
        #expect(stage.server.bufferedBytes <= ResponseRelay.unsentBytesMax + 2 * piece.count)
        peer.stream.resumeReading()
        stage.advance(100)
        #expect(!body.isPaused && body.pauses == 1)
        stage.onServer { body.end() }
        stage.advance(100)
        #expect(self.body(of: peer).hasSuffix("\r\n0\r\n\r\n"))
        #expect(stage.server.bufferedBytes == 0)
        #expect(stage.log == ["GET / 200 \(sent * piece.count)"])
    }

    @Test func aClientThatDoesNotReadLosesItsStream() throws {
        let body = ScriptedBody(.chunked)
        let stage = try stage(body)
        stage.network.settings.windowBytes = 1000
        let peer = try stage.connect()
        peer.stream.pauseReading()
        peer.send(get())
        stage.advance()
        stage.onServer { body.deliver(String(repeating: "x", count: 20_000)) }
        stage.advance(29_000)
        #expect(!body.isCancelled)
        stage.advance(2_000)
        #expect(body.isCancelled && stage.server.connectionCount == 0)
        #expect(stage.log == ["GET / 200 20000 truncated"])
        #expect(stage.server.bufferedBytes == 0 && stage.server.requestsInFlight == 0)
    }

    /// A slow backend is no reason to end a connection.
    @Test func aBodyMayPauseForAsLongAsItLikes() throws {
        let body = ScriptedBody(.length(2))
        let stage = try stage(body)
        let peer = try stage.connect()
        peer.send(get())
        stage.advance()
        stage.onServer { body.deliver("a") }
        stage.advance(600_000)
        stage.onServer {
            body.deliver("b")
            body.end()
        }
        stage.advance()
        #expect(summary(of: peer) == "200 ab")
    }

    /// Whatever breaks off must not look complete.
    @Test(arguments: [BodyFraming.chunked, .length(10)], ["fails", "ends early"])
    func aBodyThatBreaksOffClosesTheConnection(_ framing: BodyFraming, _ how: String) throws {
        let body = ScriptedBody(framing)
        let stage = try stage(body)
        let peer = try stage.connect()
        peer.send(get())
        stage.advance()
        stage.onServer {
            body.deliver("hello")
            if how == "fails" { body.fail() } else { body.end() }
        }
        stage.advance()
        // A chunked body states its own end, so it cannot end early.
        let isComplete = framing == .chunked && how == "ends early"
        #expect(self.body(of: peer).hasSuffix("0\r\n\r\n") == isComplete)
        #expect(peer.hasEnded != isComplete)
        #expect(stage.log == ["GET / 200 5" + (isComplete ? "" : " truncated")])
        #expect(stage.server.requestsInFlight == 0)
    }

    @Test func aBodyLongerThanItsHeadStatesIsCut() throws {
        let body = ScriptedBody(.length(5))
        let stage = try stage(body)
        let peer = try stage.connect()
        peer.send(get() + get("/2"))
        stage.advance()
        stage.onServer { body.deliver("hello, world") }
        stage.advance()
        #expect(self.body(of: peer) == "" && peer.hasEnded && body.isCancelled)
    }

    @Test(arguments: ["HEAD", "304"])
    func aResponseWithoutContentCancelsItsBody(_ kind: String) throws {
        let body = ScriptedBody(.length(5))
        let stage = try stage(body, status: kind == "HEAD" ? .ok : .notModified)
        let peer = try stage.connect()
        peer.send("\(kind == "HEAD" ? "HEAD" : "GET") / HTTP/1.1\r\nHost: a\r\n\r\n")
        stage.advance()
        #expect(peer.text.contains("Content-Length: 5\r\n"))
        #expect(body.isCancelled && self.body(of: peer) == "")
        #expect(stage.server.requestsInFlight == 0 && !peer.hasEnded)
    }

    @Test func aDescribedBodyStatesItsLength() throws {
        let stage = try Stage { _, request, exchange in
            exchange.core.value(Response(status: .ok, body: .described(length: 7)))
        }
        let peer = try stage.connect()
        peer.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + get())
        stage.advance()
        let lengths = peer.text.split(separator: "\r\n").filter { $0.hasPrefix("Content-Length") }
        // Only a response to HEAD has a length without content.
        #expect(lengths == ["Content-Length: 7", "Content-Length: 0"])
    }

    @Test(arguments: [true, false])
    func aClientThatLeavesCancelsTheBody(isReset: Bool) throws {
        let body = ScriptedBody(.chunked)
        let stage = try stage(body)
        let peer = try stage.connect()
        peer.send(get())
        stage.advance()
        stage.onServer { body.deliver("hello") }
        stage.advance()
        #expect(!body.isCancelled)
        if isReset { (peer.stream as? SimStream)?.reset() } else { peer.stream.finishWriting() }
        stage.advance()
        #expect(body.isCancelled && stage.server.connectionCount == 0)
        #expect(stage.log == ["GET / 200 5 truncated"])
    }

    @Test func aDrainWaitsForTheBody() throws {
        let body = ScriptedBody(.length(5))
        let stage = try stage(body)
        let peer = try stage.connect()
        peer.send(get())
        stage.advance()
        var isDrained = false
        stage.onServer { stage.server.drain().whenSettled { _ in isDrained = true } }
        stage.advance(1000)
        #expect(!isDrained)
        stage.onServer {
            body.deliver("hello")
            body.end()
        }
        stage.advance()
        #expect(self.body(of: peer) == "hello" && peer.hasEnded)
        peer.stream.close()
        stage.advance()
        #expect(isDrained)
    }

    @Test func aServerThatClosesCancelsTheBody() throws {
        let body = ScriptedBody(.length(5))
        let stage = try stage(body)
        let peer = try stage.connect()
        peer.send(get())
        stage.advance()
        stage.onServer { stage.server.close() }
        stage.advance()
        #expect(body.isCancelled && stage.server.connectionCount == 0)
    }

    /// The client left while the service was still at work: nobody reads what it streams then.
    @Test func aStreamThatComesTooLateIsCancelled() throws {
        let body = ScriptedBody(.chunked)
        var resolver: LocalResolver<Response>?
        let stage = try Stage { _, _, exchange in
            let pending = LocalResolver<Response>(on: exchange.core)
            let promise = pending.promise
            resolver = consume pending
            return promise
        }
        let peer = try stage.connect()
        peer.send(get())
        stage.advance()
        stage.onServer {
            resolver.take()?.fulfill(Response(status: .ok, body: .stream(body)))
            (peer.stream as? SimStream)?.reset()
        }
        stage.advance()
        #expect(body.isCancelled || !body.hasReader)
        #expect(stage.server.connectionCount == 0 && stage.server.requestsInFlight == 0)
    }

    @Test func aTunnelIsRefused() throws {
        final class Tunnel: BodySource, BodySink {
            var isCancelled = false
            var framing: BodyFraming { .untilClose }
            func startDelivery(to sink: any BodySink) {}
            func pause() {}
            func resume() {}
            func cancel() { isCancelled = true }
            func bodyReceived(_ piece: Span<UInt8>) {}
            func bodyEnded(trailers: Fields) {}
            func bodyFailed(_ error: any Error) {}
        }
        let tunnel = Tunnel()
        let stage = try Stage { _, _, exchange in
            exchange.core.value(Response(status: .ok, body: .tunnel(tunnel)))
        }
        #expect(try stage.answers(to: get()) == "500")
        #expect(tunnel.isCancelled)
    }
}
