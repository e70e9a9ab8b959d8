import Basics
import HTTP
import HTTP2
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPServer

/// Bodies that are streamed through, in both directions.
@Suite(.watched) struct H2ProxiedResponseTests {
    private func harness(
        _ body: ScriptedBody, _ fields: Fields = Fields()
    ) throws -> ServerHarness {
        try ServerHarness.http2 { _, _, exchange in
            var response = Response(status: .ok, fields: fields, body: .stream(body))
            response.isProxied = true
            return exchange.local.value(response)
        }
    }

    @Test func streamsAResponse() throws {
        let body = ScriptedBody(.chunked)
        let harness = try harness(body)
        let client = try H2Client(harness)
        let request = try client.send()
        harness.advance()
        #expect(request.summary == "200..." && harness.server.streams == 1)
        #expect(harness.server.requestsInFlight == 0)
        harness.onServer { body.deliver("one") }
        harness.advance()
        #expect(request.text == "one")
        harness.onServer {
            body.deliver("two")
            body.end()
        }
        harness.advance()
        #expect(request.summary == "200 onetwo" && request.closed == .noError)
        #expect(harness.log == ["GET / 200 6"] && harness.server.streams == 0)
        #expect(request.responses.first?.fields.contains(.contentLength) == false)
    }

    @Test func statesTheLengthOfAStreamedResponse() throws {
        let body = ScriptedBody(.length(3))
        let harness = try harness(body, ["Date": "then"])
        let client = try H2Client(harness)
        let request = try client.send()
        harness.advance()
        #expect(request.responses.first?.fields[.contentLength] == "3")
        #expect(request.responses.first?.fields.all(.date) == ["then"])
        harness.onServer {
            body.deliver("abc")
            body.end()
        }
        harness.advance()
        #expect(request.summary == "200 abc")
    }

    @Test(arguments: ["ab", "abcd"])
    func resetsAResponseOfAnotherLength(_ text: String) throws {
        let body = ScriptedBody(.length(3))
        let harness = try harness(body)
        let client = try H2Client(harness)
        let request = try client.send()
        harness.advance()
        harness.onServer {
            body.deliver(text)
            body.end()
        }
        harness.advance()
        #expect(request.closed == .internalError && !request.hasEnded)
        #expect(harness.log.count == 1 && harness.log[0].hasSuffix("truncated"))
    }

    @Test func resetsATruncatedResponse() throws {
        let body = ScriptedBody(.chunked)
        let harness = try harness(body)
        let client = try H2Client(harness)
        let request = try client.send()
        harness.advance()
        harness.onServer {
            body.deliver("part")
            body.fail()
        }
        harness.advance()
        #expect(request.closed == .internalError && !request.hasEnded)
        #expect(harness.server.streams == 0)
        let next = try client.send(.head)
        harness.advance()
        #expect(next.summary == "200", "the connection stays")
    }

