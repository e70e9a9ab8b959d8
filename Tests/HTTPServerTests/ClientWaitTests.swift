import Basics
import HTTP
import HTTP2
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPServer

/// Permits and memory while clients do not take responses, or do not send bodies.
@Suite(.watched) struct ClientWaitTests {
    /// A server whose responses have as many bytes as the target states, and whose exchanges hold a permit
    /// of `permits`. A POST is read to its end first, by a reader that limits the time itself.
    private func server(
        _ settings: ServerSettings = ServerSettings(), _ permits: Permits = Permits()
    ) throws -> ServerHarness {
        try ServerHarness.http2(settings) { _, request, exchange in
            if let permit = permits.take(below: 1000) { exchange.holdPermit(permit) }
            guard request.body.source == nil else {
                let reader = TimedReader(exchange.local)
                request.body.source?.startDelivery(to: reader)
                return reader.promise
            }
            let count = Int("\(request.head.target)".dropFirst()) ?? 2
            return exchange.local.value(
                Response(status: .ok, body: Bytes([UInt8](repeating: 120, count: count))))
        }
    }

    /// A client with closed windows that has sent requests.
    private func closedClient(
        of harness: ServerHarness, requests: Int, target: String
    ) throws -> ScriptedPeer {
        let peer = try harness.connect()
        var frames = H2Frames.opening()
        frames.settings([(4, 0)])
        for number in 0..<requests { frames.get(target, on: UInt32(2 * number + 1)) }
        peer.send(frames)
        harness.advance()
        return peer
    }

    // MARK: Permits

    @Test(arguments: [65_536, 65_537])
    func smallResponseHoldsNoPermitWhateverTheWindow(_ bytes: Int) throws {
        let permits = Permits()
        let harness = try server(ServerSettings(), permits)
        let peer = try closedClient(of: harness, requests: 1, target: "/\(bytes)")
        let held = bytes > 65_536 ? 1 : 0
        #expect(harness.server.requestsInFlight == held && permits.inUse == held)
        #expect(harness.log == [] && harness.server.exchanges.count == 1)
        #expect(harness.server.bufferedBytes > bytes, "the bytes stay in the budget")
        var update = H2Frames()
        update.windowUpdate(1, on: 1)
        peer.send(update)
        harness.advance()
        #expect(harness.server.requestsInFlight == 0 && permits.inUse == 0)
        #expect(harness.log == [])
    }

    @Test func streamedResponseThatHasEndedHoldsNoPermit() throws {
        let body = ScriptedBody(.chunked)
        let permits = Permits()
        let harness = try ServerHarness.http2 { _, _, exchange in
            if let permit = permits.take(below: 1) { exchange.holdPermit(permit) }
            return exchange.local.value(Response(status: .ok, body: .stream(body)))
        }
        _ = try closedClient(of: harness, requests: 1, target: "/")
        harness.onServer { body.deliver("hello") }
        #expect(permits.inUse == 1 && harness.server.streams == 1)
        harness.onServer { body.end() }
        #expect(permits.inUse == 0 && harness.server.streams == 0 && harness.log == [])
    }

    /// The same over HTTP/1.1: a response counts until its last byte has left the process.
    @Test func unreadResponseHoldsItsPermitAndHasNotEnded() throws {
        let permits = Permits()
        let harness = try server(ServerSettings(), permits)
        let peer = try harness.connect()
        peer.stream.pauseReading()
        peer.send(get("/3000000"))
        harness.advance()
        #expect(harness.server.requestsInFlight == 1 && permits.inUse == 1)
        #expect(harness.log == [] && harness.server.exchanges.count == 1)
        #expect(harness.server.bufferedBytes < 3_100_000, "counted once")
        peer.stream.resumeReading()
        harness.advance(1000)
        #expect(harness.server.requestsInFlight == 0 && permits.inUse == 0)
        #expect(harness.log == ["GET /3000000 200 3000000"])
        #expect(harness.server.exchanges.isEmpty)
    }

    /// How an unread response ends otherwise.
    @Test(arguments: ["leaves", "resets", "drain", "time"])
    func unreadResponseIsTruncated(_ end: String) throws {
        let harness = try server()
        let peer = try harness.connect()
        peer.stream.pauseReading()
        peer.send(get("/3000000") + get("/2"))
        harness.advance()
        switch end {
        case "leaves": peer.stream.close()
        case "resets": peer.stream.reset()
        case "drain": harness.onServer { harness.server.close() }
        default: break
        }
        harness.advance(end == "time" ? 31_000 : 100)
        #expect(harness.log.count == 1 && harness.log[0].hasSuffix(" truncated"))
        let bytes = try #require(harness.log[0].split(separator: " ").dropFirst(3).first)
        let count = try #require(Int(bytes))
        #expect((1..<3_000_000).contains(count))
        #expect(harness.server.connectionCount == 0 && harness.server.bufferedBytes == 0)
    }

