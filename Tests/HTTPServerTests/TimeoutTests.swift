import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import Testing

@testable import HTTPServer

/// The timeouts for slow and silent clients.
@Suite struct TimeoutTests {
    private func settings() -> ServerSettings {
        var settings = ServerSettings()
        settings.limits.headerTimeout = .milliseconds(600)
        settings.limits.bodyTimeout = .milliseconds(600)
        settings.limits.idleTimeout = .milliseconds(2000)
        return settings
    }

    /// The first request must begin within the head timeout.
    @Test func closesAConnectionWithoutAFirstRequest() throws {
        let harness = try ServerHarness(settings())
        let peer = try harness.connect()
        harness.advance(590)
        #expect(!peer.hasEnded)
        harness.advance(20)
        #expect(summary(of: peer) == "!")
        harness.advance(2100)
        #expect(harness.server.connectionCount == 0)
    }

    /// One byte every 100 ms is far below the minimum rate and would take minutes.
    @Test(arguments: ["Content-Length: 5000\r\n", "Transfer-Encoding: chunked\r\n"])
    func rejectsABodyBelowTheMinimumRate(_ framing: String) throws {
        var settings = settings()
        settings.limits.bodyTimeout = .seconds(30)
        let harness = try ServerHarness(settings) { _, request, exchange in
            request.body.collect(upTo: 10_000, on: exchange.local).map {
                Response(status: .ok, body: $0)
            }
        }
        let peer = try harness.connect()
        peer.send(post(framing))
        for _ in 0..<49 {
            harness.advance(100)
            peer.send(framing.hasPrefix("T") ? "1\r\na\r\n" : "a")
        }
        harness.advance(50)
        #expect(!peer.hasEnded)
        harness.advance(400)
        #expect(summary(of: peer) == "408 close!")
        #expect(harness.log == ["POST / 408 0"])
    }

    /// What arrived before the last five seconds does not count.
    @Test(arguments: [(900, 5_600), (1_200, 17_500)])
    func rejectsABodyThatBecomesSlow(_ rate: Int, _ end: Int) throws {
        var settings = settings()
        settings.limits.bodyTimeout = .seconds(30)
        let harness = try ServerHarness(settings) { _, request, exchange in
            request.body.collect(upTo: 100_000, on: exchange.local)
                .map { Response(status: .ok, body: $0) }
        }
        let peer = try harness.connect()
        peer.send(post("Content-Length: 100000\r\n", String(repeating: "a", count: 20_000)))
        var time = 0
        while !peer.hasEnded, time < 29_000 {
            if time % 100 == 0 {
                let rate = time < 16_000 ? rate : 100
                peer.send(String(repeating: "a", count: rate / 10))
            }
            harness.advance(50)
            time += 50
        }
        #expect(summary(of: peer) == "408 close!")
        #expect((end - 500...end).contains(time), "after \(time) ms")
    }

    /// A kernel with a large buffer reports room when a part of it is free: until then, only its
    /// acknowledgements show that the client reads.
    @Test(arguments: [(20_000, 1), (100, 0)])
    func writeTimeoutSparesAClientThatReads(_ rate: Int, _ connections: Int) throws {
        var settings = ServerSettings()
        settings.limits.writeTimeout = .seconds(2)
        let harness = try ServerHarness(settings, service: ServerHarness.deferred)
        try read(rate, seconds: 20, harness)
        #expect(harness.server.connectionCount == connections)
    }

    /// Responds with 8 MiB to a client that reads `rate` bytes a second.
    private func read(_ rate: Int, seconds: Int, _ harness: ServerHarness) throws {
        harness.network.settings.windowBytes = 4 << 20
        harness.network.settings.refillBytes = 1 << 20
        let peer = try harness.connect()
        peer.onReceived = { $0.stream.pauseReading() }
        peer.send(get())
        harness.advance()
        (peer.stream as? SimStream)?.split = .sizes([rate])
        harness.respond(String(repeating: "a", count: 8 << 20))
        for _ in 0..<seconds {
            harness.advance(1000)
            peer.stream.resumeReading()
        }
    }

