import TestCertificates
import TestSupport
import Testing

/// A backend over TLS, from the configuration to the wire.
@Suite(.watched) struct SecureTests {
    private static let url = #"urls: ["https://127.0.0.1:7001"]"#
    private static let trust = "tls: { ca: authority.pem }"
    private static let wrongName = "tls: { ca: authority.pem, server_name: other.test }"

    private func harness(_ calls: String, backend: String) throws -> GatewayHarness {
        let harness = try GatewayHarness(calls, backend: "\(Self.url), \(backend)")
        harness.backend()?.secure(try Certificates.server())
        return harness
    }

    @Test func itsAnswersAreLikeAllOthers() throws {
        let harness = try harness(
            "one: { from: a, get: /1 }\ntwo: { from: b, get: /2 }", backend: Self.trust)
        for _ in 0..<3 {
            #expect(try harness.ask().summary == #"200 at 0 {"one":"/1","two":"/2"}"#)
        }
        #expect(harness.backend()?.handshakes == 1, "the connection is kept")
        #expect(harness.seen.first { $0.port == 7001 }?["Host"] == "127.0.0.1:7001")
        harness.expectQuiet()
    }

    @Test func aCertificateThatIsRefusedIsNotTriedAgain() throws {
        let harness = try harness(
            "one: { from: a, get: /1, required: true, retry: { attempts: 3 } }",
            backend: Self.wrongName)
        let answer = try harness.ask()
        #expect(answer.status == 502)
        #expect(answer.failures == #"[{"call":"one","kind":"tls_certificate_error"}]"#)
        #expect(harness.backend()?.handshakes == 1 && harness.seen.isEmpty)
        harness.expectQuiet()
    }

    @Test func aReloadKeepsWhatIsBelievedForTheSameReasons() throws {
        let call = "one: { from: a, get: /1 }"
        let harness = try harness(call, backend: Self.trust)
        _ = try harness.ask()
        try harness.install(GatewayHarness.text(call, "deadline: 1s", "\(Self.url), \(Self.trust)"))
        _ = try harness.ask()
        #expect(harness.backend()?.handshakes == 1)
        try harness.install(GatewayHarness.text(call, "", "\(Self.url), \(Self.wrongName)"))
        #expect(try harness.ask().status == 502)
        #expect(harness.backend()?.handshakes == 2)
        harness.expectQuiet()
    }

    @Test func healthIsAskedOverTLSToo() throws {
        let harness = try harness(
            "one: { from: a, get: /1 }", backend: Self.trust + ", health: { path: /up, every: 1s }")
        harness.pass(2500)
        #expect(harness.seen.map(\.target) == ["/up", "/up", "/up"])
        #expect(try harness.leftOut() == 0)
        harness.expectQuiet()
    }
}