    /// A body that is discarded behind an unread response: the next response waits for both.
    @Test func nextRequestWaitsForTheUnreadResponse() throws {
        let harness = try ServerHarness { harness, request, exchange in
            let count = harness.requests.count == 1 ? 3_000_000 : 2
            return exchange.local.value(
                Response(status: .ok, body: Bytes([UInt8](repeating: 120, count: count))))
        }
        let peer = try harness.connect()
        peer.stream.pauseReading()
        peer.send(post("Content-Length: 10\r\n", "12345"))
        harness.advance()
        peer.send("67890" + get("/next"))
        harness.advance(100)
        #expect(harness.log == [] && harness.requests.count == 1)
        peer.stream.resumeReading()
        harness.advance(1000)
        #expect(harness.log == ["POST / 200 3000000", "GET /next 200 2"])
    }

    // MARK: Shortages

    private func settings(requestsInFlight: Int) -> ServerSettings {
        var settings = ServerSettings()
        settings.requestsInFlight = requestsInFlight
        return settings
    }

    @Test func endsStreamsThatAreBlockedWhenRequestsAreShort() throws {
        let harness = try server(settings(requestsInFlight: 20))
        let peer = try closedClient(of: harness, requests: 20, target: "/100000")
        #expect(harness.server.requestsInFlight == 20)
        #expect(try harness.responses(to: get()) == "503", "they are not slow yet")
        harness.advance(120)
        #expect(try harness.responses(to: get()) == "200 xx")
        #expect(peer.resets.count == 6 && peer.resets.allSatisfy { $0[1] == 11 })
        #expect(peer.resets.map { $0[0] } == [1, 3, 5, 7, 9, 11], "the longest waiting ones")
        #expect(harness.server.requestsInFlight == 14 && peer.goAway == nil)
        #expect(harness.server.losses[.waiting] == 6)
    }

    /// A client that takes its responses is spared.
    @Test func keepsStreamsThatMakeProgressWhenRequestsAreShort() throws {
        let harness = try server(settings(requestsInFlight: 20))
        let peer = try closedClient(of: harness, requests: 20, target: "/100000")
        for _ in 0..<10 {
            var update = H2Frames()
            update.windowUpdate(30_000, on: 0)
            for number in 0..<20 { update.windowUpdate(1500, on: UInt32(2 * number + 1)) }
            peer.send(update)
            harness.advance(50)
            #expect(try harness.responses(to: get()) == "503")
        }
        #expect(peer.resets.isEmpty)
    }

    /// A few slow streams are no attack.
    @Test func keepsFewBlockedStreamsForSomeSeconds() throws {
        let harness = try server(settings(requestsInFlight: 4))
        let peer = try closedClient(of: harness, requests: 4, target: "/100000")
        harness.advance(4000)
        #expect(try harness.responses(to: get()) == "503")
        harness.advance(2000)
        #expect(try harness.responses(to: get()) == "200 xx")
        #expect(peer.resets.count == 2)
    }

    /// More than eight requests of a client get one second, or 100 ms if the limit is reached; fewer get
    /// five seconds.
    @Test(arguments: [(8, 10, 5000), (8, 8, 5000), (9, 12, 1000), (9, 9, 100)])
    func graceDependsOnHowManyRequestsOfAClientWait(
        _ count: Int, _ limit: Int, _ grace: Int
    ) throws {
        let harness = try server(settings(requestsInFlight: limit))
        let peer = try closedClient(of: harness, requests: count, target: "/100000")
        harness.advance(grace - 50)
        #expect(try harness.responses(to: get()) == (count == limit ? "503" : "200 xx"))
        #expect(peer.resets.isEmpty)
        harness.advance(150)
        #expect(!peer.resets.isEmpty && peer.resets.allSatisfy { $0[1] == 11 })
    }

    /// Below 75 % of the limit, nothing is short.
    @Test(arguments: [(74, 0), (75, 1)])
    func endsWaitingRequestsFrom75PercentOfALimitOn(_ count: Int, _ ended: Int) throws {
        let harness = try server(settings(requestsInFlight: 100))
        let peer = try closedClient(of: harness, requests: count, target: "/100000")
        harness.advance(1200)
        _ = try harness.responses(to: get())
        harness.advance(1200)
        #expect(peer.resets.count == ended)
    }

