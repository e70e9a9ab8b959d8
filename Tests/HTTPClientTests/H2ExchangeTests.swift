import Basics
import HTTP
import HTTP2
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// Calls over HTTP/2: what is sent, and what arrives.
@Suite struct H2ExchangeTests {
    @Test func callsShareOneConnection() throws {
        let harness = try H2PoolHarness()
        for path in ["/1", "/2"] { #expect(harness.outcome(.get, path) == "200 \(path)") }
        let sent = (3...9).map { harness.send(.get, "/\($0)") }
        #expect(harness.counts == "7 in flight, 0 idle, 1 open")
        harness.advance(by: .milliseconds(10))
        #expect(sent.map(\.outcome) == (3...9).map { "200 /\($0)" })
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        #expect(harness.backend.connections.count == 1)
        harness.expectQuiet()
    }

    /// All calls of one iteration are one write, and their responses need one acknowledgement at most.
    @Test func requestsOfOneIterationAreOneWrite() throws {
        let harness = try H2PoolHarness()
        _ = harness.outcome()
        let connection = harness.backend.connections[0]
        let before = connection.arrivals.count
        let sent = (1...20).map { harness.send(.get, "/\($0)") }
        harness.advance(by: .milliseconds(10))
        #expect(sent.allSatisfy { $0.outcome?.hasPrefix("200") == true })
        #expect(connection.arrivals[before...].first == 20)
        harness.expectQuiet()
    }

    @Test func coldStartOpensOneConnection() throws {
        let harness = try H2PoolHarness()
        let sent = (1...50).map { harness.send(.get, "/\($0)") }
        #expect(harness.pool.connecting == 1)
        harness.advance(by: .milliseconds(10))
        #expect(sent.map(\.outcome) == (1...50).map { "200 /\($0)" })
        #expect(harness.backend.connections.count == 1)
        harness.expectQuiet()
    }

    /// Before the backend has stated its limit, a connection has streams for 100 calls.
    @Test(arguments: [(100, 1), (101, 2)])
    func coldStartAssumes100Streams(_ calls: Int, _ connections: Int) throws {
        var settings = H2PoolHarness.settings
        settings.http2.maxStreams = 1000
        let harness = try H2PoolHarness(settings)
        let sent = (1...calls).map { harness.send(.get, "/\($0)") }
        #expect(harness.pool.connecting == connections)
        harness.advance(by: .milliseconds(20))
        #expect(sent.map(\.outcome) == (1...calls).map { "200 /\($0)" })
        harness.expectQuiet()
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func readsBytesInAnyPieces(seed: UInt64) throws {
        let harness = try H2PoolHarness(seed: seed)
        harness.network.settings.split = .random
        let body = String(repeating: "0123456789", count: 20_000)
        harness.backend.script = { exchange in
            exchange.recorder.onEnd = { exchange.respond(body) }
        }
        let sent = (1...3).map { _ in
            harness.send(.post, body: .bytes(Bytes(body)), responseBytesMax: 300_000)
        }
        for call in sent { #expect(harness.outcome(of: call) == "200 \(body)") }
        #expect(harness.backend.connections[0].side.streams.map(\.text) == [body, body, body])
        harness.expectQuiet()
    }

    @Test func sendsTheFieldsOfARequest() throws {
        let harness = try H2PoolHarness()
        let template = RequestTemplate(
            host: "shop.test:7001", fields: ["X-Backend": "b"], responseBytesMax: 10)
        let request = ClientRequest(
            method: .post, target: try #require(Target("/a?b=c")), template: template,
            fields: ["X-Call": "c", "Connection": "close", "Transfer-Encoding": "chunked"],
            body: .bytes(Bytes("abc")))
        let sent = SentRequest(harness.pool.send(request))
        harness.advance(by: .milliseconds(10))
        #expect(sent.outcome == "200 /a?b=c")
        let head = try #require(harness.backend.connections[0].side.streams.first?.request)
        #expect(head.method == .post && "\(head.target)" == "/a?b=c")
        #expect(head.fields[.host] == "shop.test:7001" && head.fields[.contentLength] == "3")
        #expect(head.fields["X-Backend"] == "b" && head.fields["X-Call"] == "c")
        #expect(head.fields.count == 4, "the fields of a connection are not sent")
        harness.expectQuiet()
    }

    @Test func receivesTheHeadOfAResponseToHEAD() throws {
        let harness = try H2PoolHarness { $0.respond("", ["Content-Length": "7"]) }
        let promise = harness.pool.send(ClientRequest(.head))
        harness.advance(by: .milliseconds(10))
        guard case .described(let length) = try #require(promise.value).body else {
            Issue.record("not described")
            return
        }
        #expect(length == 7)
        harness.expectQuiet()
    }

    /// A stream of a response that is too large is reset; the connection stays.
    @Test(arguments: [true, false])
    func largeResponseEndsItsStreamOnly(_ isStated: Bool) throws {
        let body = String(repeating: "a", count: 2000)
        let harness = try H2PoolHarness { exchange in
            if exchange.path == "/small" { return exchange.respond("ok") }
            exchange.respond(body, isStated ? ["Content-Length": "2000"] : Fields())
        }
        let large = harness.send(.get, "/large")
        let small = harness.send(.get, "/small")
        harness.advance(by: .milliseconds(10))
        #expect(large.outcome == "responseBodySize" && small.outcome == "200 ok")
        #expect(harness.outcome(.get, "/small") == "200 ok")
        #expect(harness.backend.connections.count == 1)
        #expect(harness.backend.connections[0].count(.reset) == 1)
        harness.expectQuiet()
    }

    // MARK: Streams

    @Test func deliversAStreamedResponseWithTrailers() throws {
        let harness = try H2PoolHarness { exchange in
            let session = exchange.connection.side.session
            guard let stream = exchange.recorder.stream else { return }
            let fields: Fields = ["X-A": "b"]
            session.sendResponse(.ok, lines: fields.wireText, on: stream, endsStream: false)
            session.sendPiece(
                Array("abc".utf8).span, on: stream, at: Instant(nanoseconds: 0))
            session.endBody(of: stream, trailers: ["X-End": "1"])
        }
        let response = try harness.streamed()
        #expect(response.fields["X-A"] == "b")
        guard case .stream(let source) = response.body else {
            Issue.record("not streamed")
            return
        }
        let sink = RecordingSink()
        source.startDelivery(to: sink)
        harness.advance(by: .milliseconds(10))
        #expect(sink.text == "abc" && sink.outcome == "ended" && sink.trailers["X-End"] == "1")
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        harness.expectQuiet()
    }

    /// As of a gRPC call, with its status behind the body.
    @Test(arguments: ["", "abc"]) func completeResponseHasTrailers(_ body: String) throws {
        let harness = try H2PoolHarness { exchange in
            let session = exchange.connection.side.session
            guard let stream = exchange.recorder.stream else { return }
            session.sendResponse(.ok, lines: Fields().wireText, on: stream, endsStream: false)
            session.sendPiece(
                Array(body.utf8).span, on: stream, at: Instant(nanoseconds: 0))
            session.endBody(of: stream, trailers: ["grpc-status": "0"])
        }
        let promise = harness.pool.send(ClientRequest(.get, keepsTrailers: true))
        harness.advance(by: .milliseconds(10))
        let response = try #require(promise.value)
        #expect(response.content == Bytes(body) && response.trailers["grpc-status"] == "0")
        harness.expectQuiet()
    }

    /// As a whole only without trailers, which a complete body does not have.
    @Test(arguments: [false, true]) func takesACompleteBody(_ hasTrailers: Bool) throws {
        let harness = try H2PoolHarness { exchange in
            let session = exchange.connection.side.session
            guard let stream = exchange.recorder.stream else { return }
            let fields: Fields = ["Content-Length": "3"]
            session.sendResponse(.ok, lines: fields.wireText, on: stream, endsStream: false)
            session.sendPiece(
                Array("abc".utf8).span, on: stream, at: Instant(nanoseconds: 0))
            session.endBody(of: stream, trailers: hasTrailers ? ["X-End": "1"] : Fields())
        }
        for _ in 0..<2 {
            guard case .stream(let source) = try harness.streamed().body else {
                Issue.record("not streamed")
                return
            }
            #expect(source.framing == .length(3))
            #expect(source.takeComplete() == (hasTrailers ? nil : Bytes("abc")))
            let sink = RecordingSink()
            source.startDelivery(to: sink)
            harness.advance(by: .milliseconds(10))
            #expect(sink.text == (hasTrailers ? "abc" : ""))
            #expect(sink.trailers.contains("X-End") == hasTrailers)
            #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        }
        #expect(harness.backend.connections.count == 1)
        harness.expectQuiet()
    }

    /// What a paused user has not taken is bounded by the window, and other calls go on.
    @Test func pausedSinkStopsItsStreamOnly() throws {
        let large = String(repeating: "x", count: 2_000_000)
        let harness = try H2PoolHarness { $0.respond($0.path == "/" ? large : "ok") }
        let response = try harness.streamed()
        guard case .stream(let source) = response.body else {
            Issue.record("not streamed")
            return
        }
        let sink = RecordingSink()
        sink.onPiece = { _ in source.pause() }
        source.startDelivery(to: sink)
        harness.advance(by: .seconds(5))
        let recorder = try #require(harness.backend.connections[0].side.streams.first)
        let taken = recorder.stream?.sentBytes ?? 0
        #expect((64_000...600_000).contains(taken) && sink.outcome == nil)
        #expect(harness.outcome(.get, "/small") == "200 ok")
        sink.onPiece = { _ in }
        source.resume()
        harness.advance(by: .seconds(5))
        #expect(sink.received.count == 2_000_000 && sink.outcome == "ended")
        harness.expectQuiet()
    }

    /// Users that take nothing do not close the window of the connection.
    @Test func pausedSinksDoNotStopOtherCalls() throws {
        let large = String(repeating: "x", count: 2_000_000)
        let harness = try H2PoolHarness { $0.respond($0.path == "/" ? large : "ok") }
        let responses = try (0..<30).map { _ in try harness.streamed() }
        harness.advance(by: .seconds(1))
        #expect(harness.outcome(.get, "/small") == "200 ok")
        let session = harness.backend.connections[0].side.session
        let taken = harness.backend.connections[0].side.streams.prefix(30).map {
            $0.stream?.sentBytes ?? 0
        }
        #expect(taken.allSatisfy { (60_000...600_000).contains($0) } && session.streams.count == 30)
        for response in responses { response.body.source?.cancel() }
        harness.advance(by: .milliseconds(10))
        #expect(session.streams.isEmpty && harness.counts == "0 in flight, 1 idle, 1 open")
        harness.expectQuiet()
    }

    @Test func droppedSourceResetsItsStream() throws {
        let harness = try H2PoolHarness {
            $0.respond(String(repeating: "x", count: 2_000_000))
        }
        do { _ = try harness.streamed() }
        harness.advance(by: .milliseconds(10))
        #expect(harness.backend.connections[0].count(.reset) == 1)
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        harness.expectQuiet()
    }

    @Test func sendsAStreamedBodyAsTheWindowAllows() throws {
        let harness = try H2PoolHarness { _ in }
        let source = ScriptedSource(.chunked)
        let sent = harness.send(.post, body: .stream(source), within: .seconds(10))
        harness.advance(by: .milliseconds(10))
        for _ in 0..<20 { source.deliver(String(repeating: "a", count: 10_000)) }
        #expect(source.isPaused)
        harness.advance(by: .milliseconds(10))
        let recorder = try #require(harness.backend.connections[0].side.streams.first)
        #expect(recorder.body.count >= 64 * 1024)
        source.end()
        for _ in 0..<20 {
            harness.advance(by: .milliseconds(10))
            harness.backend.connections[0].flush()
        }
        #expect(!source.isPaused && recorder.body.count == 200_000 && recorder.hasEnded)
        recorder.respond(body: "ok")
        harness.backend.connections[0].flush()
        #expect(harness.outcome(of: sent) == "200 ok")
        harness.expectQuiet()
    }

    @Test(arguments: ["", "abc"]) func sendsTheTrailersOfAStreamedBody(_ body: String) throws {
        let harness = try H2PoolHarness { exchange in
            exchange.recorder.onEnd = { exchange.respond("ok") }
        }
        let source = ScriptedSource(.chunked)
        let sent = harness.send(.post, body: .stream(source))
        harness.advance(by: .milliseconds(10))
        if !body.isEmpty { source.deliver(body) }
        source.end(["X-Sum": "1"])
        #expect(harness.outcome(of: sent) == "200 ok")
        let recorder = try #require(harness.backend.connections[0].side.streams.first)
        #expect(recorder.text == body && recorder.trailers == ["x-sum": "1"])
        harness.expectQuiet()
    }

    @Test(arguments: ["ab", "abcd"])
    func bodyOfAnotherLengthFailsItsCall(_ body: String) throws {
        let harness = try H2PoolHarness { _ in }
        let source = ScriptedSource(.length(3))
        let sent = harness.send(.post, body: .stream(source))
        harness.advance(by: .milliseconds(10))
        source.deliver(body)
        source.end()
        harness.advance(by: .milliseconds(10))
        #expect(sent.outcome == "WrongLength")
        #expect(harness.backend.connections[0].count(.reset) == 1)
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        harness.expectQuiet()
    }

    /// RFC 9113 8.1: the response is valid, and the rest of the request is not sent.
    @Test func responseBeforeTheEndOfTheRequestIsTaken() throws {
        let harness = try H2PoolHarness { $0.respond("early") }
        let source = ScriptedSource(.chunked)
        let sent = harness.send(.post, body: .stream(source))
        harness.advance(by: .milliseconds(10))
        #expect(sent.outcome == "200 early" && source.isCancelled)
        #expect(harness.backend.connections[0].count(.reset) == 1)
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        harness.expectQuiet()
    }

    // MARK: The end

    @Test func idleConnectionExpiresWithGoAway() throws {
        let harness = try H2PoolHarness()
        _ = harness.outcome()
        harness.advance(by: .seconds(59))
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        harness.advance(by: .seconds(2))
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        #expect(harness.backend.connections[0].count(.goAway) == 1)
        harness.expectQuiet()
    }

    @Test func closingPoolServesItsCalls() throws {
        let harness = try H2PoolHarness { _ in }
        let sent = harness.send()
        harness.advance(by: .milliseconds(10))
        let closed = harness.pool.close()
        harness.advance(by: .milliseconds(10))
        #expect(closed.value == nil && sent.outcome == nil)
        harness.backend.connections[0].side.streams[0].respond(body: "late")
        harness.backend.connections[0].flush()
        harness.advance(by: .milliseconds(10))
        #expect(sent.outcome == "200 late" && closed.value != nil)
        harness.expectQuiet()
    }
}