    /// The source is paused while the client's window is closed.
    @Test func pausesTheSource() throws {
        let body = ScriptedBody(.chunked)
        let harness = try harness(body)
        let client = try H2Client(harness)
        let request = try client.send()
        request.consumes = false
        harness.advance()
        for _ in 0..<3 {
            harness.onServer { body.deliver(String(repeating: "x", count: 50_000)) }
            harness.advance()
        }
        #expect(body.isPaused && request.body.count == 64 * 1024)
        #expect(harness.server.bufferedBytes < 150_000)
        client.side.session.didConsume(64 * 1024, on: try #require(request.stream))
        client.flush()
        harness.advance()
        #expect(request.body.count == 2 * 64 * 1024)
        request.consumes = true
        client.side.session.didConsume(64 * 1024, on: try #require(request.stream))
        client.flush()
        harness.advance()
        #expect(!body.isPaused && request.body.count == 150_000)
        harness.onServer { body.end() }
        harness.advance()
        #expect(request.hasEnded && request.closed == .noError)
    }

    @Test func cancelsTheSourceOfAClientThatResets() throws {
        let body = ScriptedBody(.chunked)
        let harness = try harness(body)
        let client = try H2Client(harness)
        let request = try client.send()
        harness.advance()
        try client.reset(request)
        harness.advance()
        #expect(body.isCancelled && harness.server.streams == 0)
        #expect(harness.log == ["GET / 200 0 truncated"])
    }

    @Test func respondsToHeadWithoutTheSource() throws {
        let body = ScriptedBody(.length(7))
        let harness = try harness(body)
        let client = try H2Client(harness)
        let request = try client.send(.head)
        harness.advance()
        #expect(body.isCancelled && request.summary == "200" && request.hasEnded)
        #expect(request.responses.first?.fields[.contentLength] == "7")
    }

    /// An upload reaches the service as it arrives, and waits while that has paused it.
    @Test func streamsAnUpload() throws {
        let sink = RecordingSink()
        var source: (any BodySource)?
        let harness = try ServerHarness.http2 { harness, request, exchange in
            source = request.body.source
            source?.startDelivery(to: sink)
            return ServerHarness.deferred(harness, request, exchange)
        }
        let client = try H2Client(harness)
        let request = try client.send(.post, endsStream: false)
        harness.advance()
        try client.send("one", on: request)
        harness.advance()
        #expect(sink.text == "one")
        harness.onServer { source?.pause() }
        try client.send(String(repeating: "x", count: 100_000), on: request, ends: true)
        harness.advance()
        #expect(sink.text == "one" && !sink.hasEnded)
        harness.onServer { source?.resume() }
        harness.advance()
        #expect(sink.text.utf8.count == 100_003 && sink.hasEnded)
        harness.respond("done")
        harness.advance()
        #expect(request.summary == "200 done")
    }

    /// Trailers of a request follow its body, also if all of it arrives before the service runs.
    @Test(arguments: [true, false]) func deliversTheTrailersOfARequest(_ isAtOnce: Bool) throws {
        let sink = RecordingSink()
        let harness = try ServerHarness.http2 { harness, request, exchange in
            request.body.source?.startDelivery(to: sink)
            return ServerHarness.deferred(harness, request, exchange)
        }
        let client = try H2Client(harness)
        harness.advance()
        let request = try client.side.request(.post, endsStream: false)
        if !isAtOnce {
            client.flush()
            harness.advance()
            #expect(harness.requests.count == 1 && !sink.hasEnded)
        }
        try client.send("abc", on: request, ends: true, trailers: ["X-Sum": "1"])
        harness.advance()
        #expect(sink.text == "abc" && sink.hasEnded && sink.trailers["x-sum"] == "1")
        harness.respond()
        harness.advance()
        #expect(request.summary == "200 ok" && harness.log == ["POST / 200 2"])
    }

    @Test func carriesTrailersToClientsThatAcceptThem() throws {
        for accepts in [true, false] {
            let harness = try ServerHarness.http2 { _, _, exchange in
                exchange.local.value(
                    Response(status: .ok, body: .stream(TrailerBody(exchange.local))))
            }
            let client = try H2Client(harness)
            let request = try client.send(.get, "/", accepts ? ["TE": "trailers"] : Fields())
            harness.advance()
            #expect(request.text == "x" && request.hasEnded)
            #expect((request.trailers?["x-sum"] == "1") == accepts)
        }
    }

    /// A body with trailers.
    private final class TrailerBody: BodySource {
        let framing = BodyFraming.chunked
        private let local: LocalContext
        init(_ local: LocalContext) { self.local = local }
        func startDelivery(to sink: any BodySink) {
            local.value(()).whenSettled { _ in
                sink.bodyReceived([UInt8(ascii: "x")].span)
                sink.bodyEnded(trailers: ["X-Sum": "1"])
            }
        }
        func pause() {}
        func resume() {}
        func cancel() {}
    }
}