    /// A client that sends 1 KiB a second is not slow.
    @Test(arguments: [(1000, false), (1100, true)])
    func uploadIsSparedThatArrivesWithOneKiBASecond(_ rate: Int, _ isSpared: Bool) throws {
        let harness = try server(settings(requestsInFlight: 4))
        let client = try H2Client(harness)
        let uploads = try (0..<4).map { _ in try client.send(.post, endsStream: false) }
        for _ in 0..<6 {
            harness.advance(990)
            for upload in uploads where upload.responses.isEmpty {
                try client.send(String(repeating: "x", count: rate), on: upload)
            }
            harness.advance(10)
            _ = try harness.responses(to: get())
        }
        #expect(uploads.allSatisfy { $0.responses.isEmpty } == isSpared)
        for upload in uploads where upload.responses.isEmpty {
            try client.send("x", on: upload, ends: true)
        }
        harness.advance()
    }

    @Test func rejectsUploadsWhoseBodiesDoNotComeWhenRequestsAreShort() throws {
        let harness = try server(settings(requestsInFlight: 20))
        let client = try H2Client(harness)
        let uploads = try (0..<20).map { _ in try client.send(.post, endsStream: false) }
        harness.advance()
        #expect(harness.server.requestsInFlight == 20)
        for upload in uploads.suffix(10) {
            try client.send(String(repeating: "x", count: 1000), on: upload)
        }
        harness.advance(200)
        #expect(try harness.responses(to: get()) == "200 xx")
        #expect(uploads.filter { $0.summary == "503" }.count == 6)
        #expect(uploads.suffix(10).allSatisfy { $0.responses.isEmpty }, "they make progress")
        for upload in uploads.suffix(10) { try client.send("x", on: upload, ends: true) }
        harness.advance()
        #expect(uploads.suffix(10).allSatisfy { $0.summary == "200" })
    }

    @Test func endsHTTP1ConnectionsThatWaitWhenRequestsAreShort() throws {
        var settings = settings(requestsInFlight: 20)
        settings.requestsPerClient = 100
        let harness = try server(settings)
        let readers = try (0..<10).map { _ in
            let peer = try harness.connect()
            peer.stream.pauseReading()
            peer.send(get("/3000000"))
            return peer
        }
        let uploads = try (0..<10).map { _ in
            let peer = try harness.connect()
            peer.send(post("Content-Length: 5\r\n", "he"))
            return peer
        }
        harness.advance()
        #expect(harness.server.requestsInFlight == 20)
        harness.advance(120)
        #expect(try harness.responses(to: get()) == "200 xx")
        #expect(harness.server.requestsInFlight == 14)
        let ended = uploads.filter { summary(of: $0).hasPrefix("503") }.count
        #expect(harness.log.filter { $0.hasSuffix("truncated") }.count + ended == 6)
        for peer in readers + uploads { peer.stream.close() }
        harness.advance(100)
        #expect(harness.server.requestsInFlight == 0 && harness.server.bufferedBytes == 0)
    }

    /// A permit that others count, for example the concurrency limit of a backend.
    @Test func endsStreamsThatHoldPermitsOfAShortLimit() throws {
        let permits = Permits()
        let harness = try ServerHarness.http2 { _, request, exchange in
            if permits.isShort(below: 20) { exchange.makeRoom() }
            guard let permit = permits.take(below: 20) else {
                return exchange.local.value(Response(status: .serviceUnavailable))
            }
            exchange.holdPermit(permit)
            let count = "\(request.head.target)" == "/" ? 2 : 100_000
            return exchange.local.value(
                Response(status: .ok, body: Bytes([UInt8](repeating: 120, count: count))))
        }
        _ = try closedClient(of: harness, requests: 20, target: "/long")
        #expect(try harness.responses(to: get()) == "503")
        harness.advance(120)
        #expect(try harness.responses(to: get()) == "200 xx")
        #expect(permits.inUse == 14)
    }

    // MARK: Requests of a client

