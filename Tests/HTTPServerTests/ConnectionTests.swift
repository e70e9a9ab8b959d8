import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import Testing

@testable import HTTPServer

/// Requests and responses on one connection, in virtual time.
@Suite struct ConnectionTests {
    @Test func servesManyRequestsInOrder() throws {
        let harness = try ServerHarness()
        let text = (1...50).map { get("/\($0)") }.joined()
        let expected = (1...50).map { "200 /\($0)" }.joined(separator: " | ")
        #expect(try harness.responses(to: text) == expected)
        #expect(harness.log.count == 50 && harness.log[0] == "GET /1 200 2")
    }

    @Test func servesOnePipelinedRequestAtATime() throws {
        let harness = try ServerHarness(service: ServerHarness.deferred)
        let peer = try harness.connect()
        peer.send(get("/1") + get("/2"))
        harness.advance()
        #expect(harness.requests.count == 1)
        harness.respond("one")
        harness.advance()
        #expect(harness.requests.count == 2)
        harness.respond("two")
        harness.advance()
        #expect(summary(of: peer) == "200 one | 200 two")
    }

    /// The rest of its requests waits for the next iteration of the loop.
    @Test(arguments: [false, true])
    func ignoresTheTimerOfAClosedConnection(isEnded: Bool) throws {
        var settings = ServerSettings()
        settings.requestsPerIteration = 1
        let harness = try ServerHarness(settings) { harness, _, exchange in
            // Due before the connection's own timer.
            if isEnded, harness.requests.count == 1 {
                harness.serverLoop.timer(after: .zero) { harness.endServer() }
            }
            return exchange.local.value(Response(status: .ok))
        }
        let peer = try harness.connect()
        peer.send(get("/1") + get("/2"))
        harness.advance()
        #expect(harness.requests.count == (isEnded ? 1 : 2))
    }

