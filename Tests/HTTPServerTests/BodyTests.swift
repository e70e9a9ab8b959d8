import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import Testing

@testable import HTTPServer

/// Bodies are read only when the service requests them.
@Suite struct BodyTests {
    private func harness() throws -> ServerHarness {
        try ServerHarness(service: ServerHarness.echoBody)
    }

    @Test func sendsContinueWhenTheServiceReadsTheBody() throws {
        let harness = try harness()
        let peer = try harness.connect()
        peer.send(post("Content-Length: 5\r\nExpect: 100-continue\r\n"))
        harness.advance()
        #expect(summary(of: peer) == "+100")
        peer.send("hello" + get())
        harness.advance()
        #expect(summary(of: peer) == "+100 | 200 hello | 200")
    }

    @Test func sendsNoContinueForATooLargeBody() throws {
        let text = post("Content-Length: 101\r\nExpect: 100-continue\r\n")
        #expect(try harness().responses(to: text) == "413 close!")
    }

    @Test func neverReadsARequestFromAnUnreadBody() throws {
        let harness = try ServerHarness()
        let peer = try harness.connect()
        let hidden = get("/smuggled")
        peer.send(post("Content-Length: \(hidden.utf8.count)\r\nExpect: 100-continue\r\n"))
        harness.advance()
        peer.send(hidden)
        harness.advance(3000)
        #expect(summary(of: peer) == "200 close /!")
        #expect(harness.requests.count == 1)
    }

    @Test(arguments: [1000, 60_000])
    func discardsASmallUnreadBody(_ size: Int) throws {
        let harness = try ServerHarness()
        let peer = try harness.connect()
        peer.send(post("Content-Length: \(size)\r\n"))
        harness.advance()
        #expect(summary(of: peer) == "200 /")
        peer.send(String(repeating: "x", count: size) + get("/2"))
        harness.advance()
        #expect(summary(of: peer) == "200 / | 200 /2")
    }

    @Test(arguments: [(65_536, "200 / | 200 /2"), (65_537, "200 close /!")])
    func discardsAnUnreadBodyOfAtMost64KiB(_ size: Int, _ expected: String) throws {
        let harness = try ServerHarness()
        let peer = try harness.connect()
        peer.send(post("Content-Length: \(size)\r\n"))
        harness.advance()
        peer.send(String(repeating: "x", count: size) + get("/2"))
        harness.advance(50)
        #expect(summary(of: peer) == expected)
    }

    @Test func closesInsteadOfDiscardingALargeBody() throws {
        let harness = try ServerHarness()
        let peer = try harness.connect()
        peer.send(post("Content-Length: 2000000\r\n"))
        peer.send(String(repeating: "x", count: 2_000_000))
        harness.advance(50)
        #expect(summary(of: peer) == "200 close /!")
        #expect(peer.failures.isEmpty)
    }

    /// Discarding must not stop the reading: otherwise the end of the client is not detected.
    @Test func detectsTheEndOfAClientBehindARejectedLargeBody() throws {
        var settings = ServerSettings()
        settings.requestsInFlight = 0
        let harness = try ServerHarness(settings)
        let peer = try harness.connect()
        peer.send(
            post("Content-Length: 90000\r\n", String(repeating: "x", count: 30_000)))
        harness.advance()
        #expect(summary(of: peer) == "503 close!")
        peer.stream.close()
        harness.advance()
        #expect(harness.server.connectionCount == 0)
    }

    @Test func closesBehindEndlessUnreadChunks() throws {
        let harness = try ServerHarness()
        let chunk = "1000\r\n" + String(repeating: "x", count: 4096) + "\r\n"
        let text = post("Transfer-Encoding: chunked\r\n", String(repeating: chunk, count: 100))
        #expect(try harness.responses(to: text, within: 100) == "200 /!")
    }

    @Test func rejectsABodyThatGrowsTooLarge() throws {
        let chunk = "32\r\n" + String(repeating: "x", count: 50) + "\r\n"
        let text = post("Transfer-Encoding: chunked\r\n", chunk + chunk + chunk + "0\r\n\r\n")
        #expect(try harness().responses(to: text + get()) == "413 | 200")
    }

    @Test func rejectsAMalformedBody() throws {
        let harness = try harness()
        let text = post("Transfer-Encoding: chunked\r\n", "5\r\nhelloXX\r\n0\r\n\r\n")
        #expect(try harness.responses(to: text + get()) == "400 close!")
        #expect(harness.log.map { $0.prefix(10) } == ["POST / 400"])
        #expect(harness.server.requestsInFlight == 0)
    }

    @Test func stopsReadingWhileTheServiceDoesNotReadTheBody() throws {
        let harness = try ServerHarness(service: ServerHarness.deferred)
        harness.network.settings.windowBytes = 4000
        let peer = try harness.connect()
        peer.send(post("Content-Length: 60000\r\n", String(repeating: "x", count: 60_000)))
        harness.advance(50)
        #expect(peer.stream.unsentBytes > 30_000)
        harness.respond()
        harness.advance(100)
        #expect(peer.stream.unsentBytes == 0)
        peer.send(get("/2"))
        harness.advance()
        harness.respond("two")
        harness.advance()
        #expect(summary(of: peer) == "200 ok | 200 two")
    }

    @Test func recordsTheTimeOfTheLastBodyByte() throws {
        let harness = try harness()
        let peer = try harness.connect()
        peer.send(post("Content-Length: 5\r\n", "he"))
        harness.advance(100)
        peer.send("llo")
        harness.advance(5)
        let exchange = try #require(harness.requests.first).exchange
        #expect(exchange.requestReceived - exchange.began >= .milliseconds(99))
    }
}
