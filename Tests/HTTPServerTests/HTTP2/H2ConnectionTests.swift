import Basics
import HTTP
import HTTP2
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPServer

/// Requests over HTTP/2, and the selection of the protocol.
@Suite(.watched) struct H2ConnectionTests {
    // MARK: Selection

    @Test func servesBothProtocolsAtOneListener() throws {
        let harness = try ServerHarness.http2()
        let client = try H2Client(harness)
        let request = try client.send(.get, "/a")
        #expect(try harness.responses(to: get("/b")) == "200 /b")
        #expect(request.summary == "200 /a" && request.closed == .noError)
        #expect(harness.log == ["GET /a 200 2", "GET /b 200 2"])
        #expect(harness.requests.map(\.request.head.version) == [.http2, .http11])
    }

    /// However the first bytes arrive, they select the protocol.
    @Test(arguments: 0...30)
    func findsThePrefaceInPieces(_ count: Int) throws {
        let harness = try ServerHarness.http2()
        let peer = try harness.connect()
        var frames = H2Frames.opening()
        frames.get("/x", on: 1)
        peer.stream.write(Array(frames.bytes[..<count]).span)
        harness.advance()
        #expect(harness.requests.isEmpty && harness.server.connectionCount == 1)
        peer.stream.write(Array(frames.bytes[count...]).span)
        harness.advance()
        #expect(harness.log == ["GET /x 200 2"])
    }

    @Test(arguments: [
        ("P", "200 /"), ("PRI", "200 /"), ("PRI ", "400 close!"),
        ("PRI * HTTP/2.0\r\n", "505 close!"),
    ])
    func findsHTTP1InPieces(_ beginning: String, _ expected: String) throws {
        let harness = try ServerHarness.http2()
        let peer = try harness.connect()
        peer.send(beginning)
        harness.advance()
        #expect(summary(of: peer) == "")
        peer.send("OST / HTTP/1.1\r\nHost: a\r\n\r\n")
        harness.advance()
        #expect(summary(of: peer) == expected)
    }

    @Test func rejectsThePrefaceWithoutHTTP2() throws {
        let harness = try ServerHarness()
        let peer = try harness.connect()
        peer.send(H2Frames.opening())
        harness.advance()
        #expect(summary(of: peer) == "505 close!")
    }

    @Test func rejectsHTTP1WithoutHTTP1() throws {
        let harness = try ServerHarness.http2(protocols: [.http2])
        #expect(try harness.responses(to: get()) == "505 close!")
        let client = try H2Client(harness)
        let request = try client.send()
        harness.advance()
        #expect(request.summary == "200 /")
    }

    /// RFC 9113 3.1: the upgrade is obsolete; the request is served as HTTP/1.1.
    @Test func ignoresUpgradeToHTTP2() throws {
        let upgrade =
            "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n"
        #expect(try ServerHarness.http2().responses(to: get("/", upgrade)) == "200 /")
    }

    @Test func closesSilentConnectionAfterHeaderTimeout() throws {
        let harness = try ServerHarness.http2()
        let peer = try harness.connect()
        peer.send("PRI * HT")
        harness.advance(9_900)
        #expect(!peer.hasEnded)
        harness.advance(200)
        #expect(peer.hasEnded && harness.server.connectionCount == 0)
    }

    // MARK: Exchanges

    @Test func servesManyStreamsInAnyOrder() throws {
        let harness = try ServerHarness.http2(service: ServerHarness.deferred)
        let client = try H2Client(harness)
        let requests = try (0..<20).map { try client.send(.get, "/\($0)") }
        harness.advance()
        #expect(harness.requests.count == 20 && harness.server.requestsInFlight == 20)
        #expect(harness.server.exchanges.count == 20)
        for number in 0..<20 { harness.respond("\(number)") }
        harness.advance()
        #expect(requests.map(\.summary) == (0..<20).map { "200 \($0)" })
        #expect(harness.server.requestsInFlight == 0 && harness.server.exchanges.isEmpty)
    }

