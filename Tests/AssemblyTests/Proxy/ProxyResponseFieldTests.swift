import Foundation
import HTTP
import SimReactor
import TestCertificates
import TestSupport
import Testing
import WorkerSupport

/// Which fields of a backend reach the client through `proxy`: in the head, in trailers and in
/// interim responses.
@Suite(.watched) struct ProxyResponseFieldTests {
    private static let names = [
        "x-request-id", "x-own", "access-control-allow-origin", "strict-transport-security",
        "vary", "x-sum",
    ]
    private static let fields: Fields = [
        "x-request-id": "b", "x-own": "b", "access-control-allow-origin": "b",
        "strict-transport-security": "b", "vary": "b", "x-sum": "b",
    ]
    private static let lines = names.map { "\($0): b\r\n" }.joined()

    private static let endpoint = """
        cors: { origins: ["https://shop.example"] }
        response_headers: { X-Own: "1" }
        """

    /// What an endpoint adds, and which of the names pass. Without TLS.
    static let rules: [(String, [String])] = [
        (endpoint, ["vary", "x-sum"]),
        ("", ["x-own", "access-control-allow-origin", "vary", "x-sum"]),
    ]

    /// The names of the backend's fields among these lines.
    private func passed(_ lines: String) -> [String] {
        Self.names.filter { lines.contains("\($0): b\r\n") }
    }

    private func passed(_ fields: Fields?) throws -> [String] {
        let fields = try #require(fields)
        return Self.names.filter { name in
            FieldName(name).map { fields.all($0) }?.contains { $0 == "b" } == true
        }
    }

    @Test(arguments: rules) func ruleHoldsOverHTTP1(_ endpoint: String, _ names: [String]) throws {
        let harness = try ProxyHarness("to: a, interim: all", endpoint: endpoint)
        let client = try harness.send(get("/x/a", "TE: trailers"))
        try harness.respond("HTTP/1.1 103 Early Hints\r\n\(Self.lines)\r\n")
        #expect(client.text.hasPrefix("HTTP/1.1 103 ") && passed(client.text) == names)
        client.clearReceived()
        try harness.respond(
            "HTTP/1.1 200 OK\r\n\(Self.lines)Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n")
        #expect(client.text.hasPrefix("HTTP/1.1 200 ") && passed(client.text) == names)
        client.clearReceived()
        try harness.respond("0\r\n\(Self.lines)\r\n")
        let expected = names.map { "\($0): b\r\n" }.joined()
        #expect(client.text == "0\r\n\(expected)\r\n")
        harness.expectQuiet()
    }

    @Test(arguments: rules) func ruleHoldsOverHTTP2(_ endpoint: String, _ names: [String]) throws {
        let harness = try H2ProxyHarness(endpoint: endpoint)
        let client = try harness.connect()
        let call = try client.send(.get, "/x/a", ["te": "trailers"])
        harness.pass()
        let exchange = try harness.exchange()
        exchange.begin(try #require(Status(103)), Self.fields)
        exchange.begin(.ok, Self.fields)
        exchange.send("ok")
        exchange.end(Self.fields)
        harness.pass()
        #expect(call.responses.map(\.status.code) == [103, 200] && call.text == "ok")
        for response in call.responses { #expect(try passed(response.fields) == names) }
        #expect(try passed(call.trailers) == names)
        harness.expectQuiet(client)
    }

    /// RFC 6797 7.2. A trusted proxy may encrypt the connection of its client.
    @Test(arguments: [
        ("clients: { trusted_proxies: [0.0.0.0/0] }", "https", true),
        ("clients: { trusted_proxies: [0.0.0.0/0] }", "http", false), ("", "https", false),
    ])
    func trustedProxyStatesTLS(_ top: String, _ scheme: String, _ passes: Bool) throws {
        let harness = try ProxyHarness(top: top)
        let client = try harness.send(
            get(
                "/x/a", "TE: trailers", "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: \(scheme)"))
        let line = "Strict-Transport-Security: max-age=1\r\n"
        try harness.respond(
            "HTTP/1.1 200 OK\r\n\(line)Transfer-Encoding: chunked\r\n\r\n0\r\n\(line)\r\n")
        #expect(client.text.components(separatedBy: line).count == (passes ? 3 : 1))
        #expect(client.text.hasPrefix("HTTP/1.1 200 ") && client.text.hasSuffix("\r\n\r\n"))
        harness.expectQuiet()
    }

    @Test(arguments: [false, true]) func fieldPassesOverTLS(_ isSecure: Bool) throws {
        let tls = isSecure ? ", tls: { cert: server.pem, key: server.key }" : ""
        let harness = try GatewayHarness(
            config: ProxyHarness.text(
                "to: a", "ANY /x/*", "", "", "listen: { address: 127.0.0.1:8080\(tls) }"))
        harness.on("/x/a", .ok("{}", "Strict-Transport-Security: max-age=1"))
        let client = try isSecure ? harness.secureClient() : harness.connect()
        client.send(get("/x/a"))
        let response = harness.response(of: client)
        #expect(response.status == 200)
        #expect(response["Strict-Transport-Security"] == (isSecure ? "max-age=1" : nil))
        harness.expectQuiet()
    }
}
