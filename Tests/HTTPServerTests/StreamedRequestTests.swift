import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import Testing

@testable import HTTPServer

/// Requests whose body the service reads piece by piece.
@Suite struct StreamedRequestTests {
    /// Sends a POST whose body the service delivers to a sink; by default five of ten bytes. The
    /// service responds when the test calls `respond`.
    private func upload(
        to sink: RecordingSink, _ fields: String = "Content-Length: 10\r\n",
        _ rest: String = "hello"
    ) throws -> (harness: ServerHarness, peer: ScriptedPeer, source: any BodySource) {
        let harness = try ServerHarness { harness, request, exchange in
            request.body.source?.startDelivery(to: sink)
            return ServerHarness.deferred(harness, request, exchange)
        }
        let peer = try harness.connect()
        peer.send(post(fields, rest))
        harness.advance()
        let source = try #require(harness.requests.first?.request.body.source)
        return (harness, peer, source)
    }

    @Test(arguments: ["Content-Length: 10\r\n", "Transfer-Encoding: chunked\r\n"])
    func deliversTheBodyInPieces(_ framing: String) throws {
        let sink = RecordingSink()
        let isChunked = framing.hasPrefix("T")
        let (harness, peer, _) = try upload(
            to: sink, framing, isChunked ? "5\r\nhello\r\n" : "hello")
        #expect(sink.text == "hello" && !sink.hasEnded)
        peer.send(isChunked ? "5\r\nworld\r\n0\r\n\r\n" : "world")
        harness.advance()
        #expect(sink.text == "helloworld" && sink.hasEnded && sink.error == nil)
        harness.respond()
        harness.advance()
        #expect(summary(of: peer) == "200 ok")
    }

    /// The section may arrive in any pieces; a length has none.
    @Test func deliversTheTrailersOfChunks() throws {
        let sink = RecordingSink()
        let (harness, peer, _) = try upload(
            to: sink, "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\nX-S")
        peer.send("um: 1\r\nX-Oth")
        harness.advance()
        #expect(!sink.hasEnded)
        peer.send("er: 2\r\n\r\n")
        harness.advance()
        #expect(sink.text == "hello" && sink.hasEnded)
        #expect(sink.trailers == ["X-Sum": "1", "X-Other": "2"])
        harness.respond()
        harness.advance()
        #expect(summary(of: peer) == "200 ok")
    }

    @Test func pausedBodyStopsTheClient() throws {
        let sink = RecordingSink()
        let (harness, peer, source) = try upload(to: sink, "Content-Length: 100000\r\n")
        harness.network.settings.windowBytes = 4000
        harness.onServer { source.pause() }
        peer.send(String(repeating: "x", count: 99_995))
        harness.advance(50)
        #expect(sink.text == "hello" && peer.stream.unsentBytes > 50_000)
        harness.onServer { source.resume() }
        harness.advance(200)
        #expect(sink.text.utf8.count == 100_000 && sink.hasEnded)
    }

    /// The reader is slow, so no timeout of the client applies.
    @Test func pausedBodyIsNotTimedOut() throws {
        let sink = RecordingSink()
        let (harness, peer, source) = try upload(to: sink)
        harness.onServer { source.pause() }
        harness.advance(120_000)
        #expect(!peer.hasEnded)
        harness.onServer { source.resume() }
        harness.advance(10_000)
        #expect(summary(of: peer) == "408 close!" && sink.error != nil)
    }

    @Test(arguments: [false, true])
    func bodyPausedOnItsLastPieceEndsWhenResumed(_ clientHalfCloses: Bool) throws {
        let sink = RecordingSink()
        let (harness, peer, source) = try upload(to: sink)
        sink.onPiece = { source.pause() }
        peer.send("world")
        if clientHalfCloses { peer.stream.finishWriting() }
        harness.advance()
        #expect(sink.text == "helloworld" && !sink.hasEnded)
        harness.onServer { source.resume() }
        harness.advance()
        #expect(sink.hasEnded && sink.error == nil)
        harness.respond()
        harness.advance()
        #expect(summary(of: peer).contains("200 ok"))
    }

    @Test func cancelledBodyIsDiscarded() throws {
        let sink = RecordingSink()
        let (harness, peer, source) = try upload(to: sink)
        harness.onServer { source.cancel() }
        peer.send("world" + get("/2"))
        harness.advance()
        #expect(sink.text == "hello" && !sink.hasEnded && sink.error == nil)
        harness.respond("one")
        harness.advance()
        harness.respond("two")
        harness.advance()
        #expect(summary(of: peer) == "200 one | 200 two")
    }

    @Test func malformedBodyFailsItsReader() throws {
        let sink = RecordingSink()
        let (harness, peer, _) = try upload(to: sink, "Transfer-Encoding: chunked\r\n", "zz\r\n")
        #expect(sink.error as? WireError == .chunkSize)
        harness.respond()
        harness.advance()
        #expect(summary(of: peer) == "200 close ok!")
    }

    @Test func endOfTheExchangeFailsTheReader() throws {
        let sink = RecordingSink()
        let (harness, peer, source) = try upload(to: sink)
        #expect(sink.error == nil)
        (peer.stream as? SimStream)?.reset()
        harness.advance()
        #expect(sink.error is RequestBodySource.ExchangeEnded)
        let late = RecordingSink()
        harness.onServer { source.startDelivery(to: late) }
        harness.advance()
        #expect(late.error != nil)
    }

    @Test func bodyIsDeliveredOnce() throws {
        let sink = RecordingSink()
        let (harness, peer, source) = try upload(to: sink)
        let second = RecordingSink()
        harness.onServer {
            source.startDelivery(to: second)
            #expect(second.error == nil)
        }
        harness.advance()
        #expect(second.error is RequestBodySource.AlreadyDelivered)
        peer.send("world")
        harness.advance()
        #expect(sink.text == "helloworld" && second.text == "")
    }

    /// The upload continues during the response.
    @Test func responseMayBeginBeforeTheBodyEnds() throws {
        let sink = RecordingSink()
        let body = ScriptedBody(.chunked)
        let harness = try ServerHarness { _, request, exchange in
            request.body.source?.startDelivery(to: sink)
            return exchange.local.value(Response(status: .ok, body: .stream(body)))
        }
        let peer = try harness.connect()
        peer.send(post("Content-Length: 10\r\n", "hello"))
        harness.advance()
        harness.onServer { body.deliver("early") }
        peer.send("world")
        harness.advance()
        #expect(peer.text.hasSuffix("5\r\nearly\r\n") && sink.text == "helloworld")
        #expect(sink.hasEnded)
        harness.onServer { body.end() }
        peer.send(get())
        harness.advance()
        #expect(harness.requests.count == 2 && harness.log.first == "POST / 200 5")
    }

    /// `startDelivery` calls no sink before it returns, although the bytes are there.
    @Test func deliversNothingBeforeStartDeliveryReturns() throws {
        let harness = try ServerHarness(service: ServerHarness.deferred)
        let peer = try harness.connect()
        peer.send(post("Content-Length: 10\r\n", "hello"))
        harness.advance()
        peer.send("world")
        harness.advance()
        let sink = RecordingSink()
        let source = try #require(harness.requests.first?.request.body.source)
        harness.onServer {
            source.startDelivery(to: sink)
            #expect(sink.text == "")
        }
        harness.advance()
        #expect(sink.text == "helloworld" && sink.hasEnded)
    }
}