    @Test func writesAllFieldsOfAResponse() throws {
        var settings = ServerSettings()
        settings.responseFields = ["X-Common": "c"]
        let harness = try ServerHarness.http2(settings) { _, _, exchange in
            exchange.local.value(
                Response(
                    status: .ok, fields: ["Connection": "close", "X-Own": "o"], body: Bytes("{}")))
        }
        let client = try H2Client(harness)
        let request = try client.send(
            .get, "/", ["X-Request-Id": "0123456789abcdef0123456789abcdef"])
        harness.advance()
        let fields = try #require(request.responses.first).fields
        #expect(fields["X-Own"] == "o" && fields["X-Common"] == "c")
        #expect(fields[.contentLength] == "2" && fields.contains(.date))
        #expect(fields[.requestID] == "0123456789abcdef0123456789abcdef")
        #expect(!fields.contains(.connection), "RFC 9113 8.2.2")
    }

    @Test func respondsToHeadWithoutBody() throws {
        let harness = try ServerHarness.http2()
        let client = try H2Client(harness)
        let request = try client.send(.head, "/abc")
        harness.advance()
        #expect(request.summary == "200" && request.hasEnded)
        #expect(request.responses.first?.fields[.contentLength] == "4")
        #expect(harness.log == ["HEAD /abc 200 0"])
    }

    /// A body that arrives with its head is passed on complete; another one when the service reads.
    @Test(arguments: [true, false])
    func readsBodies(_ isWhole: Bool) throws {
        let harness = try ServerHarness.http2(service: ServerHarness.echoBody)
        let client = try H2Client(harness)
        let request = try client.send(.post, endsStream: false)
        if !isWhole {
            harness.advance()
            #expect(harness.requests.count == 1 && harness.server.requestsInFlight == 0)
        }
        try client.send("hello", on: request, ends: true)
        harness.advance()
        #expect(request.summary == "200 hello")
        guard case .bytes = harness.requests[0].request.body else {
            #expect(!isWhole)
            return
        }
        #expect(isWhole)
    }

    @Test func sendsContinueWhenTheServiceReadsTheBody() throws {
        let harness = try ServerHarness.http2(service: ServerHarness.echoBody)
        let client = try H2Client(harness)
        let request = try client.send(.post, "/", ["Expect": "100-continue"], endsStream: false)
        harness.advance()
        #expect(request.responses.map(\.status.code) == [100])
        try client.send("hello", on: request, ends: true)
        harness.advance()
        #expect(request.responses.map(\.status.code) == [100, 200] && request.text == "hello")
    }

    /// RFC 9113 8.1: the response is complete, and the rest of the request is not needed.
    @Test func resetsAfterTheResponseToAnUnreadBody() throws {
        let harness = try ServerHarness.http2(service: ServerHarness.echoBody)
        let client = try H2Client(harness)
        let large = try client.send(.post, "/", ["Content-Length": "101"], endsStream: false)
        harness.advance()
        #expect(large.summary == "413" && large.closed == .noError)
        #expect(client.frames.last { $0.isKind(.reset) }?.number() == 0)
        let long = try client.send(.post, endsStream: false)
        try client.send(String(repeating: "x", count: 101), on: long)
        harness.advance()
        #expect(long.summary == "413" && long.closed == .noError)
        // The connection stays.
        let next = try client.send(.post, endsStream: false)
        try client.send("ok", on: next, ends: true)
        harness.advance()
        #expect(next.summary == "200 ok")
    }