    /// A kernel acknowledges in steps: the client has read 64 KiB, and then seems to read nothing.
    @Test func writeTimeoutSparesAClientBetweenTwoAcknowledgements() throws {
        var settings = ServerSettings()
        settings.limits.writeTimeout = .seconds(2)
        let harness = try ServerHarness(settings, service: ServerHarness.deferred)
        let peer = try harness.connect()
        peer.onReceived = { $0.stream.pauseReading() }
        peer.send(get())
        harness.advance()
        (peer.stream as? SimStream)?.split = .sizes([65_536])
        harness.respond(String(repeating: "a", count: 1 << 20))
        harness.advance(1900)
        for _ in 0..<3 {
            peer.stream.resumeReading()
            harness.advance(7_000)
            #expect(harness.server.connectionCount == 1)
        }
        harness.advance(4_000)
        #expect(harness.server.connectionCount == 0)
    }

    /// Four times `write_timeout`, up to 30 s, for the next step of 64 KiB.
    @Test(arguments: [(2, 8), (5, 20), (9, 30), (20, 30), (40, 40)])
    func writeTimeoutWaitsForTheNextAcknowledgement(_ timeout: Int, _ step: Int) throws {
        var settings = ServerSettings()
        settings.limits.writeTimeout = .seconds(timeout)
        let harness = try ServerHarness(settings, service: ServerHarness.deferred)
        let peer = try harness.connect()
        peer.onReceived = { $0.stream.pauseReading() }
        peer.send(get())
        harness.advance()
        (peer.stream as? SimStream)?.split = .sizes([65_536])
        harness.respond(String(repeating: "a", count: 1 << 20))
        harness.advance(timeout * 1000 - 100)
        peer.stream.resumeReading()
        harness.advance(step * 1000)
        #expect(harness.server.connectionCount == 1)
        harness.advance(300)
        #expect(harness.server.connectionCount == 0)
    }

    @Test(arguments: [(1000, 0), (1100, 1)])
    func writeTimeoutSparesAClientThatReadsOneKiBASecond(_ rate: Int, _ connections: Int) throws {
        let harness = try ServerHarness(service: ServerHarness.deferred)
        try read(rate, seconds: 95, harness)
        #expect(harness.server.connectionCount == connections)
    }

    @Test func readsABodyAboveTheMinimumRateUntilTheBodyTimeout() throws {
        var settings = settings()
        settings.limits.bodyTimeout = .seconds(30)
        let harness = try ServerHarness(settings) { _, request, exchange in
            request.body.collect(upTo: 100_000, on: exchange.local)
                .map { Response(status: .ok, body: Bytes("\($0.count)")) }
        }
        func send(seconds: Int) throws -> ScriptedPeer {
            let peer = try harness.connect()
            peer.send(post("Content-Length: \(seconds * 1100)\r\n"))
            for _ in 0..<min(seconds, 31) {
                harness.advance(1000)
                peer.send(String(repeating: "a", count: 1100))
            }
            harness.advance()
            return peer
        }
        #expect(summary(of: try send(seconds: 25)) == "200 27500")
        #expect(summary(of: try send(seconds: 40)) == "408 close!")
    }

    /// Rejections without the service are requests too: they restart the idle timeout.
    @Test func rejectionForLackOfPermitsRestartsTheIdleTimeout() throws {
        var settings = settings()
        settings.requestsInFlight = 0
        let harness = try ServerHarness(settings)
        let peer = try harness.connect()
        for _ in 0..<4 {
            harness.advance(500)
            peer.send(get())
        }
        harness.advance(1990)
        #expect(!peer.hasEnded)
        harness.advance(20)
        #expect(summary(of: peer) == "503 | 503 | 503 | 503!")
    }

    @Test func closesAConnectionThatIsIdleBetweenRequests() throws {
        let harness = try ServerHarness(settings())
        let peer = try harness.connect()
        peer.send(get())
        for _ in 0..<5 {
            harness.advance(1900)
            peer.send(get())
        }
        harness.advance(1990)
        #expect(!peer.hasEnded)
        harness.advance(20)
        #expect(peer.hasEnded)
    }

    @Test(arguments: ["GET / HTTP/1.1\r\nHost: x\r\n", "G", get() + "GET ", "\r\nGET /"])
    func rejectsAHeadThatTakesTooLong(_ text: String) throws {
        let harness = try ServerHarness(settings())
        let peer = try harness.connect()
        peer.send(text)
        harness.advance(590)
        #expect(!peer.hasEnded)
        harness.advance(20)
        #expect(summary(of: peer).hasSuffix("408 close!"))
        #expect(harness.log.last == "refused 408")
    }

