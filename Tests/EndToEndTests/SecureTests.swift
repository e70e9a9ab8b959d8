import Foundation
import Testing

extension EndToEnd {
    /// A backend over TLS: OpenSSL's own server.
    @Suite(.enabled(if: SecureBackend.isPossible)) struct SecureTests {
        private func configuration(_ backend: SecureBackend, _ tls: String) -> String {
            """
            workers: 2
            backends:
              b: { url: "\(backend.url)", tls: { \(tls) } }
            endpoints:
              - route: GET /x
                expose: details
                calls:
                  one: { from: b, get: /response, required: true }

            """
        }

        /// A wrong server name is refused; after a reload, the right one is accepted.
        @Test func verifiesTheCertificateOfTheBackend() throws {
            let folder = try Folder()
            let backend = try SecureBackend(in: folder)
            let daemon = try Daemon.serving(
                configuration(backend, "ca: authority.pem, server_name: other.test"), in: folder)
            let refusal = try daemon.request("GET /x")
            #expect(refusal.status == 502)
            #expect(refusal.body.contains(#""kind":"tls_certificate_error""#))
            #expect(refusal.body.contains("hostname mismatch"))

            try folder.write(
                "gateway.yaml", Daemon.complete(configuration(backend, "ca: authority.pem")))
            daemon.signal(SIGHUP)
            try daemon.logLine("configuration reloaded")
            try daemon.eventually("GET /x", is: 200)
            #expect(try daemon.request("GET /x").body == #"{"one":{"a":42}}"#)

            try FileManager.default.removeItem(atPath: folder.path("authority.pem"))
            daemon.signal(SIGHUP)
            try daemon.logLine(
                "configuration", containing: "'ca' in 'tls' of backend 'b' cannot be read")
            #expect(try daemon.request("GET /x").status == 200, "the last good one stays")
        }
    }
}

/// `openssl s_server`, which responds with the requested file.
private final class SecureBackend {
    private let server: Command
    private(set) var url = ""

    private static let program = "/usr/bin/openssl"
    static let isPossible = FileManager.default.isExecutableFile(atPath: program)

    init(in folder: Folder) throws {
        let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/tls")
        for name in ["authority.pem", "server.pem", "server.key"] {
            try folder.write(
                name, String(contentsOf: fixtures.appending(path: name), encoding: .utf8))
        }
        try folder.write(
            "response",
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n"
                + "{\"a\":42}")
        server = try Command(
            [
                "s_server", "-accept", "127.0.0.1:0", "-cert", "server.pem", "-key", "server.key",
                "-HTTP",
            ], program: URL(filePath: Self.program), in: folder.url)
        let line = try server.output.line("openssl to listen") { $0.hasPrefix("ACCEPT ") }
        url = "https://" + line.dropFirst("ACCEPT ".count)
    }
}
