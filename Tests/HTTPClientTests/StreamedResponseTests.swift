import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// Responses whose body is passed on while it arrives: the call lasts until the body ends.
@Suite struct StreamedResponseTests {
    private static let chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// A backend that sends a text after each request.
    private func harness(
        seed: UInt64 = 1, _ settings: PoolSettings = PoolSettings(), sending text: String = ""
    ) throws -> PoolHarness {
        try PoolHarness(seed: seed, settings) { exchange in
            if !text.isEmpty { exchange.peer.send(text) }
        }
    }

    /// Sends a request and advances the time.
    private func response(
        _ harness: PoolHarness, _ method: HTTP.Method = .get
    ) throws -> ClientResponse {
        let promise = harness.pool.sendStreaming(ClientRequest(method))
        harness.advance(by: .milliseconds(10))
        return try #require(promise.value)
    }

    private func source(_ response: ClientResponse) throws -> any BodySource {
        guard case .stream(let source) = response.body else { throw NotStreamed() }
        return source
    }

    private struct NotStreamed: Error {}

    // MARK: The regular course

    @Test func deliversTheHeadBeforeTheBodyAndLastsUntilItsEnd() throws {
        let harness = try harness(sending: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-A: b\r\n\r\n")
        let response = try response(harness)
        #expect(response.status == .ok && "\(response.fields["X-A"] ?? "")" == "b")
        let source = try source(response)
        #expect(source.framing == .length(4))
        let sink = RecordingSink()
        source.startDelivery(to: sink)
        harness.backend.peers[0].send("ab")
        harness.advance(by: .milliseconds(1))
        #expect(sink.text == "ab" && sink.outcome == nil)
        #expect(harness.counts == "1 in flight, 0 idle, 1 open")
        harness.backend.peers[0].send("cd")
        harness.advance(by: .milliseconds(1))
        #expect(sink.text == "abcd" && sink.outcome == "ended")
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        harness.expectQuiet()
    }

    @Test func nextCallReusesTheConnectionAfterTheBody() throws {
        let harness = try harness(sending: Self.chunkedHead)
        for _ in 0..<3 {
            let sink = RecordingSink()
            try source(response(harness)).startDelivery(to: sink)
            harness.backend.peers[0].send("2\r\nhi\r\n0\r\n\r\n")
            harness.advance(by: .milliseconds(1))
            #expect(sink.text == "hi" && sink.outcome == "ended")
        }
        #expect(harness.backend.log == ["1.1 /", "1.2 /", "1.3 /"])
        harness.expectQuiet()
    }

    /// The pool may lease the connection while the buffered body still waits for its sink.
    @Test func bufferedBodyFreesTheConnectionBeforeItsDelivery() throws {
        let harness = try harness(sending: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        let first = try source(response(harness))
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        let second = try source(response(harness))
        #expect(harness.backend.log == ["1.1 /", "1.2 /"])
        let sinks = [RecordingSink(), RecordingSink()]
        first.startDelivery(to: sinks[0])
        second.startDelivery(to: sinks[1])
        #expect(sinks.map(\.pieces) == [0, 0], "not from inside the call")
        harness.advance(by: .milliseconds(1))
        #expect(sinks.map(\.text) == ["hi", "hi"])
        #expect(sinks.map(\.outcome) == ["ended", "ended"])
        // The connection is read again while it idles.
        harness.backend.peers[0].stream.close()
        harness.advance(by: .milliseconds(1))
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    @Test func completeBodyIsTakenAsAWhole() throws {
        let harness = try harness(sending: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        for _ in 0..<2 {
            let source = try source(response(harness))
            #expect(source.takeComplete() == Bytes("hi"))
            let sink = RecordingSink()
            source.startDelivery(to: sink)
            source.cancel()
            harness.advance(by: .milliseconds(1))
            #expect(source.takeComplete() == nil && sink.pieces == 0 && sink.outcome == nil)
            #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        }
        #expect(harness.backend.log == ["1.1 /", "1.2 /"])
        harness.expectQuiet()
    }

    /// A part of a body, one of unknown length, whose framing would change, and one that a sink has
    /// taken.
    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi",
        chunkedHead + "2\r\nhi\r\n0\r\n\r\n",
        chunkedHead + "2\r\nhi\r\n0\r\nX-Sum: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
    ])
    func anyOtherBodyIsDelivered(_ text: String) throws {
        let harness = try harness(sending: text)
        let source = try source(response(harness))
        let sink = RecordingSink()
        if text.contains(": 2\r\n") { source.startDelivery(to: sink) }
        #expect(source.takeComplete() == nil)
        if !text.contains(": 2\r\n") { source.startDelivery(to: sink) }
        harness.advance(by: .milliseconds(1))
        #expect(sink.text == "hi")
        source.cancel()
        harness.expectQuiet()
    }

    @Test(
        arguments: [
            (.head, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 5),
            (.get, "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 5),
            (.head, "HTTP/1.1 200 OK\r\n\r\n", -1), (.get, "HTTP/1.1 304 Not Modified\r\n\r\n", -1),
            (.get, "HTTP/1.1 204 No Content\r\n\r\n", 0),
            (.get, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0),
        ] as [(HTTP.Method, String, Int)])
    func responseWithoutContentIsNoStream(
        _ method: HTTP.Method, _ text: String, _ length: Int
    ) throws {
        let harness = try harness(sending: text)
        for isStreaming in [true, false] {
            let request = ClientRequest(method)
            let response =
                isStreaming ? harness.pool.sendStreaming(request) : harness.pool.send(request)
            harness.advance(by: .milliseconds(10))
            switch try #require(response.value).body {
            case .bytes(let bytes): #expect(bytes.isEmpty && length == 0)
            case .described(let stated): #expect(stated == (length < 0 ? nil : length))
            case .stream, .tunnel: Issue.record("a stream without content")
            }
        }
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        harness.expectQuiet()
    }

    @Test(arguments: [[1000], [1], [3, 1]])
    func deliversTrailersWithTheEndOfTheBody(sizes: [Int]) throws {
        let harness = try harness(
            sending: Self.chunkedHead + "2\r\nhi\r\n0\r\nX-A: 1\r\nx-b:  two \r\n\r\n")
        harness.network.settings.split = .sizes(sizes)
        let sink = RecordingSink()
        try source(response(harness)).startDelivery(to: sink)
        harness.advance(by: .milliseconds(10))
        #expect(sink.text == "hi" && sink.outcome == "ended")
        #expect(
            sink.trailers.map { "\(String($0.name))=\(String($0.value))" } == ["X-A=1", "x-b=two"])
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        harness.expectQuiet()
    }

    /// A complete response has them as well where its call uses them (RFC 9110 6.5).
    @Test(arguments: [[1000], [1], [3, 1]], [true, false])
    func completeResponseHasTrailers(sizes: [Int], keepsTrailers: Bool) throws {
        let harness = try harness(
            sending: Self.chunkedHead + "2\r\nhi\r\n0\r\nX-A: 1\r\nx-b:  two \r\n\r\n")
        harness.network.settings.split = .sizes(sizes)
        let promise = harness.pool.send(ClientRequest(.get, keepsTrailers: keepsTrailers))
        harness.advance(by: .milliseconds(10))
        let response = try #require(promise.value)
        #expect(response.content == Bytes("hi") && !response.fields.contains("X-A"))
        #expect(
            response.trailers.map { "\(String($0.name))=\(String($0.value))" }
                == (keepsTrailers ? ["X-A=1", "x-b=two"] : []))
        harness.expectQuiet()
    }

    @Test func completeResponseWithoutTrailersHasNone() throws {
        let harness = try harness(sending: Self.chunkedHead + "2\r\nhi\r\n0\r\n\r\n")
        let promise = harness.pool.send(ClientRequest(.get))
        harness.advance(by: .milliseconds(10))
        let response = try #require(promise.value)
        #expect(response.content == Bytes("hi") && response.trailers.isEmpty)
        harness.expectQuiet()
    }

    // MARK: Back-pressure

    @Test func pausedSinkStopsReadingFromTheConnection() throws {
        let harness = try harness(sending: "HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n")
        harness.network.settings.windowBytes = 10_000
        harness.network.settings.split = .sizes([1000])
        let source = try source(response(harness))
        let sink = RecordingSink()
        sink.onPiece = { if $0.received.count == 5000 { source.pause() } }
        source.startDelivery(to: sink)
        let peer = harness.backend.peers[0]
        peer.send(String(repeating: "x", count: 400_000))
        harness.advance(by: .seconds(60))
        #expect(sink.received.count == 5000)
        #expect(peer.stream.unsentBytes >= 400_000 - 5000 - 1000 - 10_000)
        source.resume()
        harness.advance(by: .seconds(60))
        #expect(sink.received.count == 400_000 && sink.outcome == "ended")
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        harness.expectQuiet()
    }

    @Test func connectionIsNotReadBeforeTheDeliveryStarts() throws {
        let harness = try harness(sending: "HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n")
        harness.network.settings.windowBytes = 10_000
        harness.network.settings.split = .sizes([1000])
        let source = try source(response(harness))
        let peer = harness.backend.peers[0]
        peer.send(String(repeating: "x", count: 400_000))
        harness.advance(by: .seconds(60))
        #expect(peer.stream.unsentBytes >= 400_000 - 1000 - 10_000)
        let sink = RecordingSink()
        source.startDelivery(to: sink)
        harness.advance(by: .seconds(60))
        #expect(sink.received.count == 400_000 && sink.outcome == "ended")
        harness.expectQuiet()
    }

    @Test func deliversNothingWhilePaused() throws {
        let harness = try harness(
            sending: Self.chunkedHead + "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n")
        let source = try source(response(harness))
        let sink = RecordingSink()
        source.startDelivery(to: sink)
        source.pause()
        harness.advance(by: .seconds(1))
        #expect(sink.pieces == 0)
        source.resume()
        #expect(sink.pieces == 0, "not from inside the call")
        harness.advance(by: .milliseconds(1))
        #expect(sink.text == "abc" && sink.outcome == "ended")
        harness.expectQuiet()
    }

    /// Random splits, pauses and sizes; the received bytes must equal the sent ones.
    @Test(arguments: [UInt64](1...40))
    func everyByteArrivesOnceAndInOrder(seed: UInt64) throws {
        let chance = Entropy(seed: seed &* 6007)
        let harness = try harness(seed: seed)
        harness.network.settings.split = .random
        harness.network.settings.windowBytes = 1 + chance.below(4000)
        for _ in 0..<4 {
            let body = (0..<chance.below(20_000)).map { _ in UInt8(chance.below(256)) }
            let isChunked = chance.chance(oneIn: 2)
            var message: [UInt8] = []
            message.append(
                isChunked
                    ? Self.chunkedHead
                    : "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
            if isChunked {
                var chunks = TextBuffer()
                var rest = body[...]
                while !rest.isEmpty {
                    let chunk = Array(rest.prefix(1 + chance.below(3000)))
                    chunks.append(chunk: chunk.span)
                    rest = rest.dropFirst(chunk.count)
                }
                chunks.appendLastChunk()
                message.append(copying: chunks.span)
            } else {
                message += body
            }
            let sent = message
            harness.backend.script = { $0.peer.stream.write(sent.span) }
            let response = try response(harness)
            guard case .stream(let source) = response.body else {
                #expect(body.isEmpty && !isChunked)
                continue
            }
            let sink = RecordingSink()
            sink.onPiece = { [loop = harness.loop] _ in
                guard chance.chance(oneIn: 3) else { return }
                source.pause()
                loop.timer(after: .microseconds(chance.below(2000))) { source.resume() }
            }
            harness.advance(by: .microseconds(chance.below(3000)))
            source.startDelivery(to: sink)
            harness.network.run(until: { sink.outcome != nil })
            #expect(sink.outcome == "ended" && sink.received == body, "seed \(seed)")
            harness.advance(by: .milliseconds(10))
            #expect(harness.counts == "0 in flight, 1 idle, 1 open", "seed \(seed)")
        }
        #expect(harness.backend.connections == 1)
        harness.expectQuiet()
    }

    // MARK: Cancellation

    @Test func cancelClosesTheConnectionAndEndsDelivery() throws {
        let harness = try harness(sending: Self.chunkedHead + "2\r\nhi\r\n")
        let source = try source(response(harness))
        let sink = RecordingSink()
        source.startDelivery(to: sink)
        harness.advance(by: .milliseconds(1))
        #expect(sink.text == "hi")
        source.cancel()
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.backend.peers[0].send("2\r\nho\r\n0\r\n\r\n")
        harness.advance(by: .milliseconds(1))
        #expect(sink.text == "hi" && sink.outcome == nil)
        #expect(harness.backend.peers[0].hasEnded)
        harness.expectQuiet()
    }

    @Test func sinkMayCancelFromInsideAPiece() throws {
        let harness = try harness(
            sending: Self.chunkedHead + "1\r\na\r\n1\r\nb\r\n0\r\n\r\n")
        harness.network.settings.split = .sizes([Self.chunkedHead.utf8.count, 1000])
        let source = try source(response(harness))
        let sink = RecordingSink()
        sink.onPiece = { _ in source.cancel() }
        source.startDelivery(to: sink)
        harness.advance(by: .milliseconds(1))
        #expect(sink.text == "a" && sink.outcome == nil)
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    @Test func cancelAfterTheEndKeepsTheConnection() throws {
        let harness = try harness(sending: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        let source = try source(response(harness))
        let sink = RecordingSink()
        source.startDelivery(to: sink)
        source.cancel()
        harness.advance(by: .milliseconds(1))
        #expect(sink.pieces == 0 && sink.outcome == nil)
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        harness.expectQuiet()
    }

    @Test func droppedSourceClosesTheConnection() throws {
        let harness = try harness(sending: Self.chunkedHead)
        var response: ClientResponse? = try self.response(harness)
        #expect(response != nil && harness.counts == "1 in flight, 0 idle, 1 open")
        response = nil
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    @Test func cancelledPromiseClosesTheConnectionBeforeTheHead() throws {
        let harness = try harness()
        let promise = harness.pool.sendStreaming(ClientRequest())
        harness.advance(by: .milliseconds(10))
        promise.cancel()
        harness.advance(by: .milliseconds(1))
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    /// Dropped while the head is on its way from the promise to its handlers.
    @Test func promiseDroppedWithTheHeadClosesTheConnection() throws {
        let harness = try harness(sending: Self.chunkedHead)
        do {
            let promise = harness.pool.sendStreaming(ClientRequest()).map { $0.status }
            harness.advance(by: .milliseconds(10))
            #expect(promise.value == .ok)
        }
        harness.advance(by: .milliseconds(1))
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    /// Calls that are cancelled, dropped, paused and truncated at random moments: each sink gets a
    /// prefix of its own body, all of it if the body ended, and no connection stays open.
    @Test(arguments: [UInt64](1...40))
    func randomEndingsLeaveNothingOpen(seed: UInt64) throws {
        let chance = Entropy(seed: seed &* 4241)
        let harness = try harness(seed: seed)
        harness.network.settings.split = .random
        harness.network.settings.windowBytes = 500
        harness.backend.script = { exchange in
            let body = exchange.path + String(repeating: "x", count: 3000)
            let isLong = chance.chance(oneIn: 4)
            let length = body.utf8.count + (isLong ? 1 : 0)
            exchange.peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n\(body)")
            guard isLong, chance.chance(oneIn: 2) else { return }
            exchange.after(.microseconds(chance.below(20_000))) { exchange.peer.stream.close() }
        }
        var calls: [(promise: LocalPromise<Void>, sink: RecordingSink, path: String)] = []
        var sources: [any BodySource] = []
        for number in 0..<60 {
            let (path, sink) = ("/\(number)", RecordingSink())
            let promise = harness.pool.sendStreaming(ClientRequest(.get, path)).map { response in
                guard case .stream(let source) = response.body, !chance.chance(oneIn: 5) else {
                    return  // dropped
                }
                sources.append(source)
                let isCancelling = chance.chance(oneIn: 4)
                sink.onPiece = { [loop = harness.loop] _ in
                    if isCancelling, chance.chance(oneIn: 5) { return source.cancel() }
                    guard chance.chance(oneIn: 4) else { return }
                    source.pause()
                    loop.timer(after: .microseconds(chance.below(3000))) { source.resume() }
                }
                source.startDelivery(to: sink)
            }
            calls.append((promise, sink, path))
            if chance.chance(oneIn: 8) { calls[chance.below(calls.count)].promise.cancel() }
            harness.advance(by: .microseconds(chance.below(2000)))
        }
        harness.advance(by: .seconds(5))
        for source in sources { source.cancel() }
        harness.advance(by: .milliseconds(10))
        #expect(harness.pool.inFlight == 0, "seed \(seed)")
        for (_, sink, path) in calls {
            let body = path + String(repeating: "x", count: 3000)
            #expect(body.hasPrefix(sink.text), "seed \(seed): \(path)")
            if sink.outcome == "ended" { #expect(sink.text == body) }
        }
        #expect(calls.contains { $0.sink.outcome == "ended" })
        harness.expectQuiet()
    }

    // MARK: Failures

    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", chunkedHead + "5\r\n"])
    func truncatedBodyDeliversItsBytesAndFails(_ head: String) throws {
        for isReset in [false, true] {
            let harness = try harness(sending: head + "hi")
            let source = try source(response(harness))
            let sink = RecordingSink()
            source.startDelivery(to: sink)
            harness.advance(by: .milliseconds(1))
            if isReset {
                (harness.backend.peers[0].stream as? SimStream)?.reset()
            } else {
                harness.backend.peers[0].stream.close()
            }
            harness.advance(by: .milliseconds(1))
            #expect(sink.text == "hi" && sink.outcome == "responseIncomplete")
            #expect(harness.counts == "0 in flight, 0 idle, 0 open")
            harness.expectQuiet()
        }
    }

    @Test func bodyUntilCloseEndsWithTheConnection() throws {
        let harness = try harness(sending: "HTTP/1.1 200 OK\r\n\r\nhi")
        let source = try source(response(harness))
        #expect(source.framing == .untilClose)
        let sink = RecordingSink()
        source.startDelivery(to: sink)
        harness.advance(by: .milliseconds(1))
        #expect(sink.text == "hi" && sink.outcome == nil)
        harness.backend.peers[0].stream.close()
        harness.advance(by: .milliseconds(1))
        #expect(sink.outcome == "ended" && harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    @Test func malformedChunkFailsTheBodyAndClosesTheConnection() throws {
        let harness = try harness(sending: Self.chunkedHead + "2\r\nhi\r\nzz\r\n")
        let sink = RecordingSink()
        try source(response(harness)).startDelivery(to: sink)
        harness.advance(by: .milliseconds(1))
        #expect(sink.text == "hi" && sink.outcome == "protocolError")
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    @Test func bytesBehindTheBodyRetireTheConnection() throws {
        let harness = try harness(sending: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi!")
        let sink = RecordingSink()
        try source(response(harness)).startDelivery(to: sink)
        harness.advance(by: .milliseconds(1))
        #expect(sink.text == "hi" && sink.outcome == "ended")
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    @Test func reusedConnectionThatBreaksBeforeTheHeadIsReplaced() throws {
        let harness = try PoolHarness { exchange in
            exchange.turn == 1
                ? exchange.peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
                : exchange.peer.stream.close()
        }
        for _ in 0..<2 {
            let sink = RecordingSink()
            try source(response(harness)).startDelivery(to: sink)
            harness.advance(by: .milliseconds(1))
            #expect(sink.text == "hi" && sink.outcome == "ended")
        }
        #expect(harness.backend.log == ["1.1 /", "1.2 /", "2.1 /"])
        harness.expectQuiet()
    }

    @Test func failureBeforeTheHeadRejectsThePromise() throws {
        let harness = try harness(sending: "nonsense\r\n\r\n")
        let sent = SentRequest(harness.pool.sendStreaming(ClientRequest()))
        #expect(harness.outcome(of: sent) == "protocolError")
        harness.expectQuiet()
    }

    @Test func waitingCallGetsTheConnectionWhenTheBodyEnds() throws {
        var settings = PoolSettings()
        settings.maxConnections = 1
        let harness = try PoolHarness(settings) { exchange in
            exchange.path == "/a"
                ? exchange.peer.send(Self.chunkedHead) : exchange.respond(exchange.path)
        }
        let streamed = harness.pool.sendStreaming(ClientRequest(.get, "/a"))
        let waiting = harness.send(.get, "/b")
        harness.advance(by: .milliseconds(10))
        let sink = RecordingSink()
        try source(#require(streamed.value)).startDelivery(to: sink)
        harness.advance(by: .milliseconds(10))
        #expect(waiting.outcome == nil)
        harness.backend.peers[0].send("0\r\n\r\n")
        harness.advance(by: .milliseconds(10))
        #expect(sink.outcome == "ended" && waiting.outcome == "200 /b")
        #expect(harness.backend.log == ["1.1 /a", "1.2 /b"])
        harness.expectQuiet()
    }
}