    @Test func limitsTheRequestsOfAClient() throws {
        var settings = ServerSettings()
        settings.requestsPerClient = 2
        let harness = try ServerHarness.http2(settings, service: ServerHarness.deferred)
        let client = try H2Client(harness)
        let requests = try (0..<2).map { _ in try client.send() }
        harness.advance()
        #expect(try harness.responses(to: get()) == "503", "on another connection")
        #expect(harness.server.losses[.requestsPerClient] == 1)
        harness.respond()
        harness.advance()
        #expect(requests[0].summary == "200 ok")
        let next = try harness.connect()
        next.send(get())
        harness.advance()
        #expect(summary(of: next) == "" && harness.server.requestsInFlight == 2)
        harness.endServer()
    }

    @Test func doesNotLimitTheRequestsOfAProxy() throws {
        var settings = ServerSettings()
        settings.requestsPerClient = 1
        let harness = try ServerHarness(settings, service: ServerHarness.deferred)
        harness.isProxy = true
        for _ in 0..<3 { try harness.connect().send(get()) }
        harness.advance()
        #expect(harness.server.requestsInFlight == 3)
        harness.endServer()
    }

    // MARK: Memory and time

    @Test func refusesStreamsOfAConnectionThatHoldsMoreThanItsShare() throws {
        var settings = ServerSettings()
        settings.bufferedBytes = 1_000_000
        let harness = try server(settings)
        let peer = try closedClient(of: harness, requests: 2, target: "/130000")
        var frames = H2Frames()
        frames.get(on: 5)
        peer.send(frames)
        harness.advance()
        #expect(peer.resets == [[5, 7]], "REFUSED_STREAM")
        #expect(try harness.responses(to: get()) == "200 xx", "another connection")
        var update = H2Frames()
        update.windowUpdate(130_000, on: 1)
        update.windowUpdate(130_000, on: 0)
        peer.send(update)
        harness.advance()
        frames = H2Frames()
        frames.get(on: 7)
        peer.send(frames)
        harness.advance()
        #expect(peer.resets == [[5, 7]] && harness.server.losses[.bufferedBytes] == 1)
    }

    /// Windows that are opened by a few bytes.
    @Test(arguments: [(100, 2), (10_000, 0)])
    func endsSlowStreamsWhenMemoryIsShort(_ credit: UInt32, _ ended: Int) throws {
        var settings = ServerSettings()
        settings.bufferedBytes = 4_000_000
        let harness = try server(settings)
        let peers = try (0..<12).map { _ in
            try closedClient(of: harness, requests: 1, target: "/300000")
        }
        for _ in 0..<4 {
            var update = H2Frames()
            update.windowUpdate(credit, on: 1)
            for peer in peers { peer.send(update) }
            harness.advance(600)
        }
        #expect(peers.filter { !$0.resets.isEmpty }.count >= ended)
        #expect(
            peers.contains { $0.resets.isEmpty }
                && (ended > 0 || peers.allSatisfy { $0.resets.isEmpty }))
    }

    /// In one `write_timeout`, a sixteenth.
    @Test(arguments: [(1000, false), (1100, true)])
    func requiresARateInProportionToWhatAStreamHolds(_ credit: UInt32, _ isKept: Bool) throws {
        let harness = try server()
        let peer = try closedClient(of: harness, requests: 1, target: "/100000")
        for _ in 0..<12 {
            var update = H2Frames()
            update.windowUpdate(credit, on: 1)
            peer.send(update)
            harness.advance(5000)
        }
        #expect(peer.resets == (isKept ? [] : [[1, 8]]))
    }

    /// Each stream that is ended for its client costs points, so that a client cannot do it for ever:
    /// 200 streams cost all of them.
    @Test func endsConnectionWhoseStreamsAreEndedByTimeLimits() throws {
        var settings = ServerSettings()
        settings.streamsPerConnection = 1000
        let harness = try server(settings)
        let peer = try closedClient(of: harness, requests: 190, target: "/2")
        harness.advance(30_100)
        #expect(peer.resets.count == 190 && peer.goAway == nil)
        let other = try closedClient(of: harness, requests: 250, target: "/2")
        harness.advance(30_100)
        #expect(other.goAway?.last == 11)
    }
}

/// Reads a body to its end, and limits the time for it.
private final class TimedReader: BodySink {
    private var resolver: LocalResolver<Response>?
    let promise: LocalPromise<Response>

    init(_ local: LocalContext) {
        let resolver = LocalResolver<Response>(on: local)
        promise = resolver.promise
        self.resolver = consume resolver
    }

    var limitsTime: Bool { true }

    func bodyReceived(_ piece: Span<UInt8>) {}

    func bodyEnded(trailers: Fields) { resolver.take()?.fulfill(Response(status: .ok)) }

    func bodyFailed(_ error: any Error) { resolver.take()?.reject(error) }
}
