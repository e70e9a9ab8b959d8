import Foundation
import HTTP
import Reactor
import TLS
import Testing

@testable import Gateway

/// `tls`, `protocols` and `redirect` of `listen`.
@Suite struct ListenTLSTests {
    private func listener(_ text: String) throws -> ListenPlan {
        let (config, problems) = load(["c.yaml": Snippet.top("listen: \(text)")])
        let plan = try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
        return try #require(plan.process.listeners.first)
    }

    private func settings(_ more: String = "") throws -> TLSServerSettings {
        let text = "{ address: 127.0.0.1:1, tls: { cert: shop.pem, key: shop.key\(more) } }"
        return try #require(try listener(text).tls).context.settings
    }

    private func messages(
        _ tls: String, _ more: String = "", unixTime: Int64? = nil
    ) -> [String] {
        problems(
            Snippet.top("listen: { address: 127.0.0.1:1, tls: { \(tls) }\(more) }"),
            unixTime: unixTime)
    }

    // MARK: Simulation

    @Test func simulatedClientsNeedNoTLSAndFollowNoRedirects() throws {
        let (config, problems) = load([
            "c.yaml": Snippet.top(
                """
                listen:
                  - { address: 127.0.0.1:1, redirect: https }
                  - { address: 127.0.0.1:2, tls: { cert: shop.pem, key: shop.key }, protocols: [http2] }
                """)
        ])
        let plan = try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
        let listeners = plan.process.listeners
        try #require(listeners[0].redirect != nil && listeners[1].tls != nil)
        #expect(
            plan.servingPlainHTTP1().process.listeners
                == listeners.map { ListenPlan(socket: $0.socket) })
    }

    // MARK: Values

    @Test func appliesDefaults() throws {
        let settings = try settings()
        #expect(settings.certificates.count == 1)
        #expect(!settings.refusesUnknownNames && settings.clients == nil)
        #expect(settings.policy == .intermediate && settings.minVersion == .tls12)
        #expect(settings.ticketLifetime == .seconds(12 * 3600))
        #expect(settings.protocols == ["h2", "http/1.1"])
    }

    @Test func readsAllKeys() throws {
        let settings = try settings(
            ", unknown_name: refuse, min_version: 1.3, client_ca: ca.pem,"
                + " client_certificate: optional, tickets: off, handshake_timeout: 2s")
        #expect(settings.refusesUnknownNames && settings.clients?.isRequired == false)
        #expect(settings.minVersion == .tls13 && settings.ticketLifetime == nil)
        #expect(try self.settings(", client_ca: ca.pem").clients?.isRequired == true)
        #expect(try self.settings(", policy: modern").minVersion == .tls13)
        #expect(try self.settings(", tickets: 168h").ticketLifetime == .seconds(7 * 86_400))
        #expect(try self.settings(", tickets: 1h").ticketLifetime == .seconds(3600))
    }

    @Test func readsListOfCertificates() throws {
        let plan = try listener(
            "{ address: 127.0.0.1:1, tls: { certificates: [{ cert: shop.pem, key: shop.key },"
                + " { cert: partners.pem, key: partners.key }] } }")
        let facts = try #require(plan.tls).context.certificateFacts
        #expect(
            facts.map(\.names) == [
                ["shop.test", "*.shop.test"], ["partners.test", "exact.shop.test"],
            ])
    }

    @Test(arguments: [("https", nil), ("https:8443", 8443)] as [(String, UInt16?)])
    func readsRedirect(_ text: String, _ port: UInt16?) throws {
        let plan = try listener(
            "[{ address: 127.0.0.1:1, redirect: \"\(text)\" },"
                + " { address: 127.0.0.1:2, tls: { cert: shop.pem, key: shop.key } }]")
        #expect(plan.redirect == HTTPSRedirect(port: port))
    }

    // MARK: Errors

    /// Without `client_ca` no client has a certificate that could be sent or checked.
    @Test(arguments: [
        ("client_cert: on", "'client_cert' needs a listener with 'tls' and 'client_ca'"),
        ("client_cert: off", nil),
    ])
    func certificatesOfClientsNeedAnAuthority(_ key: String, _ error: String?) {
        func lines(_ tls: String) -> [String] {
            problems(
                """
                version: 1
                listen: { address: 127.0.0.1:1, tls: { cert: shop.pem, key: shop.key\(tls) } }
                auth: { callers: { certificate: {} } }
                backends: { a: { url: "http://a" } }
                endpoints: [{ route: ANY /*, auth: callers, proxy: { to: a, \(key) } }]
                """)
        }
        #expect(lines(", client_ca: ca.pem") == [])
        let messages = lines("")
        #expect(messages.count == (error == nil ? 1 : 2))
        #expect(messages.contains { $0.contains("'certificate' needs a listener") })
        #expect(error == nil || messages.contains { $0.contains(error ?? "") })
    }

    @Test(arguments: [
        ("tickets: 59m", "'tickets' in 'tls' of 'listen' must be a time from 1h to 168h, or off"),
        ("tickets: 169h", "'tickets' in 'tls' of 'listen' must be a time from 1h to 168h, or off"),
        ("policy: old", "'policy' in 'tls' of 'listen' must be intermediate or modern"),
        ("min_version: 1.1", "'min_version' in 'tls' of 'listen' must be 1.2 or 1.3"),
        (
            "policy: modern, min_version: 1.2",
            "'min_version: 1.2' contradicts 'policy: modern', which is 1.3"
        ),
        (
            "client_certificate: optional",
            "'client_certificate' has no effect without 'client_ca'"
        ),
        ("client_ca: shop.key", "'client_ca' holds no certificate (PEM)"),
        (
            "certificates: [{ cert: shop.pem, key: shop.key }]",
            "'certificates' and 'cert' exclude each other in 'tls' of 'listen'"
        ),
    ])
    func refusesInvalidValue(_ keys: String, _ message: String) {
        let found = messages("cert: shop.pem, key: shop.key, \(keys)")
        #expect(found.map { $0.drop { $0 != "e" } } == ["error: \(message)"])
    }

    @Test(arguments: [
        ("cert: shop.pem, key: partners.key", "61: error: 'key' does not match 'cert' (shop.pem)"),
        ("cert: shop.pem", "46: error: 'cert' needs 'key' in 'tls' of 'listen'"),
        ("cert: shop.pem, key: shop.pem", "61: error: 'key' holds no private key (PEM)"),
        ("cert: shop.key, key: shop.key", "46: error: 'cert' holds no certificate (PEM)"),
        (
            "cert: client.pem, key: client.key",
            "46: error: certificate client.pem has no DNS name; clients verify the DNS names of a"
                + " certificate"
        ),
        (
            "cert: must-staple.pem, key: must-staple.key",
            "46: error: certificate must-staple.pem requires a stapled OCSP response, which is not"
                + " supported; request one without must-staple"
        ),
        (
            "cert: large.pem, key: large.key",
            "62: warning: the key of certificate large.pem is RSA with 4096 bits, which costs 3.4 ms"
                + " of CPU per handshake; use ECDSA P-256, or RSA with 2048 bits"
        ),
        (
            "cert: absent.pem, key: shop.key",
            "46: error: 'cert' in 'tls' of 'listen' cannot be read: there is no such file: 'absent.pem'"
        ),
    ])
    func reportsUnusableFile(_ keys: String, _ message: String) {
        #expect(messages(keys).map { $0.drop { $0 != ":" }.dropFirst() } == [message[...]])
    }

    /// 2024-02-29 12:00 is the end of `expired.pem`.
    @Test(
        arguments: [
            (1_709_208_000, "46: error: certificate expired.pem expired on 2024-02-29"),
            (
                1_709_207_999,
                "46: warning: certificate expired.pem expires on 2024-02-29, within 14 days"
            ),
            (
                1_709_208_000 - 14 * 86_400 + 1,
                "46: warning: certificate expired.pem expires on 2024-02-29, within 14 days"
            ),
            (1_709_208_000 - 14 * 86_400, nil),
        ] as [(Int64, String?)])
    func reportsExpiry(_ unixTime: Int64, _ message: String?) {
        let found = messages("cert: expired.pem, key: expired.key", unixTime: unixTime)
        #expect(
            found.map { String($0.drop { $0 != ":" }.dropFirst()) } == (message.map { [$0] } ?? []))
    }

    @Test func warnsOfChainInWrongOrder() throws {
        let chain = try Golden.text("Tests/Fixtures/tls/chain.pem")
        let end = "-----END CERTIFICATE-----\n"
        let parts = chain.components(separatedBy: end).filter { !$0.isEmpty }.map { $0 + end }
        try #require(parts.count == 2)
        let shop = try Golden.text("Tests/Fixtures/tls/shop.pem")
        let text = Snippet.top(
            "listen: { address: 127.0.0.1:1, tls: { cert: x.pem, key: chain.key } }")
        for (content, isInOrder) in [(chain, true), (parts[0] + shop, false)] {
            let found = load(["c.yaml": text, "x.pem": content]).problems.lines
            #expect(found.contains { $0.contains("out of order or incomplete") } == !isInOrder)
        }
    }

    @Test func warnsOfKeyThatAllUsersCanRead() throws {
        var files = ConfigFiles(
            texts: Certificates.files.merging([
                "c.yaml": Snippet.top(
                    "listen: { address: 127.0.0.1:1, tls: { cert: shop.pem, key: shop.key } }")
            ]) { $1 })
        #expect(
            ConfigLoader.load("c.yaml", files: files, environment: { _ in nil }).problems.isEmpty)
        files.isWorldReadable = { _ in true }
        let (_, problems) = ConfigLoader.load("c.yaml", files: files, environment: { _ in nil })
        #expect(
            problems.sorted.map(\.description) == [
                "c.yaml:1:61: warning: shop.key is readable by all users; run: chmod o-r shop.key"
            ])
    }

    // MARK: Protocols and redirects

    /// With TLS HTTP/2 is on, without it off, unless the list says otherwise.
    @Test func appliesProtocols() throws {
        let tls = "tls: { cert: shop.pem, key: shop.key }"
        for (more, expected) in [
            ("", [.http1]), (", protocols: [http2]", [.http2]),
            (", protocols: [http1, http2]", [.http1, .http2]), (", \(tls)", [.http2, .http1]),
            (", protocols: [http1], \(tls)", [.http1]),
        ] as [(String, [Config.ClientProtocol])] {
            let plan = try listener("{ address: 127.0.0.1:1\(more) }")
            #expect(plan.protocols == expected, "\(more)")
            let names = expected.map(\.nameInALPN)
            #expect(plan.tls?.context.settings.protocols ?? names == names)
        }
    }

    @Test func refusesRepeatedProtocols() {
        #expect(
            messages("cert: shop.pem, key: shop.key", ", protocols: [http2, http1]") == [])
        #expect(
            messages("cert: shop.pem, key: shop.key", ", protocols: [http2, http2]") == [
                "1:92: error: 'protocols' has 'http2' twice"
            ])
    }

    @Test func redirectNeedsListenerWithTLS() {
        #expect(
            problems(Snippet.top("listen: { address: 127.0.0.1:1, redirect: https }")) == [
                "1:43: error: 'redirect' goes to https, but no listener has 'tls'"
            ])
    }

    @Test func redirectAllowsOnlyAddress() {
        let found = messages("cert: shop.pem, key: shop.key", ", redirect: https")
        #expect(
            found == [
                "1:38: error: 'tls' has no effect with 'redirect', which allows only 'address' and 'name'"
            ])
    }

    @Test(arguments: ["http", "https:0", "https:x", "https://a", ""])
    func refusesInvalidRedirect(_ text: String) {
        #expect(
            problems(Snippet.top("listen: { address: 127.0.0.1:1, redirect: \"\(text)\" }"))
                .first?.contains("'redirect'") == true)
    }
}
