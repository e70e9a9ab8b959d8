import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// Requests whose body is sent while it arrives from its source.
@Suite struct StreamedRequestTests {
    /// Sends a request and lets it reach the backend.
    private func send(_ harness: PoolHarness, _ source: ScriptedSource) -> SentRequest {
        let sent = SentRequest(
            harness.pool.send(ClientRequest(.post, "/up", body: .stream(source))))
        harness.advance(by: .milliseconds(10))
        return sent
    }

    @Test func chunkedBodyReachesTheBackendAndTheConnectionIsReused() throws {
        var texts: [String] = []
        let harness = try PoolHarness { exchange in
            texts.append(exchange.request.text)
            exchange.respond("ok")
        }
        for _ in 0..<2 {
            let source = ScriptedSource(.chunked)
            let sent = send(harness, source)
            source.deliver("hello")
            harness.advance(by: .milliseconds(1))
            source.deliver(String(repeating: "x", count: 20))
            #expect(sent.outcome == nil)
            source.end()
            #expect(harness.outcome(of: sent) == "200 ok")
            #expect(!source.isCancelled)
        }
        #expect(
            texts
                == Array(
                    repeating:
                        "POST /up HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "5\r\nhello\r\n14\r\n\(String(repeating: "x", count: 20))\r\n0\r\n\r\n",
                    count: 2))
        #expect(harness.backend.connections == 1)
        harness.expectQuiet()
    }

    @Test func bodyOfKnownLengthIsSentUnchanged() throws {
        var text = ""
        let harness = try PoolHarness { exchange in
            text = exchange.request.text
            exchange.respond("ok")
        }
        let source = ScriptedSource(.length(5))
        let sent = send(harness, source)
        source.deliver("he")
        source.deliver("llo")
        source.end()
        #expect(harness.outcome(of: sent) == "200 ok")
        #expect(text == "POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        harness.expectQuiet()
    }

    @Test func slowBackendPausesTheSource() throws {
        let harness = try PoolHarness()
        harness.network.settings.windowBytes = 10_000
        harness.backend.onAccept = { $0.stream.pauseReading() }
        let source = ScriptedSource(.length(200_000))
        let sent = send(harness, source)
        source.deliver(String(repeating: "x", count: 50_000))
        harness.advance(by: .milliseconds(10))
        #expect(!source.isPaused, "less than the limit waits")
        source.deliver(String(repeating: "x", count: 50_000))
        harness.advance(by: .milliseconds(10))
        #expect(source.isPaused)
        harness.backend.peers[0].stream.resumeReading()
        harness.advance(by: .milliseconds(100))
        #expect(!source.isPaused)
        source.deliver(String(repeating: "x", count: 100_000))
        source.end()
        #expect(harness.outcome(of: sent) == "200 /up")
        harness.expectQuiet()
    }

    /// The rest of the body would be read as the next request.
    @Test func responseBeforeTheEndOfTheBodyIsTheLastOfItsConnection() throws {
        let harness = try PoolHarness()
        let source = ScriptedSource(.chunked)
        let sent = send(harness, source)
        source.deliver("begin")
        harness.advance(by: .milliseconds(1))
        harness.backend.peers[0].send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        #expect(harness.outcome(of: sent) == "413 ")
        #expect(source.isCancelled)
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    @Test func failedSourceFailsTheCallAndClosesTheConnection() throws {
        struct Gone: Error {}
        let harness = try PoolHarness()
        let source = ScriptedSource(.chunked)
        let sent = send(harness, source)
        source.deliver("begin")
        harness.advance(by: .milliseconds(1))
        source.fail(Gone())
        #expect(harness.outcome(of: sent) == "Gone")
        harness.advance(by: .milliseconds(1))
        #expect(harness.backend.peers[0].hasEnded)
        #expect(!harness.backend.peers[0].text.hasSuffix("0\r\n\r\n"), "never looks complete")
        #expect(harness.backend.log == [])
        harness.expectQuiet()
    }

    @Test(arguments: ["1234567", "123"])
    func bodyOfWrongLengthFailsTheCall(_ text: String) throws {
        let harness = try PoolHarness()
        let source = ScriptedSource(.length(5))
        let sent = send(harness, source)
        source.deliver(text)
        source.end()
        #expect(harness.outcome(of: sent) == "WrongLength")
        harness.advance(by: .milliseconds(1))
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        #expect(harness.backend.log == [])
        harness.expectQuiet()
    }

    @Test func cancelledCallCancelsTheSource() throws {
        let harness = try PoolHarness()
        let source = ScriptedSource(.chunked)
        let sent = send(harness, source)
        source.deliver("begin")
        sent.cancel()
        harness.advance(by: .milliseconds(1))
        #expect(source.isCancelled)
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    /// A complete request would be resent on a new connection; see `ResendTests`.
    @Test func streamedRequestIsNeverSentTwice() throws {
        let harness = try PoolHarness { exchange in exchange.respond(exchange.path) }
        #expect(harness.outcome(.get, "/a") == "200 /a")
        let source = ScriptedSource(.chunked)
        let sent = SentRequest(harness.pool.send(ClientRequest(.put, "/b", body: .stream(source))))
        harness.advance(by: .milliseconds(10))
        harness.backend.peers[0].stream.close()
        #expect(harness.outcome(of: sent) == "connectionTerminated")
        #expect(source.isCancelled && harness.backend.connections == 1)
        harness.expectQuiet()
    }

    /// Data that arrived before the head was sent is not a response to it, even while pieces of the
    /// body are written.
    @Test func unsolicitedDataIsNoResponse() throws {
        let harness = try PoolHarness()
        #expect(harness.outcome(.get, "/a") == "200 /a")
        let latency = harness.network.settings.latency.upperBound
        harness.backendLoop.timer(after: .zero) { [peer = harness.backend.peers[0]] in
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong")
        }
        harness.network.advance(by: latency / 2)
        let source = ScriptedSource(.chunked)
        var sent: SentRequest?
        harness.loop.timer(after: latency / 2) { [unowned harness] in
            sent = SentRequest(harness.pool.send(ClientRequest(.post, "/b", body: .stream(source))))
            source.deliver("body")
        }
        harness.network.run(until: { sent?.outcome != nil })
        #expect(sent?.outcome == "protocolError")
        #expect(harness.backend.log == ["1.1 /a"])
        harness.expectQuiet()
    }

    /// The head was sent with an earlier piece, and a later one is still buffered.
    @Test func acceptsAResponseWhileAPieceIsBuffered() throws {
        let harness = try PoolHarness()
        let source = ScriptedSource(.chunked)
        let sent = send(harness, source)
        let latency = harness.network.settings.latency.upperBound
        harness.backendLoop.timer(after: .zero) { [peer = harness.backend.peers[0]] in
            peer.send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
        }
        harness.network.advance(by: latency / 2)
        harness.loop.timer(after: latency / 2) { source.deliver("body") }
        #expect(harness.outcome(of: sent) == "403 ")
        #expect(source.isCancelled)
        harness.expectQuiet()
    }
}
