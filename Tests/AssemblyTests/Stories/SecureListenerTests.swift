import Basics
import Foundation
import HTTP
import HTTPServer
import Promises
import Reactor
import SimReactor
import TLS
import TestCertificates
import TestSupport
import Testing
import WorkerSupport

@testable import Assembly
@testable import Gateway

/// Clients with TLS, over the whole gateway in virtual time.
@Suite struct SecureListenerTests {
    private static let call = "one: { from: a, get: /1, required: true }"

    private func harness(
        _ tls: String = "cert: server.pem, key: server.key", _ more: String = "",
        endpoint: String = "", calls: String = call, files: [String: String] = [:]
    ) throws -> GatewayHarness {
        try GatewayHarness(
            calls, endpoint: endpoint,
            top: "listen: { address: 127.0.0.1:8080, tls: { \(tls) } }\n\(more)", files: files)
    }

    private func records(in bytes: [UInt8]) -> [UInt8] {
        var (types, position): ([UInt8], Int) = ([], 0)
        while position + 5 <= bytes.count {
            types.append(bytes[position])
            position += 5 + Int(bytes[position + 3]) << 8 + Int(bytes[position + 4])
        }
        return types
    }

    @Test func servesOverTLS() throws {
        let harness = try harness()
        let client = try harness.secureClient()
        for _ in 0..<3 {
            client.send(get())
            #expect(harness.response(of: client).body == #"{"one":"/1"}"#)
        }
        #expect(
            harness.instance?.snapshot.tls?.handshakes[.succeeded(.tls13, isResumed: false)] == 1)
        harness.expectQuiet()
    }

    /// The head and the body of a response are one record, and so are pipelined responses.
    @Test func responsesOfOneIterationAreOneRecord() throws {
        let harness = try harness(calls: "one: { from: a, get: /1 }")
        let peer = ScriptedPeer(try harness.stream())
        let client = try Certificates.trusting().engine(
            for: "backend.test", unixTime: Certificates.now)
        func exchange() -> [UInt8] {
            client.takeOutgoing { peer.stream.write($0) }
            harness.pass(1)
            let received = peer.received
            client.receive(received.span)
            peer.clearReceived()
            return received
        }
        while client.continueHandshake() == .needsMore { _ = exchange() }
        _ = exchange()
        for text in [get("/none"), get("/none") + get("/none") + get("/none")] {
            let bytes = Array(text.utf8)
            _ = client.write(bytes.span)
            #expect(records(in: exchange()) == [23])
        }
        peer.stream.close()
        harness.expectQuiet()
    }

    /// A problem without encryption, and then the end of the connection.
    @Test func plainHTTPGets400() throws {
        let harness = try harness()
        let response = try harness.fetch()
        #expect(response.status == 400 && response["Connection"] == "close")
        #expect(response.body.contains(#""status":400"#))
        #expect(harness.logged.contains { $0.contains(#""msg":"refused""#) })
        #expect(harness.instance?.snapshot.tls?.handshakes[.plainText] == 1)
        harness.expectQuiet()
    }

    /// RFC 9110 9.3.2; also where a part of the method has arrived, which may be HEAD.
    @Test(arguments: [
        ("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n", false), ("HEAD", false), ("H", false),
        ("HEADS /x HTTP/1.1\r\nHost: a\r\n\r\n", true),
        ("GET /x HTTP/1.1\r\nHost: a\r\n\r\n", true),
    ])
    func plainHEADGetsNoBody(_ text: String, _ hasBody: Bool) throws {
        let harness = try harness()
        let peer = ScriptedPeer(try harness.stream())
        peer.send(text)
        harness.pass(5)
        let parts = peer.text.components(separatedBy: "\r\n\r\n")
        #expect(parts[0].hasPrefix("HTTP/1.1 400 ") && parts[0].contains("Content-Length: "))
        #expect(parts.count == 2 && parts[1].isEmpty != hasBody)
        peer.stream.close()
        harness.expectQuiet()
    }

    // MARK: Strict-Transport-Security

    private static let hsts = "response_headers: { Strict-Transport-Security: max-age=1 }"

    /// RFC 6797 7.2: not without TLS, whatever responds.
    @Test(arguments: ["", "defaults: { cors: { origins: [\"https://shop.example\"] } }"])
    func strictTransportSecurityNeedsTLS(_ top: String) throws {
        let secure = try harness("cert: server.pem, key: server.key", "\(Self.hsts)\n\(top)")
        let client = try secure.secureClient()
        for text in [get(), get("/none"), "BAD\r\n\r\n"] {
            client.send(text)
            #expect(secure.response(of: client)["Strict-Transport-Security"] == "max-age=1")
        }
        // A listener with TLS responds to HTTP without it.
        #expect(try secure.fetch()["Strict-Transport-Security"] == nil)
        secure.expectQuiet()
        let plain = try GatewayHarness(
            Self.call, endpoint: "response_headers: { X-Own: '1' }", top: "\(Self.hsts)\n\(top)")
        for text in [get(), get("/none"), request("DELETE", "/x"), "BAD\r\n\r\n"] {
            let response = try plain.fetch(text)
            #expect(response["Strict-Transport-Security"] == nil)
            #expect(response["X-Content-Type-Options"] == "nosniff")
        }
        plain.expectQuiet()
    }

    @Test func redirectsHaveNoStrictTransportSecurity() throws {
        let harness = try GatewayHarness(
            Self.call,
            top: "listen: [{ address: 127.0.0.1:8080, redirect: https },"
                + " { address: 127.0.0.1:8443, tls: { cert: server.pem, key: server.key } }]\n"
                + Self.hsts)
        let response = try harness.fetch()
        #expect(response.status == 308 && response["Strict-Transport-Security"] == nil)
        harness.expectQuiet()
    }

    /// A trusted proxy may have encrypted the connection of the client.
    @Test(arguments: [
        ("clients: { trusted_proxies: [0.0.0.0/0] }", "https", true),
        ("clients: { trusted_proxies: [0.0.0.0/0] }", "http", false), ("", "https", false),
    ])
    func trustedProxyStatesTLS(_ top: String, _ scheme: String, _ isSecure: Bool) throws {
        let harness = try GatewayHarness(Self.call, top: "\(Self.hsts)\n\(top)")
        let response = try harness.fetch(
            get("/x", "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: \(scheme)"))
        #expect(response.status == 200)
        #expect(response["Strict-Transport-Security"] == (isSecure ? "max-age=1" : nil))
        harness.expectQuiet()
    }

    /// close_notify alone is a half-close: the client still reads.
    @Test func respondsAfterCloseNotify() throws {
        let harness = try harness()
        harness.on("/1", .ok("1", after: 50))
        let stream = try harness.secureStream()
        let peer = ScriptedPeer(stream)
        peer.send(get())
        harness.pass(1)
        stream.finishWriting()
        harness.pass(100)
        #expect(peer.text.contains(#"{"one":1}"#))
        #expect(harness.loggedStatuses == ["200"])
        stream.close()
        harness.expectQuiet()
    }

    /// Without close_notify, anyone on the path may have ended the connection.
    @Test func truncationCancelsRequest() throws {
        let harness = try harness()
        harness.on("/1", .ok("1", after: 50))
        let plain = try harness.stream()
        let security = try Certificates.trusting().security
        var secure: (any ByteStream)?
        harness.testbed.perform(on: harness.outside) {
            security.secure(plain, "backend.test", harness.outside)
                .whenSettled { secure = try? $0.get() }
        }
        harness.pass(1)
        let peer = ScriptedPeer(try #require(secure))
        peer.send(get())
        harness.pass(5)
        plain.close()
        harness.pass(100)
        #expect(harness.loggedStatuses == ["499"])
        #expect(harness.events.contains { $0.hasSuffix("cancelled /1") })
        peer.stream.close()
        harness.expectQuiet()
    }

    // MARK: Memory

    /// Records that never end: the idle connections end first, then those with a part of a record, and the memory
    /// stays within its limit.
    @Test func partialRecordsStayWithinBufferedBytes() throws {
        let harness = try harness(
            "cert: server.pem, key: server.key",
            "workers: 1\nlimits: { buffered_bytes: 1MiB, header_timeout: 1m, idle_timeout: 1m }")
        var peers: [ScriptedPeer] = []
        for _ in 0..<60 {
            let peer = ScriptedPeer(try harness.stream())
            let client = try Certificates.trusting().engine(
                for: "backend.test", unixTime: Certificates.now)
            for _ in 0..<3 {
                _ = client.continueHandshake()
                client.takeOutgoing { peer.stream.write($0) }
                harness.pass(1)
                client.receive(peer.received.span)
                peer.clearReceived()
            }
            #expect(!peer.failures.isEmpty || peer.hasEnded || client.continueHandshake() == .done)
            _ = client.write([UInt8](repeating: UInt8(ascii: "a"), count: 16_000).span)
            client.takeOutgoing { peer.stream.write($0.extracting(first: $0.count - 10)) }
            harness.pass(1000)
            peers.append(peer)
            let held = try #require(harness.instance?.snapshot.bufferedBytes)
            #expect(held <= 1 << 20)
        }
        let snapshot = try #require(harness.instance?.snapshot)
        #expect(snapshot.bufferedBytes > 1 << 19, "they are counted")
        #expect(
            snapshot.losses[ServerLosses.Shedding.idle]
                + snapshot.losses[ServerLosses.Refusal.bufferedBytes] > 10)
        // Others are served.
        let client = try harness.secureClient()
        client.send(get())
        #expect(harness.response(of: client).status == 200)
        for peer in peers { peer.stream.close() }
        harness.expectQuiet()
    }

    /// A client that only updates its keys costs a connection, which counts as a flood.
    @Test func floodOfRecordsWithoutDataEndsTheConnection() throws {
        let harness = try harness()
        let peer = ScriptedPeer(try harness.stream())
        let client = try Certificates.trusting().engine(
            for: "backend.test", unixTime: Certificates.now)
        #expect(client.continueHandshake() == .needsMore)
        let record = client.takeOutgoingBytes()
        for byte in record.dropFirst(5) {
            let fragment = record[..<3] + [0, 1, byte]
            peer.stream.write(Array(fragment).span)
        }
        harness.pass(10)
        #expect(peer.hasEnded || !peer.failures.isEmpty)
        #expect(harness.instance?.snapshot.losses[ServerLosses.Shedding.flood] == 1)
        peer.stream.close()
        harness.expectQuiet()
    }

    // MARK: Clients with certificates

    private static let auth = """
        auth: { services: { certificate: { san: ["spiffe://shop.test/*"] } } }
        """

    @Test(arguments: [("caller", 200), ("client", 401), (nil, 401)] as [(String?, Int)])
    func authenticatesByCertificate(_ client: String?, _ status: Int) throws {
        let harness = try harness(
            "cert: server.pem, key: server.key, client_ca: authority.pem,"
                + " client_certificate: optional", Self.auth, endpoint: "auth: services",
            calls: #"one: { from: a, get: /1, headers: { X-Caller: "{request.caller}" } }"#)
        let peer = try harness.secureClient(as: client)
        peer.send(get())
        let response = harness.response(of: peer)
        #expect(response.status == status)
        if status == 200 {
            #expect(harness.seen.first?["X-Caller"] == "spiffe://shop.test/cart")
            let name = #""client_certificate":"spiffe://shop.test/cart","caller":"spiffe:"#
            #expect(harness.logged.contains { $0.contains(name) })
            let connection = #""scheme":"https","tls":"1.3","protocol":"1.1""#
            #expect(harness.logged.contains { $0.contains(connection) })
        } else {
            #expect(response["WWW-Authenticate"] == #"Certificate realm="services""#)
        }
        harness.expectQuiet()
    }

    /// A certificate cannot be guessed. A key can, so that the fourth one is refused by the limit.
    @Test(arguments: [false, true]) func countsOnlyCredentialsThatCanBeGuessed(_ hasKey: Bool)
        throws
    {
        let top = """
            auth_failures: 3/m
            auth:
              services: { certificate: { san: ["spiffe://shop.test/*"] } }
              keys: { api_key: { header: X-Key, keys: keys.yaml } }
            """
        let harness = try harness(
            "cert: server.pem, key: server.key, client_ca: authority.pem", top,
            endpoint: "auth: [services, keys]", files: ["keys.yaml": "[]"])
        let peer = try harness.secureClient(as: "client")
        for number in 1...4 {
            peer.send(get("/x", hasKey ? "X-Key: guess" : "X-Other: 1"))
            #expect(harness.response(of: peer).status == (hasKey && number == 4 ? 429 : 401))
        }
        harness.expectQuiet()
    }

    // MARK: Reload

    @Test func reloadAppliesNewCertificates() throws {
        let harness = try harness("cert: shop.pem, key: shop.key")
        #expect(throws: IOFailure.certificateRefused("hostname mismatch")) {
            try harness.secureStream()
        }
        let text = GatewayHarness.text(
            Self.call, "", "",
            "listen: { address: 127.0.0.1:8080, tls: { cert: server.pem, key: server.key } }")
        try harness.install(text)
        let client = try harness.secureClient()
        // Another reload does not concern open connections.
        try harness.install(text.replacing("server.", with: "shop."))
        client.send(get())
        #expect(harness.response(of: client).status == 200)
        harness.expectQuiet()
    }

    @Test func reloadAppliesRedirect() throws {
        let harness = try harness()
        try harness.install(
            GatewayHarness.text(
                Self.call, "", "",
                "listen: [{ address: 127.0.0.1:8080, redirect: https },"
                    + " { address: 127.0.0.1:8443, tls: { cert: server.pem, key: server.key } }]"))
        let response = try harness.fetch(get("/x?y=1"))
        #expect(response.status == 308 && response["Location"] == "https://gateway/x?y=1")
        harness.expectQuiet()
    }

    /// `hosts` applies to redirects, too.
    @Test func redirectsOnlyServedHosts() throws {
        let harness = try GatewayHarness(
            Self.call,
            top: """
                hosts: [shop.test]
                listen: [{ address: 127.0.0.1:8080, redirect: "https:8443" }, \
                { address: 127.0.0.1:8443, tls: { cert: server.pem, key: server.key } }]
                """)
        #expect(try harness.fetch(get("/x")).status == 421)
        let request = "GET /x HTTP/1.1\r\nHost: shop.test:8080\r\n\r\n"
        #expect(try harness.fetch(request)["Location"] == "https://shop.test:8443/x")
        harness.expectQuiet()
    }

    /// A listener that redirects serves no endpoint, also where the server itself rejects a request.
    @Test(arguments: [false, true]) func rejectionsOfRedirectHaveNoHeadersOfEndpoint(
        _ redirects: Bool
    ) throws {
        let harness = try GatewayHarness(Self.call)
        harness.on("/1", .ok("1", after: 100))
        _ = try harness.send(get("/x"))
        harness.pass(1)
        let listen =
            "listen: [{ address: 127.0.0.1:8080\(redirects ? ", redirect: https" : "") },"
            + " { address: 127.0.0.1:8443, tls: { cert: server.pem, key: server.key } }]"
        try harness.install(
            GatewayHarness.text(
                Self.call, "response_headers: { X-Endpoint: x }", "",
                "\(listen)\nlimits: { requests_in_flight: 1 }"))
        let response = try harness.fetch(get("/x"))
        #expect(response.status == 503)
        #expect(response["X-Endpoint"] == (redirects ? nil : "x"))
        harness.expectQuiet()
    }

    // MARK: Forwarded

    @Test func backendsLearnTheScheme() throws {
        let harness = try GatewayHarness(
            Self.call, backend: "forwarded: both",
            top: "listen: { address: 127.0.0.1:8080, tls: { cert: server.pem, key: server.key } }")
        let client = try harness.secureClient()
        client.send(get())
        #expect(harness.response(of: client).status == 200)
        let request = try #require(harness.seen.first)
        #expect(request["X-Forwarded-Proto"] == "https")
        #expect(request["Forwarded"]?.contains("proto=https") == true)
        harness.expectQuiet()
    }

    // MARK: Log

    @Test func summarizesFailedHandshakes() throws {
        let harness = try harness()
        func fail() throws {
            let stream = try harness.stream()
            stream.write([0x16, 3, 1, 0, 1, 0xFF].span)
            harness.pass(10)
            stream.close()
            harness.pass(10)
        }
        for _ in 0..<3 { try fail() }
        let lines = { harness.logged.filter { $0.contains("TLS handshakes failed") } }
        #expect(lines().count == 1 && lines()[0].contains(#""count":1"#))
        harness.pass(59_000)
        try fail()
        #expect(lines().count == 1, "at most once a minute")
        harness.pass(2_000)
        try fail()
        #expect(lines().count == 2 && lines()[1].contains(#""count":4"#))
        #expect(harness.instance?.snapshot.tls?.handshakes[.failed] == 5)
        harness.expectQuiet()
    }
}

extension TLSEngine {
    fileprivate func takeOutgoingBytes() -> [UInt8] {
        var bytes: [UInt8] = []
        takeOutgoing { bytes.append(copying: $0) }
        return bytes
    }
}