    @Test func headTimeoutCoversTheWholeHead() throws {
        let harness = try ServerHarness(settings())
        let peer = try harness.connect()
        for byte in "GET /" {
            peer.send(String(byte))
            harness.advance(100)
        }
        peer.send("x")
        harness.advance(120)
        #expect(summary(of: peer) == "408 close!")
    }

    @Test(arguments: ["Content-Length: 50\r\n", "Transfer-Encoding: chunked\r\n"])
    func rejectsABodyThatTakesTooLong(_ framing: String) throws {
        let harness = try ServerHarness(settings(), service: ServerHarness.echoBody)
        let peer = try harness.connect()
        peer.send(post(framing, "3"))
        harness.advance(590)
        #expect(!peer.hasEnded)
        harness.advance(20)
        #expect(summary(of: peer) == "408 close!")
        #expect(harness.log == ["POST / 408 0"])
        #expect(harness.server.requestsInFlight == 0)
    }

    @Test func waitsForItsServiceWithoutLimit() throws {
        let harness = try ServerHarness(settings(), service: ServerHarness.deferred)
        let peer = try harness.connect()
        peer.send(get())
        harness.advance(60_000)
        harness.respond()
        harness.advance()
        #expect(summary(of: peer) == "200 ok")
    }

    @Test func writeTimeoutCoversAClientThatHalfClosed() throws {
        let harness = try ServerHarness(service: ServerHarness.deferred)
        harness.network.settings.windowBytes = 1000
        let peer = try harness.connect()
        peer.stream.pauseReading()
        peer.send(get())
        peer.stream.finishWriting()
        harness.advance(20_000)
        harness.respond(String(repeating: "a", count: 10_000))
        harness.advance(29_000)
        #expect(harness.server.connectionCount == 1)
        harness.advance(2000)
        #expect(harness.server.connectionCount == 0)
    }

    @Test(arguments: [get(), get() + get(), post("Content-Length: 2\r\n", "ok")])
    func detectsWithin50MillisecondsThatAClientIsGone(_ text: String) throws {
        let harness = try ServerHarness(service: ServerHarness.deferred)
        let peer = try harness.connect()
        peer.send(text)
        harness.advance()
        peer.stream.close()
        harness.advance(50)
        #expect(harness.cancelled == [0] && harness.server.connectionCount == 0)
    }

    /// The client is not read any more, so reading detects neither its end nor its reset.
    @Test(arguments: [true, false]) func detectsThatAClientFarAheadIsGone(isReset: Bool) throws {
        var settings = ServerSettings()
        settings.readAheadBytes = 1000
        let harness = try ServerHarness(settings, service: ServerHarness.deferred)
        let peer = try harness.connect()
        peer.send((1...100).map { get("/\($0)") }.joined())
        harness.advance()
        if isReset { (peer.stream as? SimStream)?.reset() } else { peer.stream.close() }
        harness.advance(200)
        #expect(harness.cancelled == [0] && harness.server.connectionCount == 0)
    }

    @Test func servesAClientFarAheadInOrder() throws {
        var settings = ServerSettings()
        settings.readAheadBytes = 1000
        let harness = try ServerHarness(settings, service: ServerHarness.deferred)
        let peer = try harness.connect()
        peer.send((1...100).map { get("/\($0)") }.joined())
        for number in 1...100 {
            harness.advance(40)
            harness.respond("\(number)")
        }
        harness.advance()
        let received = summary(of: peer)
        #expect(received == (1...100).map { "200 \($0)" }.joined(separator: " | "))
    }

    @Test func setsATimerOnlyForAnEarlierDeadline() {
        let timeouts = ConnectionTimeouts(settings())
        let queue = TimerQueue()
        var deadline = ConnectionDeadline()
        func set(_ wait: ConnectionWait?, at milliseconds: Int64) -> Bool {
            let now = Instant(nanoseconds: milliseconds * 1_000_000)
            deadline.update(wait, timeouts, .init(), now: now)
            guard let due = deadline.timerNeeded else { return false }
            deadline.timer = queue.add(due: due) {}
            return true
        }
        #expect(set(.request, at: 0))
        for request in 1...10 {
            #expect(!set(nil, at: Int64(request) * 10))
            #expect(!set(.request, at: Int64(request) * 10 + 1))
        }
        #expect(set(.head, at: 200))
        #expect(!set(.request, at: 300))
    }
}
