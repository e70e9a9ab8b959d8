import Basics
import HTTP
import HTTP2
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// Calls over HTTP/2 whose stream or connection ends early, and what is sent again.
@Suite struct H2FailureTests {
    /// GOAWAY with that last id.
    private static func goAway(_ last: UInt32, _ code: UInt32 = 0) -> H2Frames {
        var frames = H2Frames()
        frames.append(.goAway, on: 0, H2Frames.bigEndian(last) + H2Frames.bigEndian(code))
        return frames
    }

    /// A backend that does this to the first requests, and responds to later ones.
    private func harness(
        _ settings: PoolSettings = H2PoolHarness.settings, times: Int = 1,
        _ fault: @escaping (H2BackendExchange) -> Void
    ) throws -> H2PoolHarness {
        var left = times
        return try H2PoolHarness(settings) { exchange in
            if exchange.path == "/warm" || left == 0 { return exchange.respond("ok") }
            left -= 1
            fault(exchange)
        }
    }

    // MARK: Not processed

    /// RFC 9113 8.7: safe for any method, on another connection.
    @Test(arguments: [HTTP.Method.get, .post])
    func refusedStreamIsSentAgain(_ method: HTTP.Method) throws {
        let harness = try harness { $0.reset(.refusedStream) }
        #expect(harness.outcome(method) == "200 ok")
        #expect(harness.backend.log == ["1 /", "2 /"])
        harness.expectQuiet()
    }

    @Test(arguments: [HTTP.Method.get, .post])
    func requestAboveTheLastIDIsSentAgain(_ method: HTTP.Method) throws {
        let harness = try harness { $0.connection.send(Self.goAway(0)) }
        #expect(harness.outcome(method) == "200 ok")
        #expect(harness.backend.log == ["1 /", "2 /"])
        harness.expectQuiet()
    }

    @Test func isSentAgainThreeTimesAtMost() throws {
        let harness = try harness(times: .max) { $0.reset(.refusedStream) }
        #expect(harness.outcome() == "connectionTerminated")
        #expect(harness.backend.log.count == 4)
        harness.expectQuiet()
    }

    /// A server may end each connection after some requests: the others go to the next one, more
    /// than three times if there are many.
    @Test func connectionsOfFewRequestsServeAllCalls() throws {
        let harness = try H2PoolHarness { exchange in
            guard exchange.id <= 3 else { return }
            exchange.respond("ok")
            if exchange.id == 3 { exchange.connection.send(Self.goAway(3)) }
        }
        let calls = (0..<20).map { harness.send(.post, "/\($0)") }
        harness.advance(by: .seconds(1))
        #expect(calls.allSatisfy { $0.outcome == "200 ok" })
        #expect(harness.backend.connections.count == 10)
        harness.expectQuiet()
    }

    /// GOAWAY without a stream makes no progress, nor does one that announces another.
    @Test(arguments: [0, 0x7FFF_FFFF])
    func connectionsThatServeNothingAreUsedThreeTimesMore(_ last: UInt32) throws {
        let harness = try harness(times: .max) { exchange in
            exchange.connection.send(Self.goAway(last))
            if last > 0 { exchange.connection.send(Self.goAway(0)) }
        }
        #expect(harness.outcome(.post) == "connectionTerminated")
        #expect(harness.backend.log.count == 4)
        harness.expectQuiet()
    }

    /// Streams that the server knows are completed behind GOAWAY, and later calls use another
    /// connection.
    @Test func callsBelowTheLastIDAreCompleted() throws {
        let harness = try harness { exchange in exchange.connection.send(Self.goAway(exchange.id)) }
        let sent = harness.send()
        harness.advance(by: .milliseconds(10))
        #expect(sent.outcome == nil)
        #expect(harness.outcome(.get, "/warm") == "200 ok")
        #expect(harness.backend.connections.count == 2 && harness.backend.openCount == 2)
        harness.backend.connections[0].side.streams[0].respond(body: "late")
        harness.backend.connections[0].flush()
        harness.advance(by: .milliseconds(10))
        #expect(sent.outcome == "200 late" && harness.backend.openCount == 1)
        harness.expectQuiet()
    }

    /// The end of its connection arrives in the same loop iteration.
    @Test func malformedResponseBeforeTheEndIsNotSentAgain() throws {
        let harness = try harness { exchange in
            var frames = H2Frames()
            frames.request([("etag", "no-status")], on: exchange.id)
            exchange.connection.send(frames)
            exchange.connection.peer.stream.finishWriting()
        }
        _ = harness.outcome(.get, "/warm")
        #expect(harness.outcome() == "protocolError")
        #expect(harness.backend.log == ["1 /warm", "1 /"])
        harness.expectQuiet()
    }

