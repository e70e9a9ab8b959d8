import Basics
import Gateway
import HTTP
import TestCertificates
import TestSupport
import Testing
import WorkerSupport

@testable import Assembly

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

    @Test func responsesOverTLSAreUsedLikeOthers() throws {
        let harness = try harness(
            "one: { from: a, get: /1 }\ntwo: { from: b, get: /2 }", backend: Self.trust)
        for _ in 0..<3 {
            #expect(try harness.fetch().summary == #"200 at 0 {"one":"/1","two":"/2"}"#)
        }
        #expect(harness.backend()?.handshakes == 1, "the connection is kept")
        #expect(harness.seen.first { $0.port == 7001 }?["Host"] == "127.0.0.1:7001")
        harness.expectQuiet()
    }

    @Test func refusedCertificateIsNotRetried() throws {
        let harness = try harness(
            "one: { from: a, get: /1, required: true, retry: { attempts: 3 } }",
            backend: Self.wrongName)
        let response = try harness.fetch()
        #expect(response.status == 502)
        #expect(response.failures == #"[{"call":"one","kind":"tls_certificate_error"}]"#)
        #expect(harness.backend()?.handshakes == 1 && harness.seen.isEmpty)
        harness.expectQuiet()
    }

    @Test func reloadKeepsConnectionsWithTheSameTLSSettings() throws {
        let call = "one: { from: a, get: /1 }"
        let harness = try harness(call, backend: Self.trust)
        _ = try harness.fetch()
        try harness.install(GatewayHarness.text(call, "deadline: 1s", "\(Self.url), \(Self.trust)"))
        _ = try harness.fetch()
        #expect(harness.backend()?.handshakes == 1)
        try harness.install(GatewayHarness.text(call, "", "\(Self.url), \(Self.wrongName)"))
        #expect(try harness.fetch().status == 502)
        #expect(harness.backend()?.handshakes == 2)
        harness.expectQuiet()
    }

    @Test func healthChecksUseTLS() throws {
        let harness = try harness(
            "one: { from: a, get: /1 }", backend: Self.trust + ", health: { path: /up, every: 1s }")
        harness.pass(2500)
        #expect(harness.seen.map(\.target) == ["/up", "/up", "/up"])
        #expect(try harness.unavailableHosts() == 0)
        harness.expectQuiet()
    }

    /// The reasons in the log and on the admin address.
    @Test(arguments: [
        "calls: { one: { from: a, get: /1, required: true } }", "proxy: { to: a, path: /1 }",
    ])
    func operatorsLearnWhyTheCertificateIsRefused(_ endpoint: String) throws {
        let harness = try GatewayHarness(
            config: """
                version: 1
                admin: 127.0.0.1:9901
                backends: { a: { \(Self.url), \(Self.wrongName) } }
                endpoints: [{ route: GET /x, \(endpoint) }]
                """)
        harness.backend()?.secure(try Certificates.server())
        let response = try harness.fetch()
        #expect(response.status == 502 && !response.body.contains("hostname"))
        let reason = "certificate refused: hostname mismatch"
        #expect(
            harness.logged.contains {
                $0.contains(#""kind":"tls_certificate_error","detail":"\#(reason)""#)
            }, "\(harness.logged)")
        let answer = harness.instance?.answer(
            RecentQuery(number: 1, .requests(after: 0, max: 10, withSample: false)))
        guard case .requests(let list)? = answer?.content else {
            Issue.record("no requests")
            return
        }
        var reader = WordReader(list.words)
        let entry = try #require(RecentEntry(&reader))
        #expect(entry.details.map { String($0.text) } == [reason])
        #expect(entry.details.map(\.attempt) == [0])
        harness.expectQuiet()
    }

    @Test func aFailedHealthCheckHasTheReason() throws {
        let harness = try harness(
            "one: { from: a, get: /1 }",
            backend: Self.wrongName + ", health: { path: /up, every: 1s }")
        harness.pass(500)
        let host = try #require(harness.instance?.snapshot.backendDetails.first?.hosts.first)
        #expect(
            host.failedCheck?.reason
                == "tls_certificate_error: certificate refused: hostname mismatch")
        harness.expectQuiet()
    }
}