    @Test func rejectsHeadsOnTheirStreams() throws {
        var settings = ServerSettings()
        settings.limits.uriBytes = 10
        settings.limits.headerCount = 4
        let harness = try ServerHarness.http2(settings)
        let client = try H2Client(harness)
        let requests = [
            try client.send(.get, "/0123456789"),
            try client.send(.get, "/", ["A": "", "B": "", "C": "", "D": ""]),
            try client.send(.get, "/", ["Expect": "tea"]),
            try client.send(.get, "/", ["Host": "b"]),
            try client.send(.get, "/"),
        ]
        harness.advance()
        #expect(requests.map(\.summary) == ["414", "431", "417", "400", "200 /"])
        #expect(requests.allSatisfy { $0.closed == .noError })
        #expect(
            harness.log == [
                "refused 414", "refused 431", "refused 400", "GET / 417 110", "GET / 200 1",
            ])
        #expect(harness.server.losses[.malformed] == 4)
    }

    @Test func resetsMalformedRequestAndKeepsConnection() throws {
        let harness = try ServerHarness.http2()
        let peer = try harness.connect()
        var frames = H2Frames.opening()
        frames.request(H2Frames.get() + [("connection", "close")], on: 1)
        frames.get("/next", on: 3)
        peer.send(frames)
        harness.advance()
        #expect(peer.resets == [[1, 1]] && peer.goAway == nil)
        #expect(harness.log == ["GET /next 200 5"] && harness.server.losses[.malformed] == 1)
    }

    /// The body must have the stated length; the service that reads it is cancelled.
    @Test func cancelsRequestWithMalformedBody() throws {
        let harness = try ServerHarness.http2(service: ServerHarness.echoBody)
        let peer = try harness.connect()
        var frames = H2Frames.opening()
        frames.request(H2Frames.post() + [("content-length", "5")], on: 1, endsStream: false)
        peer.send(frames)
        harness.advance()
        frames = H2Frames()
        frames.data("toolong", on: 1, endsStream: true)
        peer.send(frames)
        harness.advance()
        #expect(peer.resets == [[1, 1]])
        #expect(harness.log == ["POST / 400 0"])
    }

    @Test func cancelsOneRequestAndServesTheOthers() throws {
        let harness = try ServerHarness.http2(service: ServerHarness.deferred)
        let client = try H2Client(harness)
        let first = try client.send(.get, "/1")
        let second = try client.send(.get, "/2")
        harness.advance()
        try client.reset(first)
        harness.advance()
        #expect(harness.cancelled == [0] && harness.log == ["GET /1 499 0"])
        harness.respond("unused")
        harness.respond("two")
        harness.advance()
        #expect(second.summary == "200 two")
        #expect(harness.server.requestsInFlight == 0)
    }

    /// CVE-2023-44487: a request that is reset in the same read costs no call of the service.
    @Test func neverStartsARequestThatIsResetAtOnce() throws {
        let harness = try ServerHarness.http2()
        let peer = try harness.connect()
        var frames = H2Frames.opening()
        frames.get("/1", on: 1)
        frames.reset(on: 1)
        frames.get("/3", on: 3)
        peer.send(frames)
        harness.advance()
        #expect(harness.log == ["GET /3 200 2"])
    }

    @Test func cancelsAllRequestsWhenTheClientLeaves() throws {
        let harness = try ServerHarness.http2(service: ServerHarness.deferred)
        let client = try H2Client(harness)
        for path in ["/1", "/2"] { _ = try client.send(.get, path) }
        harness.advance()
        client.peer.stream.close()
        harness.advance()
        #expect(Set(harness.cancelled) == [0, 1])
        #expect(Set(harness.log) == ["GET /1 499 0", "GET /2 499 0"])
        #expect(harness.server.connectionCount == 0 && harness.server.bufferedBytes == 0)
    }

    /// The frames of one loop iteration are one write.
    @Test func writesOncePerIteration() throws {
        let harness = try ServerHarness.http2()
        let client = try H2Client(harness)
        harness.advance()
        var reads = 0
        let former = client.peer.onReceived
        client.peer.onReceived = {
            reads += 1
            former($0)
        }
        let requests = try (0..<50).map { _ in try client.side.request() }
        client.flush()
        harness.advance()
        #expect(requests.allSatisfy { $0.summary == "200 /" } && reads == 1)
    }
}
