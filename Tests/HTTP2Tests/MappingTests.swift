import Basics
import HTTP
import TestSupport
import Testing

@testable import HTTP2

/// The heads of requests (RFC 9113 8.2 and 8.3), from blocks that the test writes.
@Suite struct MappingTests {
    /// What the server makes of a request: a line, `400`-like errors by name, or the reset's code.
    private func outcome(
        _ fields: [(String, String)], endsStream: Bool = true, limits: H2Limits = H2Limits()
    ) throws -> String {
        let server = try H2Side(.server, limits)
        var frames = H2Frames.opening()
        frames.request(fields, on: 1, endsStream: endsStream)
        server.receive(frames.bytes)
        let written = server.takeFrames()
        if let goAway = written.first(where: { $0.isKind(.goAway) }) {
            return "goaway \(goAway.number(at: 4))"
        }
        if let reset = written.first(where: { $0.isKind(.reset) }) {
            return "reset \(reset.number())"
        }
        guard let head = server.streams.first?.request else {
            return server.log.joined(separator: ", ")
        }
        let lines = head.fields.map { "\(String($0.name)): \(String($0.value))" }
        return "\(head.method) \(head.target) [\(lines.joined(separator: ", "))]"
    }

    private static let get = H2Frames.get()

    @Test func storesTheAuthorityAsHost() throws {
        #expect(try outcome(Self.get) == "GET / [Host: a]")
        #expect(
            try outcome(Self.get + [("user-agent", "t"), ("accept", "*/*")])
                == "GET / [Host: a, user-agent: t, accept: */*]")
    }

    @Test func takesHostInPlaceOfTheAuthority() throws {
        let fields = Array(Self.get.dropLast())
        #expect(try outcome(fields + [("host", "b")]) == "GET / [host: b]")
        #expect(try outcome(Self.get + [("host", "A")]) == "GET / [Host: a]")
    }

    /// RFC 9113 8.3.1.
    @Test func rejectsTwoDifferentHosts() throws {
        #expect(try outcome(Self.get + [("host", "b")]) == "1 hostRepeated")
        #expect(try outcome(Self.get + [("host", "a"), ("host", "a")]) == "reset 1")
    }

    @Test(arguments: ["a/b", "a@b", "a|b", "[::g]", "a:99999", "user@a"])
    func rejectsAnInvalidAuthority(_ authority: String) throws {
        let fields = Array(Self.get.dropLast()) + [(":authority", authority)]
        #expect(["1 host", "reset 1"].contains(try outcome(fields)))
    }

    @Test(arguments: [":method", ":scheme", ":path", ":authority"])
    func resetsARequestWithoutAPseudoField(_ name: String) throws {
        #expect(try outcome(Self.get.filter { $0.0 != name }) == "reset 1")
    }

    @Test(arguments: [
        [(":method", "GET")], [(":path", "/b")], [(":status", "200")], [(":unknown", "x")],
        [("a", "b"), (":path", "/")], [("connection", "close")], [("keep-alive", "5")],
        [("proxy-connection", "close")], [("transfer-encoding", "chunked")],
        [("upgrade", "h2c")], [("te", "gzip")], [("Upper", "x")], [("", "x")], [("a b", "x")],
        [("a:b", "x")], [("x", "a\r\nb: c")], [("x", "a\nb")], [("x", "a\0b")], [("x", "\u{7F}")],
        [("x", " a")], [("x", "a\t")], [("content-length", "x")], [("content-length", "-1")],
        [("content-length", "1"), ("content-length", "1")], [("content-length", "1")],
    ])
    func resetsAMalformedRequest(_ more: [(String, String)]) throws {
        #expect(try outcome(Self.get + more) == "reset 1")
    }

    @Test func takesTrailersInTE() throws {
        #expect(try outcome(Self.get + [("te", "trailers")]) == "GET / [Host: a, te: trailers]")
    }

    @Test func joinsCookies() throws {
        #expect(
            try outcome(Self.get + [("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")])
                == "GET / [Host: a, x: y, Cookie: a=1; b=2]")
    }

    @Test(arguments: [
        ("/", true), ("/a?b#c", false), ("a", false), ("/%zz", false), ("/a b", false),
        ("*", false), ("http://a/", false), ("/a\u{E9}", false), ("//a", true), ("/?", true),
    ])
    func checksThePath(_ path: String, _ isValid: Bool) throws {
        let outcome = try outcome(H2Frames.get(path))
        if isValid {
            #expect(outcome == "GET \(path) [Host: a]")
        } else {
            #expect(["1 target", "reset 1"].contains(outcome))
        }
    }

    @Test func takesTheAsteriskOfOptions() throws {
        var fields = H2Frames.get("*")
        fields[0].1 = "OPTIONS"
        #expect(try outcome(fields) == "OPTIONS * [Host: a]")
    }

    @Test func rejectsOtherSchemes() throws {
        var fields = Self.get
        fields[1].1 = "ftp"
        #expect(try outcome(fields) == "1 target")
        fields[1].1 = "https"
        #expect(try outcome(fields) == "GET / [Host: a]")
    }

    @Test func rejectsConnect() throws {
        #expect(
            try outcome([(":method", "CONNECT"), (":authority", "a:443")]) == "1 connectRefused")
        #expect(
            try outcome([
                (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"),
                (":path", "/"), (":authority", "a"),
            ]) == "reset 1")
    }

    private static let connect = [
        (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":path", "/b"),
        (":authority", "a"),
    ]

    /// RFC 8441 4: the method of the same handshake in HTTP/1.1 is stated.
    @Test func acceptsExtendedConnectForWebSocket() throws {
        var limits = H2Limits()
        limits.acceptsExtendedConnect = true
        for name in ["websocket", "WebSocket"] {
            let server = try H2Side(.server, limits)
            var frames = H2Frames.opening()
            var fields = Self.connect
            fields[1].1 = name
            frames.request(
                fields + [("expect", "100-continue")], on: 1, endsStream: false)
            server.receive(frames.bytes)
            let head = try #require(server.streams.first?.request)
            #expect(head.method == .get && "\(head.target)" == "/b" && head.opensWebSocket)
            #expect(head.framing == BodyFraming.none && !head.expectsContinue)
            #expect(head.fields[.host] == "a")
            let settings = try #require(server.takeFrames().first)
            let entries = stride(from: 0, to: settings.payload.count, by: 6).map {
                settings.payload[$0..<($0 + 6)]
            }
            #expect(entries.contains([0, 8, 0, 0, 0, 1]))
        }
        #expect(try outcome(Self.get, limits: limits) == "GET / [Host: a]")
        for fields in [Self.get, H2Frames.post()] {
            let server = try H2Side(.server, limits)
            var frames = H2Frames.opening()
            frames.request(fields, on: 1)
            server.receive(frames.bytes)
            #expect(server.streams.first?.request?.opensWebSocket == false)
        }
    }

    @Test func rejectsOtherExtendedConnects() throws {
        var limits = H2Limits()
        limits.acceptsExtendedConnect = true
        func outcome(_ change: (inout [(String, String)]) -> Void) throws -> String {
            var fields = Self.connect
            change(&fields)
            return try self.outcome(fields, endsStream: false, limits: limits)
        }
        #expect(try outcome { $0[1].1 = "connect-udp" } == "1 connectProtocol")
        #expect(["1 connectProtocol", "reset 1"].contains(try outcome { $0[1].1 = "" }))
        #expect(try outcome { $0[0].1 = "GET" } == "reset 1", "only with CONNECT")
        for index in 2...4 {
            #expect(try outcome { $0.remove(at: index) } == "reset 1", "incomplete")
        }
        #expect(try outcome { $0.insert($0[1], at: 2) } == "reset 1", "twice")
        #expect(try outcome { $0[2].1 = "ftp" } == "1 target")
        #expect(try outcome { $0[3].1 = "*" } != "GET * [Host: a]")
        #expect(try outcome { $0 += [("host", "b")] } == "1 hostRepeated")
        #expect(try outcome { $0 += [("upgrade", "websocket")] } == "reset 1")
        #expect(
            try self.outcome(
                [(":method", "CONNECT"), (":authority", "a:443")], endsStream: false,
                limits: limits) == "1 connectRefused")
    }

    @Test func readsUnknownExpectations() throws {
        for (value, isUnknown) in [("tea", true), ("100-Continue", false)] {
            let server = try H2Side(.server)
            var frames = H2Frames.opening()
            frames.request(Self.get + [("expect", value)], on: 1, endsStream: true)
            server.receive(frames.bytes)
            #expect(server.streams.first?.request?.hasUnknownExpectation == isUnknown)
        }
    }

    @Test func limitsTheHead() throws {
        var limits = H2Limits()
        limits.heads.uriBytes = 10
        limits.heads.methodBytes = 4
        limits.heads.headerCount = 3
        #expect(
            try outcome(H2Frames.get("/123456789"), limits: limits) == "GET /123456789 [Host: a]")
        #expect(try outcome(H2Frames.get("/1234567890"), limits: limits) == "1 targetTooLong")
        var fields = Self.get
        fields[0].1 = "PATCH"
        #expect(try outcome(fields, limits: limits) == "1 methodTooLong")
        #expect(
            try outcome(Self.get + [("a", ""), ("b", "")], limits: limits)
                == "GET / [Host: a, a: , b: ]")
        #expect(
            try outcome(Self.get + [("a", ""), ("b", ""), ("c", "")], limits: limits)
                == "1 tooManyFields")
    }

    /// The names of the fields of a request with this block in several frames, whatever `headerBytes`
    /// is; or the error.
    private func names(in block: [UInt8]) throws -> String {
        var limits = H2Limits()
        limits.heads.headerBytes = 1024 * 1024
        let server = try H2Side(.server, limits)
        var frames = H2Frames.opening()
        frames.append(.headers, H2Frames.endStream, on: 1, Array(block.prefix(16_384)))
        for start in stride(from: 16_384, to: block.count, by: 16_384) {
            let piece = Array(block[start..<min(start + 16_384, block.count)])
            let isLast = start + 16_384 >= block.count
            frames.append(.continuation, isLast ? H2Frames.endHeaders : 0, on: 1, piece)
        }
        server.receive(frames.bytes)
        let names = server.streams.first?.request?.fields.map { String($0.name) }
        return names?.joined(separator: " ") ?? server.log.joined(separator: ", ")
    }

    @Test func limitsAllCookiesTogether() throws {
        func result(_ counts: Int...) throws -> String {
            let cookies = counts.map { ("cookie", String(repeating: "v", count: $0)) }
            return try names(in: H2Frames.block(Self.get + cookies))
        }
        #expect(try result(40_000, 25_534) == "Host Cookie")
        #expect(try result(40_000, 25_535) == "1 fieldsTooLarge")
    }

    /// nghttp2 limits what is encoded, which is shorter with Huffman codes: that of `a` has the five bits
    /// 00011 (RFC 7541, appendix B).
    @Test func limitsEachValueAfterDecoding() throws {
        func result(letters: Int) throws -> String {
            let eight: [UInt8] = [0x18, 0xC6, 0x31, 0x8C, 0x63]
            let value = (0..<letters / 8).flatMap { _ in eight }
            // An integer with a prefix of seven bits (RFC 7541 5.1), behind the bit for Huffman codes.
            var length: [UInt8] = [0xFF]
            var rest = value.count - 127
            while rest >= 128 {
                length.append(UInt8(rest % 128 + 128))
                rest /= 128
            }
            length.append(UInt8(rest))
            let field: [UInt8] = [0, 1, UInt8(ascii: "x")] + length + value
            return try names(in: H2Frames.block(Self.get) + field)
        }
        #expect(try result(letters: 64 * 1024) == "Host x")
        #expect(try result(letters: 64 * 1024 + 8) == "1 fieldsTooLarge")
    }

    /// RFC 9113 6.5.2: each field counts 32 bytes more.
    @Test func countsTheOverheadOfFields() throws {
        var limits = H2Limits()
        limits.heads.headerBytes = 10 + 1 + 32 + 1 + 32
        #expect(try outcome(Self.get + [("a", "")], limits: limits) == "GET / [Host: a, a: ]")
        #expect(try outcome(Self.get + [("a", "b")], limits: limits) == "1 fieldsTooLarge")
    }

    /// The length must be that of the DATA frames; a message with another one is malformed.
    @Test(arguments: [("5", "hell", true), ("5", "hello!", true), ("5", "hello", false)])
    func checksTheLengthOfTheBody(_ stated: String, _ body: String, _ isMalformed: Bool) throws {
        let server = try H2Side(.server)
        var frames = H2Frames.opening()
        frames.request(
            H2Frames.post() + [("content-length", stated)], on: 1, endsStream: false)
        frames.data(body, on: 1, endsStream: true)
        server.receive(frames.bytes)
        let resets = server.takeFrames().filter { $0.isKind(.reset) }.map { $0.number() }
        #expect(resets == (isMalformed ? [1] : []))
        #expect(server.streams.first?.hasEnded == !isMalformed)
        #expect(server.streams.first?.stream?.isMalformed == isMalformed)
    }

    @Test func statesTheFramingOfTheBody() throws {
        func framing(_ fields: [(String, String)], endsStream: Bool) throws -> BodyFraming? {
            let server = try H2Side(.server)
            var frames = H2Frames.opening()
            frames.request(H2Frames.post() + fields, on: 1, endsStream: endsStream)
            server.receive(frames.bytes)
            return server.streams.first?.request?.framing
        }
        #expect(try framing([], endsStream: true) == BodyFraming.none)
        #expect(try framing([], endsStream: false) == .chunked)
        #expect(try framing([("content-length", "7")], endsStream: false) == .length(7))
        #expect(try framing([("content-length", "0")], endsStream: true) == BodyFraming.none)
        // Trailers may follow.
        #expect(try framing([("content-length", "0")], endsStream: false) == .length(0))
    }
}
