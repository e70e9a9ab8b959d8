import TestSupport
import Testing
import WorkerSupport

/// The client's address: `{request.client}`, `forwarded`, and the access log. The harness's clients
/// are on 127.0.0.1, which is a trusted proxy where a test says so.
@Suite(.watched) struct ClientAddressTests {
    static let trusting = "clients: { trusted_proxies: [127.0.0.0/8, 10.0.0.0/8] }"

    static let call = #"one: { from: a, get: "/1?c={request.client}" }"#

    @Test(arguments: [
        ("", "X-Forwarded-For: 1.1.1.1", "/1?c=127.0.0.1"),
        (trusting, "X-Forwarded-For: 6.6.6.6, 1.1.1.1, 10.0.0.2", "/1?c=1.1.1.1"),
        (trusting, "X-Forwarded-For: 2001:db8::1", "/1?c=2001%3Adb8%3A%3A1"),
        (trusting, "X-Forwarded-For: nonsense", "/1?c=127.0.0.1"),
        (trusting, "Forwarded: for=1.1.1.1", "/1?c=127.0.0.1"),
        (
            "clients: { trusted_proxies: [127.0.0.1], address_from: forwarded }",
            "Forwarded: for=1.1.1.1", "/1?c=1.1.1.1"
        ),
    ])
    func clientOfARequest(_ top: String, _ line: String, _ target: String) throws {
        let harness = try GatewayHarness(Self.call, top: top)
        #expect(try harness.fetch(get("/x", line)).status == 200)
        #expect(harness.seen.first?.target == target)
        harness.expectQuiet()
    }

    @Test func clientAddressCanBeUsedInHeadersAndBodies() throws {
        let harness = try GatewayHarness(
            """
            one:
              from: a
              post: /1
              headers: { X-Client: "{request.client}" }
              body: { client: "{request.client}", text: "from {request.client}" }
            """, endpoint: "route: POST /x")
        _ = try harness.fetch(post(""))
        #expect(harness.seen.first?["X-Client"] == "127.0.0.1")
        #expect(harness.seen.first?.body == #"{"client":"127.0.0.1","text":"from 127.0.0.1"}"#)
        harness.expectQuiet()
    }

    // MARK: forwarded

    private static let names = [
        "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded",
    ]

    private func sent(
        _ call: String, backend: String = "", endpoint: String = "", top: String = "",
        _ lines: [String]
    ) throws -> [String?] {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1\(call) }", endpoint: endpoint, backend: backend, top: top)
        #expect(try harness.fetch(request("GET", "/x", lines)).status == 200)
        let seen = try #require(harness.seen.first)
        harness.expectQuiet()
        return Self.names.map { seen[$0] }
    }

    static let claims = [
        "X-Forwarded-For: 6.6.6.6", "X-Forwarded-Proto: https", "X-Forwarded-Host: evil.example",
        "Forwarded: for=6.6.6.6",
    ]

    @Test func nothingIsSentByDefault() throws {
        #expect(try sent("", Self.claims) == [nil, nil, nil, nil])
        #expect(try sent("", top: Self.trusting, Self.claims) == [nil, nil, nil, nil])
    }

    @Test func headersOfAnUntrustedPeerAreReplaced() throws {
        #expect(
            try sent(", forwarded: both", Self.claims) == [
                "127.0.0.1", "http", "gateway", "for=127.0.0.1;host=gateway;proto=http",
            ])
    }

    @Test func headersOfATrustedPeerAreContinued() throws {
        #expect(
            try sent(", forwarded: x", top: Self.trusting, Self.claims) == [
                "6.6.6.6, 127.0.0.1", "https", "evil.example", nil,
            ])
    }

    @Test func callTakesPrecedenceOverItsBackend() throws {
        #expect(
            try sent("", backend: "forwarded: rfc7239", [])
                == [nil, nil, nil, "for=127.0.0.1;host=gateway;proto=http"])
        #expect(
            try sent(", forwarded: x", backend: "forwarded: rfc7239", [])
                == ["127.0.0.1", "http", "gateway", nil])
        #expect(
            try sent(", forwarded: off", backend: "forwarded: rfc7239", []) == [nil, nil, nil, nil])
    }

    /// Listed under `forward`, these headers come from trusted proxies only, and never twice.
    @Test(arguments: [
        (false, "", [nil, nil]), (true, "", ["6.6.6.6", nil]),
        (false, ", forwarded: x", ["127.0.0.1", nil]),
        (true, ", forwarded: x", ["6.6.6.6, 127.0.0.1", nil]),
    ])
    func listedForwardingHeaders(_ isTrusted: Bool, _ call: String, _ values: [String?]) throws {
        let sent = try sent(
            call, endpoint: "forward: { headers: [X-Forwarded-For, Forwarded] }",
            top: isTrusted ? Self.trusting : "", Self.claims)
        #expect([sent[0], sent[3]] == values)
    }

    /// A proxy passes the headers that it does not maintain on as the client sent them.
    @Test func onlyHeadersThatTheProxiesMaintainAreForwarded() throws {
        let sent = try sent(
            "", endpoint: "forward: { headers: [X-Forwarded-For, X-Forwarded-Host, Forwarded] }",
            top: "clients: { trusted_proxies: [127.0.0.1], address_from: forwarded }", Self.claims)
        #expect(sent == [nil, nil, nil, "for=6.6.6.6"])
    }

    /// The configuration's header replaces the client's, even that of a trusted proxy.
    @Test(arguments: [
        ("", "", "6.6.6.6"), (", headers: { x-forwarded-for: fixed }", "", "fixed"),
        ("", "headers: { X-FORWARDED-FOR: fixed }", "fixed"),
    ])
    func configuredHeaderReplacesTheProxys(_ call: String, _ backend: String, _ value: String)
        throws
    {
        let sent = try sent(
            call, backend: backend, endpoint: "forward: { headers: [X-Forwarded-For] }",
            top: Self.trusting, Self.claims)
        #expect(sent[0] == value)
    }

    // MARK: Access log

    private func logged(_ top: String, _ line: String) throws -> [String?] {
        let harness = try GatewayHarness("one: { from: a, get: /1 }", top: top)
        _ = try harness.fetch(get("/x", line))
        harness.pass(200)
        let text = try #require(harness.logged.first { $0.contains(#""status""#) })
        harness.expectQuiet()
        return [
            text.firstMatch(of: /"client":"([^"]*)"/).map { String($0.1) },
            text.firstMatch(of: /"peer":"([^"]*)"/).map { String($0.1) },
        ]
    }

    @Test func accessLogNamesTheClientAndItsProxy() throws {
        let line = try logged(Self.trusting, "X-Forwarded-For: 1.1.1.1")
        #expect(line[0] == "1.1.1.1")
        #expect(line[1] == "127.0.0.1")
    }

    @Test(arguments: ["", trusting]) func accessLogNamesThePeerWithoutAProxy(_ top: String) throws {
        let line = try logged(top, top.isEmpty ? "X-Forwarded-For: 1.1.1.1" : "X-Other: 1")
        #expect(line[0] == "127.0.0.1")
        #expect(line[1] == nil)
    }
}
