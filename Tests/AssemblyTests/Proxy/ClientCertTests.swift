import Basics
import Foundation
import TestCertificates
import TestSupport
import Testing
import WorkerSupport

/// `client_cert` of `proxy`: the verified certificate of a client in `Client-Cert` (RFC 9440).
@Suite(.watched) struct ClientCertTests {
    private static let forged = ["Client-Cert: :AAAA:", "Client-Cert-Chain: :AAAA:"]

    /// The lines about certificates that the backend receives.
    private func sent(
        _ lines: [String], as client: String?, proxy: String = "client_cert: on", top: String = "",
        backend: String = ""
    ) throws -> [String] {
        let harness = try GatewayHarness(
            config: ProxyHarness.text(
                "to: a, \(proxy)", "ANY /x/*", "", backend,
                "listen: { address: 127.0.0.1:8080, tls: { cert: server.pem, key: server.key,"
                    + " client_ca: authority.pem, client_certificate: optional } }\n\(top)"))
        let peer = try harness.secureClient(as: client)
        // The second request of the connection has the same field.
        for _ in 0..<2 {
            peer.send(request("GET", "/x/a", lines))
            #expect(harness.response(of: peer).status == 200)
        }
        harness.expectQuiet()
        let heads = harness.seen.map { seen in
            seen.text.components(separatedBy: "\r\n").filter { $0.hasPrefix("Client-Cert") }
        }
        #expect(heads.count == 2 && heads.first == heads.last)
        return heads.first ?? []
    }

    /// The line for a certificate of the fixtures.
    private func line(of client: String) throws -> String {
        let pem = String(try Certificates.file("\(client).pem"))
        let base64 = pem.components(separatedBy: "\n").drop { !$0.hasPrefix("-----BEGIN") }
            .dropFirst().prefix { !$0.hasPrefix("-----END") }.joined()
        return "Client-Cert: :\(base64):"
    }

    @Test func verifiedCertificateReplacesTheStatedOne() throws {
        #expect(try sent(Self.forged, as: "caller") == [line(of: "caller")])
    }

    @Test func clientWithoutACertificateCannotStateOne() throws {
        #expect(try sent(Self.forged, as: nil) == [])
    }

    @Test func nothingIsSentByDefault() throws {
        #expect(try sent(Self.forged, as: "caller", proxy: "client_cert: off") == [])
    }

    /// The client of a trusted proxy has a certificate of its own, or none.
    @Test func certificateOfATrustedProxyIsNotSent() throws {
        let top = "clients: { trusted_proxies: [0.0.0.0/0] }"
        #expect(try sent([], as: "caller", top: top) == [])
        #expect(
            try sent(["Client-Cert: :AAAA:"], as: "caller", top: top) == ["Client-Cert: :AAAA:"])
    }

    @Test(arguments: [
        ("client_cert: on, headers: { Client-Cert: none }", ""),
        ("client_cert: on", "headers: { Client-Cert: none }"),
    ])
    func configuredHeaderTakesPrecedence(_ proxy: String, _ backend: String) throws {
        #expect(
            try sent([], as: "caller", proxy: proxy, backend: backend) == ["Client-Cert: none"])
    }
}