    private static let exchanges: [(String, String)] = [
        (get("/", "Connection: close\r\n") + get("/2"), "200 close /!"),
        ("GET /1 HTTP/1.0\r\n\r\n" + get("/2"), "200 close /1!"),
        ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + get("/2"), "200 / | 200 /2"),
        (get("/1") + "BAD BAD BAD\r\n\r\n" + get("/2"), "200 /1 | 400 close!"),
        (post("Content-Length: 5\r\n", "hello") + "\r\n" + get("/2"), "200 / | 200 /2"),
        (post("Transfer-Encoding: chunked\r\n", "0\r\n\r\n") + get("/2"), "200 / | 200 /2"),
        (post("Transfer-Encoding: gzip\r\n"), "501 close!"),
        (get("/" + String(repeating: "a", count: 9000)), "414 close!"),
        (get("/", "X: " + String(repeating: "a", count: 40_000) + "\r\n"), "431 close!"),
        ("GET / HTTP/2.0\r\n\r\n", "505 close!"),
        (get("/", "Expect: magic\r\n"), "417 close!"),
    ]

    @Test(arguments: exchanges)
    func respondsAndKeepsOrClosesTheConnection(_ text: String, _ expected: String) throws {
        #expect(try ServerHarness().responses(to: text) == expected)
    }

    @Test(arguments: UInt64(1)...10)
    func respondsEquallyHoweverTheBytesArrive(seed: UInt64) throws {
        let harness = try ServerHarness(seed: seed, service: ServerHarness.echoBody)
        harness.network.settings.split = .random
        let text =
            get("/1") + post("Content-Length: 5\r\n", "hello")
            + post("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n3;x\r\ndef\r\n0\r\n\r\n")
            + post("Content-Length: 101\r\n", String(repeating: "x", count: 101)) + get("/2")
        #expect(try harness.responses(to: text) == "200 | 200 hello | 200 abcdef | 413 | 200")
    }

    @Test func stopsReadingWhenTheClientSendsTooMuchAhead() throws {
        var settings = ServerSettings()
        settings.readAheadBytes = 1000
        let harness = try ServerHarness(settings, service: ServerHarness.deferred)
        harness.network.settings.windowBytes = 2000
        let peer = try harness.connect()
        peer.send((1...200).map { get("/\($0)") }.joined())
        harness.advance(50)
        #expect(peer.stream.unsentBytes > 0)
        for _ in 1...200 {
            harness.respond()
            harness.advance()
        }
        #expect(harness.requests.count == 200 && peer.stream.unsentBytes == 0)
    }

    @Test func readsAtMost16KiBAhead() throws {
        let harness = try ServerHarness(service: ServerHarness.deferred)
        harness.network.settings.windowBytes = 4096
        harness.network.settings.split = .sizes([64])
        let peer = try harness.connect()
        peer.send(get() + String(repeating: "x", count: 60_000))
        harness.advance(50)
        let ahead = 60_000 - peer.stream.unsentBytes - harness.network.settings.windowBytes
        #expect((16 * 1024..<16 * 1024 + 64).contains(ahead))
        harness.endServer()
    }

    @Test func closesAPipeliningClientThatNeverReads() throws {
        let harness = try ServerHarness()
        harness.network.settings.windowBytes = 4000
        let peer = try harness.connect()
        peer.stream.pauseReading()
        peer.send((1...2000).map { get("/\($0)") }.joined())
        harness.advance(100)
        // The capacity of both kernels, and of the write buffer before it is offered.
        let responseBytes = 120
        #expect(harness.requests.count < (2 * 4000 + WriteBuffering.bytesMax) / responseBytes)
        harness.advance(40_000)
        #expect(harness.server.connectionCount == 0)
    }

    @Test func waitsForASlowReaderAsLongAsItReads() throws {
        let harness = try ServerHarness { _, _, exchange in
            exchange.local.value(
                Response(status: .ok, body: Bytes([UInt8](repeating: 97, count: 1_000_000))))
        }
        harness.network.settings.windowBytes = 40_000
        let peer = try harness.connect()
        peer.send(get("/", "Connection: close\r\n"))
        for _ in 0..<19 {
            peer.stream.pauseReading()
            harness.advance(29_000)
            peer.stream.resumeReading()
            harness.advance(0)
            peer.stream.pauseReading()
            harness.advance(1)
        }
        #expect(harness.server.connectionCount == 1)
        peer.stream.resumeReading()
        harness.advance(1000)
        #expect(peer.received.count > 1_000_000 && peer.hasEnded)
    }

    /// Single bytes are not progress: the client would keep its response open for ever.
    @Test func closesAReaderBelowTheMinimumRate() throws {
        let harness = try ServerHarness { _, _, exchange in
            exchange.local.value(
                Response(status: .ok, body: Bytes([UInt8](repeating: 97, count: 1_000_000))))
        }
        harness.network.settings.windowBytes = 1000
        let peer = try harness.connect()
        peer.send(get())
        for _ in 0..<3 {
            peer.stream.pauseReading()
            harness.advance(9_000)
            peer.stream.resumeReading()
            harness.advance(0)
            peer.stream.pauseReading()
            harness.advance(1)
        }
        #expect(harness.server.connectionCount == 1)
        harness.advance(4_000)
        #expect(harness.server.connectionCount == 0)
        #expect(harness.server.bufferedBytes == 0)
    }

    @Test func cancelsTheRequestOfALostClient() throws {
        let harness = try ServerHarness(service: ServerHarness.deferred)
        let peer = try harness.connect()
        peer.send(get("/1") + get("/2"))
        harness.advance()
        peer.stream.close()
        harness.advance(200)
        #expect(harness.cancelled == [0])
        #expect(harness.log == ["GET /1 499 0"])
        #expect(harness.server.connectionCount == 0 && harness.server.requestsInFlight == 0)
    }

    @Test func clientThatHalfClosesGetsItsResponses() throws {
        let harness = try ServerHarness(service: ServerHarness.deferred)
        let peer = try harness.connect()
        peer.send(get("/1") + get("/2"))
        peer.stream.finishWriting()
        harness.advance(120)
        harness.respond("one")
        harness.advance(20)
        harness.respond("two")
        harness.advance(20)
        let received = summary(of: peer)
        #expect(received == "200 one | 200 two!")
        #expect(harness.server.connectionCount == 0)
    }

    /// A client that has left responds to one of the bytes with a reset.
    @Test func sendsAtMostNineBytesOfAResponseToFindOutWhetherTheClientIsThere() throws {
        let harness = try ServerHarness(service: ServerHarness.deferred)
        let peer = try harness.connect()
        peer.send(get())
        peer.stream.finishWriting()
        harness.advance(60_000)
        #expect(peer.text == "HTTP/1.1 ")
        harness.respond()
        harness.advance()
        #expect(summary(of: peer).hasPrefix("200 ") && peer.hasEnded)
    }

    @Test func sendsNoInterimResponseToHTTP10() throws {
        let harness = try ServerHarness(service: ServerHarness.deferred)
        let peer = try harness.connect()
        peer.send("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok")
        peer.stream.finishWriting()
        harness.advance(500)
        harness.respond("one")
        harness.advance()
        #expect(summary(of: peer) == "200 close one!")
    }

    @Test(arguments: [
        ("", ""), ("\r\n\r\n", ""), ("GET / HT", "400 close"),
        (get().dropLast(2).description, "400 close"),
        (post("Content-Length: 10\r\n", "hello"), "400 close"),
        (post("Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n"), "400 close"),
    ])
    func rejectsARequestThatBreaksOff(_ text: String, _ expected: String) throws {
        let harness = try ServerHarness(service: ServerHarness.echoBody)
        let peer = try harness.connect()
        if !text.isEmpty { peer.send(text) }
        peer.stream.finishWriting()
        harness.advance()
        #expect(summary(of: peer) == expected + "!")
        #expect(harness.server.connectionCount == 0)
    }
}
