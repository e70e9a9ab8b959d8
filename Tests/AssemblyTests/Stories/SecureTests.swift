import TestCertificates
import TestSupport
import Testing

/// A backend over TLS, from the configuration to the wire.
@Suite(.watched) struct SecureTests {
    private static let url = #"urls: ["https://127.0.0.1:7001"]"#
    private static let trust = "tls: { ca: authority.pem }"
    private static let wrongName = "tls: { ca: authority.pem, server_name: other.test }"

    private func stage(_ calls: String, backend: String) throws -> Stage {
        let stage = try Stage(calls, backend: "\(Self.url), \(backend)")
        stage.backend()?.secure(try Certificates.server())
        return stage
    }

    @Test func itsAnswersAreLikeAllOthers() throws {
        let stage = try stage(
            "one: { from: a, get: /1 }\ntwo: { from: b, get: /2 }", backend: Self.trust)
        for _ in 0..<3 {
            #expect(try stage.ask().summary == #"200 at 0 {"one":"/1","two":"/2"}"#)
        }
        #expect(stage.backend()?.handshakes == 1, "the connection is kept")
        #expect(stage.seen.first { $0.port == 7001 }?["Host"] == "127.0.0.1:7001")
        stage.expectQuiet()
    }

    @Test func aCertificateThatIsRefusedIsNotTriedAgain() throws {
        let stage = try stage(
            "one: { from: a, get: /1, required: true, retry: { attempts: 3 } }",
            backend: Self.wrongName)
        let answer = try stage.ask()
        #expect(answer.status == 502)
        #expect(answer.failures == #"[{"call":"one","kind":"tls_certificate_error"}]"#)
        #expect(stage.backend()?.handshakes == 1 && stage.seen.isEmpty)
        stage.expectQuiet()
    }

    @Test func aReloadKeepsWhatIsBelievedForTheSameReasons() throws {
        let call = "one: { from: a, get: /1 }"
        let stage = try stage(call, backend: Self.trust)
        _ = try stage.ask()
        try stage.install(Stage.text(call, "deadline: 1s", "\(Self.url), \(Self.trust)"))
        _ = try stage.ask()
        #expect(stage.backend()?.handshakes == 1)
        try stage.install(Stage.text(call, "", "\(Self.url), \(Self.wrongName)"))
        #expect(try stage.ask().status == 502)
        #expect(stage.backend()?.handshakes == 2)
        stage.expectQuiet()
    }

    @Test func healthIsAskedOverTLSToo() throws {
        let stage = try stage(
            "one: { from: a, get: /1 }", backend: Self.trust + ", health: { path: /up, every: 1s }")
        stage.pass(2500)
        #expect(stage.seen.map(\.target) == ["/up", "/up", "/up"])
        #expect(try stage.leftOut() == 0)
        stage.expectQuiet()
    }
}
