import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import Testing

@testable import HTTPServer

/// Requests whose body the service reads piece by piece.
@Suite struct StreamedRequestTests {
    /// A server whose service gives the body of each request to a sink, and responds when told to.
    private func stage(_ sink: RecordingSink) throws -> Stage {
        try Stage { stage, request, exchange in
            request.body.source?.startDelivery(to: sink)
            return Stage.held(stage, request, exchange)
        }
    }

    @Test(arguments: ["Content-Length: 10\r\n", "Transfer-Encoding: chunked\r\n"])
    func deliversTheBodyInPieces(_ framing: String) throws {
        let sink = RecordingSink()
        let stage = try stage(sink)
        let isChunked = framing.hasPrefix("T")
        let peer = try stage.connect()
        peer.send(post(framing, isChunked ? "5\r\nhello\r\n" : "hello"))
        stage.advance()
        #expect(sink.text == "hello" && !sink.hasEnded)
        peer.send(isChunked ? "5\r\nworld\r\n0\r\n\r\n" : "world")
        stage.advance()
        #expect(sink.text == "helloworld" && sink.hasEnded && sink.error == nil)
        stage.answer()
        stage.advance()
        #expect(summary(of: peer) == "200 ok")
    }

    @Test func aPausedBodyStopsTheClient() throws {
        let sink = RecordingSink()
        let stage = try stage(sink)
        stage.network.settings.windowBytes = 4000
        let peer = try stage.connect()
        peer.send(post("Content-Length: 100000\r\n", "hello"))
        stage.advance()
        let source = try #require(stage.asked.first?.request.body.source)
        stage.onServer { source.pause() }
        peer.send(String(repeating: "x", count: 99_995))
        stage.advance(50)
        #expect(sink.text == "hello" && peer.stream.unsentBytes > 50_000)
        stage.onServer { source.resume() }
        stage.advance(200)
        #expect(sink.text.utf8.count == 100_000 && sink.hasEnded)
    }

    /// It is the reader that is slow, so no time limit of the client counts.
    @Test func aPausedBodyIsNotTooSlow() throws {
        let sink = RecordingSink()
        let stage = try stage(sink)
        let peer = try stage.connect()
        peer.send(post("Content-Length: 10\r\n", "hello"))
        stage.advance()
        let source = try #require(stage.asked.first?.request.body.source)
        stage.onServer { source.pause() }
        stage.advance(120_000)
        #expect(!peer.hasEnded)
        stage.onServer { source.resume() }
        stage.advance(10_000)
        #expect(summary(of: peer) == "408 close!" && sink.error != nil)
    }

    @Test(arguments: [false, true])
    func aBodyThatIsPausedOnItsLastPieceEndsWhenItIsResumed(_ clientHalfCloses: Bool) throws {
        let sink = RecordingSink()
        let stage = try stage(sink)
        let peer = try stage.connect()
        peer.send(post("Content-Length: 10\r\n", "hello"))
        stage.advance()
        let source = try #require(stage.asked.first?.request.body.source)
        sink.onPiece = { source.pause() }
        peer.send("world")
        if clientHalfCloses { peer.stream.finishWriting() }
        stage.advance()
        #expect(sink.text == "helloworld" && !sink.hasEnded)
        stage.onServer { source.resume() }
        stage.advance()
        #expect(sink.hasEnded && sink.error == nil)
        stage.answer()
        stage.advance()
        #expect(summary(of: peer).contains("200 ok"))
    }

    @Test func aCancelledBodyIsDiscarded() throws {
        let sink = RecordingSink()
        let stage = try stage(sink)
        let peer = try stage.connect()
        peer.send(post("Content-Length: 10\r\n", "hello"))
        stage.advance()
        let source = try #require(stage.asked.first?.request.body.source)
        stage.onServer { source.cancel() }
        peer.send("world" + get("/2"))
        stage.advance()
        #expect(sink.text == "hello" && !sink.hasEnded && sink.error == nil)
        stage.answer("one")
        stage.advance()
        stage.answer("two")
        stage.advance()
        #expect(summary(of: peer) == "200 one | 200 two")
    }

    @Test func aBrokenBodyFailsItsReader() throws {
        let sink = RecordingSink()
        let stage = try stage(sink)
        let peer = try stage.connect()
        peer.send(post("Transfer-Encoding: chunked\r\n", "zz\r\n"))
        stage.advance()
        #expect(sink.error as? WireError == .chunkSize)
        stage.answer()
        stage.advance()
        #expect(summary(of: peer) == "200 close ok!")
    }

    @Test func aReaderHearsThatItsExchangeEnded() throws {
        let sink = RecordingSink()
        let stage = try stage(sink)
        let peer = try stage.connect()
        peer.send(post("Content-Length: 10\r\n", "hello"))
        stage.advance()
        #expect(sink.error == nil)
        (peer.stream as? SimStream)?.reset()
        stage.advance()
        #expect(sink.error is RequestBodySource.ExchangeEnded)
        let late = RecordingSink()
        let source = try #require(stage.asked.first?.request.body.source)
        stage.onServer { source.startDelivery(to: late) }
        stage.advance()
        #expect(late.error != nil)
    }

    @Test func aBodyIsDeliveredOnce() throws {
        let sink = RecordingSink()
        let stage = try stage(sink)
        let peer = try stage.connect()
        peer.send(post("Content-Length: 10\r\n", "hello"))
        stage.advance()
        let second = RecordingSink()
        let source = try #require(stage.asked.first?.request.body.source)
        stage.onServer {
            source.startDelivery(to: second)
            #expect(second.error == nil)
        }
        stage.advance()
        #expect(second.error is RequestBodySource.AlreadyDelivered)
        peer.send("world")
        stage.advance()
        #expect(sink.text == "helloworld" && second.text == "")
    }

    /// The upload goes on while the response is on its way.
    @Test func aResponseMayBeginBeforeTheBodyEnds() throws {
        let sink = RecordingSink()
        let body = ScriptedBody(.chunked)
        let stage = try Stage { _, request, exchange in
            request.body.source?.startDelivery(to: sink)
            return exchange.core.value(Response(status: .ok, body: .stream(body)))
        }
        let peer = try stage.connect()
        peer.send(post("Content-Length: 10\r\n", "hello"))
        stage.advance()
        stage.onServer { body.deliver("early") }
        peer.send("world")
        stage.advance()
        #expect(peer.text.hasSuffix("5\r\nearly\r\n") && sink.text == "helloworld")
        #expect(sink.hasEnded)
        stage.onServer { body.end() }
        peer.send(get())
        stage.advance()
        #expect(stage.asked.count == 2 && stage.log.first == "POST / 200 5")
    }

    /// `startDelivery` calls no sink before it returns, although the bytes are there.
    @Test func deliversNothingBeforeStartDeliveryReturns() throws {
        let stage = try Stage(service: Stage.held)
        let peer = try stage.connect()
        peer.send(post("Content-Length: 10\r\n", "hello"))
        stage.advance()
        peer.send("world")
        stage.advance()
        let sink = RecordingSink()
        let source = try #require(stage.asked.first?.request.body.source)
        stage.onServer {
            source.startDelivery(to: sink)
            #expect(sink.text == "")
        }
        stage.advance()
        #expect(sink.text == "helloworld" && sink.hasEnded)
    }
}