    /// The end of a pool does not wait for the acknowledgement of a PING on a connection without calls.
    @Test(arguments: [true, false]) func closedPoolEndsConnectionsThatAreTested(
        _ closesFirst: Bool
    ) throws {
        let harness = try H2PoolHarness { $0.connection.isFrozen = true }
        let sent = harness.send(within: .milliseconds(50))
        harness.advance(by: .milliseconds(40))
        if closesFirst { harness.pool.close() }
        harness.advance(by: .milliseconds(20))
        #expect(sent.outcome == "TimedOut")
        #expect(harness.pool.connections == (closesFirst ? 0 : 1))
        if !closesFirst { harness.pool.close() }
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    @Test func idleConnectionEndsWithGoAway() throws {
        let harness = try harness { _ in }
        _ = harness.outcome(.get, "/warm")
        harness.backend.connections[0].send(Self.goAway(1))
        harness.advance(by: .milliseconds(10))
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    /// A server that refuses streams gets no more at once than it has accepted.
    @Test func refusalsLimitTheStreams() throws {
        var settings = H2PoolHarness.settings
        settings.http2.maxConnections = 1
        let harness = try H2PoolHarness(settings) { exchange in
            let open = exchange.connection.side.session.streams.count
            if open > 5 { exchange.reset(.refusedStream) }
        }
        let sent = (1...8).map { harness.send(.get, "/\($0)") }
        harness.advance(by: .milliseconds(10))
        let connection = harness.backend.connections[0]
        #expect(connection.count(.headers) == 8 && sent.allSatisfy { $0.outcome == nil })
        // The others wait for a free stream.
        for recorder in connection.side.streams.prefix(5) { recorder.respond(body: "ok") }
        connection.flush()
        harness.advance(by: .milliseconds(10))
        #expect(connection.count(.headers) == 11)
        for recorder in connection.side.streams.suffix(3) { recorder.respond(body: "ok") }
        connection.flush()
        harness.advance(by: .milliseconds(10))
        #expect(sent.allSatisfy { $0.outcome == "200 ok" })
        #expect(harness.backend.connections.count == 1)
        harness.expectQuiet()
    }

    /// A backend that refuses streams no more gets as many as before.
    @Test func refusalsAreForgotten() throws {
        var settings = H2PoolHarness.settings
        settings.http2.maxConnections = 1
        var mayRefuse = true
        let harness = try H2PoolHarness(settings) { exchange in
            let open = exchange.connection.side.session.streams.count
            if mayRefuse, open > 2 { exchange.reset(.refusedStream) }
        }
        let sent = (1...6).map { harness.send(.get, "/\($0)") }
        harness.advance(by: .milliseconds(10))
        mayRefuse = false
        let connection = harness.backend.connections[0]
        harness.advance(by: .milliseconds(9900))
        #expect(connection.count(.headers) == 6 && connection.side.session.streams.count == 2)
        harness.advance(by: .milliseconds(100))
        #expect(connection.count(.headers) == 10 && connection.side.session.streams.count == 6)
        for call in sent { call.cancel() }
        harness.expectQuiet()
    }

    // MARK: Lost connections

    @Test func idempotentRequestIsSentAgainAfterALostReusedConnection() throws {
        let harness = try harness { $0.connection.peer.stream.close() }
        _ = harness.outcome(.get, "/warm")
        #expect(harness.outcome() == "200 ok")
        #expect(harness.backend.log == ["1 /warm", "1 /", "2 /"])
        harness.expectQuiet()
    }

    @Test func isSentAgainOnce() throws {
        let harness = try harness(times: .max) { $0.connection.peer.stream.close() }
        _ = harness.outcome(.get, "/warm")
        #expect(harness.outcome() == "connectionTerminated")
        #expect(harness.backend.log == ["1 /warm", "1 /", "2 /"])
        harness.expectQuiet()
    }

    @Test func otherRequestIsNotSentAgain() throws {
        let harness = try harness { $0.connection.peer.stream.close() }
        _ = harness.outcome(.get, "/warm")
        #expect(harness.outcome(.post) == "connectionTerminated")
        #expect(harness.backend.log == ["1 /warm", "1 /"])
        harness.expectQuiet()
    }

    @Test func requestOnANewConnectionIsNotSentAgain() throws {
        let harness = try harness { $0.connection.peer.stream.close() }
        #expect(harness.outcome() == "connectionTerminated")
        harness.expectQuiet()
    }

    @Test(arguments: [true, false])
    func endDuringTheResponseIsIncomplete(_ closes: Bool) throws {
        let harness = try harness { exchange in
            var frames = H2Frames()
            frames.request([(":status", "200")], on: exchange.id, endsStream: false)
            if !closes { frames.reset(2, on: exchange.id) }
            exchange.connection.send(frames)
            if closes { exchange.connection.peer.stream.close() }
        }
        _ = harness.outcome(.get, "/warm")
        #expect(harness.outcome() == "responseIncomplete")
        harness.expectQuiet()
    }

    // MARK: Resets

    @Test(arguments: [H2Code.cancel, .internalError, .noError])
    func resetBeforeTheResponseTerminates(_ code: H2Code) throws {
        let harness = try harness { $0.reset(code) }
        #expect(harness.outcome() == "connectionTerminated")
        #expect(harness.outcome() == "200 ok")
        #expect(harness.backend.connections.count == 1)
        harness.expectQuiet()
    }

    @Test func requiredHTTP1IsAProtocolError() throws {
        let harness = try harness { $0.reset(.http11Required) }
        #expect(harness.outcome() == "protocolError")
        harness.expectQuiet()
    }

    /// No new connection for a second; the open one is used.
    @Test func calmStopsNewConnections() throws {
        let harness = try harness { exchange in
            exchange.connection.send(Self.goAway(exchange.id, 0xB))
            exchange.connection.peer.stream.close()
        }
        #expect(harness.outcome(.post) == "connectionTerminated")
        let refused = harness.send()
        harness.advance(by: .milliseconds(10))
        #expect(refused.outcome == "connectionTerminated" && harness.backend.connections.count == 1)
        harness.advance(by: .seconds(1))
        #expect(harness.outcome() == "200 ok")
        harness.expectQuiet()
    }

    // MARK: Malformed

    /// The stream fails; the others are completed, and the connection gets no more calls.
    @Test func malformedResponseEndsItsCall() throws {
        let harness = try H2PoolHarness { exchange in
            guard exchange.path == "/bad" else { return }
            var frames = H2Frames()
            frames.request([(":status", "200"), ("connection", "close")], on: exchange.id)
            exchange.connection.send(frames)
        }
        let good = harness.send(.get, "/good")
        let bad = harness.send(.get, "/bad")
        harness.advance(by: .milliseconds(10))
        #expect(bad.outcome == "protocolError" && good.outcome == nil)
        harness.backend.connections[0].side.streams[0].respond(body: "ok")
        harness.backend.connections[0].flush()
        harness.advance(by: .milliseconds(10))
        #expect(good.outcome == "200 ok" && harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    @Test func brokenProtocolFailsAllCalls() throws {
        let harness = try harness { exchange in
            var frames = H2Frames()
            frames.append(.data, on: 0, [1])
            exchange.connection.send(frames)
        }
        let sent = (1...3).map { harness.send(.get, "/\($0)") }
        harness.advance(by: .milliseconds(10))
        #expect(sent.allSatisfy { $0.outcome == "protocolError" })
        #expect(harness.backend.connections[0].count(.goAway) == 1)
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    @Test func manyInterimResponsesAreAProtocolError() throws {
        let harness = try harness { exchange in
            var frames = H2Frames()
            for _ in 0..<17 {
                frames.request([(":status", "103")], on: exchange.id, endsStream: false)
            }
            exchange.connection.send(frames)
        }
        #expect(harness.outcome() == "protocolError")
        harness.expectQuiet()
    }

    @Test func backendOfHTTP1IsAProtocolError() throws {
        let harness = try harness { _ in }
        harness.backend.onAccept = { connection in
            connection.isFrozen = true
            connection.send(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        }
        #expect(harness.outcome() == "protocolError")
        harness.expectQuiet()
    }

    // MARK: Cancellation

    @Test func cancelledCallResetsItsStream() throws {
        let harness = try harness { _ in }
        let sent = harness.send()
        harness.advance(by: .milliseconds(10))
        sent.cancel()
        #expect(harness.outcome() == "200 ok")
        #expect(harness.backend.connections.count == 1)
        #expect(harness.backend.connections[0].count(.reset) == 1)
        harness.expectQuiet()
    }

    @Test func callCancelledInItsIterationIsNotSent() throws {
        let harness = try harness { _ in }
        _ = harness.outcome(.get, "/warm")
        let sent = harness.send()
        sent.cancel()
        harness.advance(by: .milliseconds(10))
        #expect(harness.backend.log == ["1 /warm"])
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        harness.expectQuiet()
    }

    /// To the backend many resets look like an attack.
    @Test func cancellationsAreBounded() throws {
        var settings = H2PoolHarness.settings
        settings.http2.maxStreams = 1000
        let harness = try H2PoolHarness(settings) { exchange in
            if exchange.path == "/warm" { exchange.respond("ok") }
        }
        harness.backend.limits.streams = 1000
        _ = harness.outcome(.get, "/warm")
        let sent = (1...150).map { _ in harness.send() }
        harness.advance(by: .milliseconds(10))
        for call in sent { call.cancel() }
        harness.advance(by: .milliseconds(10))
        let connection = harness.backend.connections[0]
        #expect(connection.count(.reset) == 100)
        #expect(harness.counts == "50 in flight, 0 idle, 1 open")
        // What arrives on the others is ignored, and does not stop the connection.
        for recorder in connection.side.streams.suffix(10) {
            recorder.respond(body: String(repeating: "a", count: 100_000))
        }
        connection.flush()
        #expect(harness.outcome(.get, "/warm") == "200 ok")
        harness.advance(by: .seconds(1))
        #expect(connection.count(.reset) <= 121)
        harness.advance(by: .seconds(4))
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        harness.expectQuiet()
    }
}
