import Foundation
import Testing

extension EndToEnd {
    /// No page of the admin address and no line of the log has a secret.
    @Suite struct SecretsTests {
        private let backend: Backend
        private let folder: Folder
        private let daemon: Daemon
        /// What must not be recorded, with a description.
        private let secrets: [(name: String, text: String)]
        private let credentials: [String]

        private static let tokenSecret = "hmac-s3cr3t-of-the-end-to-end-test-4711"
        private static let storePassword = "st0re-p4ssword-4711"
        private static let payload =
            "eyJpc3MiOiJpIiwiYXVkIjoic2hvcCIsInN1YiI6InRvbSIsImV4cCI6NDEwMjQ0NDgwMCwibm90ZSI6ImNsYWltLTQ3MTEifQ"
        /// Signed with HMAC and the secret; it expires in 2100.
        private static let token =
            "eyJhbGciOiJIUzI1NiJ9." + payload + ".frPMPd00y0rOorPBPMIkoXeqqJMpIkM2GL0I91-PEF8"
        /// Parts of the page that lists all pages of the admin address.
        private static let manual = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../docs/reference/command-line.md")

        init() throws {
            backend = try Backend()
            let key = try Command.run("key", "new", "ann")
            let password = try Command.run("key", "new", "ci", "--basic")
            let secret = try #require(Self.secret(key))
            let word = try #require(Self.secret(password))
            let basic = Data("ci:\(word)".utf8).base64EncodedString()
            let wrong = "wr0ng-credential-4711"
            let wrongBasic = Data("ci:\(wrong)".utf8).base64EncodedString()
            let forged = String(Self.token.dropLast(4)) + "AAAA"
            credentials = [
                "X-Api-Key: \(secret)", "X-Api-Key: \(wrong)", "Authorization: Basic \(basic)",
                "Authorization: Basic \(wrongBasic)", "Authorization: Bearer \(Self.token)",
                "Authorization: Bearer \(forged)", "Authorization: Bearer \(wrong)",
            ]
            secrets =
                [
                    ("API key", secret), ("password", word), ("Basic credential", basic),
                    ("refused credential", wrong), ("refused Basic credential", wrongBasic),
                    ("payload of a token", Self.payload), ("signature of a token", "frPMPd00y0rO"),
                    ("claim", "claim-4711"), ("secret of tokens", Self.tokenSecret),
                    ("password of the store", Self.storePassword),
                ]
                + [key, password].flatMap { new in
                    new.output.matches(of: /[0-9a-f]{64}/).map { ("key file", String($0.output)) }
                }
            folder = try Folder([
                "partners.yaml": key.output, "tools.yaml": password.output,
                "token-secret": Self.tokenSecret, "store-password": Self.storePassword,
            ])
            daemon = try Daemon.serving(
                """
                log: { level: debug }
                store: { url: "redis://127.0.0.1:1", password: "${file:store-password}" }
                auth:
                  partners: { api_key: { keys: partners.yaml } }
                  tools: { basic: { keys: tools.yaml } }
                  customers:
                    jwt: { issuer: i, audience: shop, algorithms: [HS256], keys: { secret: "${file:token-secret}" } }
                rate_limits: { it: { rate: 1000/s, key: caller, share: store } }
                backends:
                  b: { url: "\(backend.url)" }
                endpoints:
                  - route: GET /plain
                    auth: [partners, tools, customers]
                    rate_limits: [it]
                    calls:
                      one: { from: b, get: /now }

                """, in: folder)
        }

        private static func secret(_ new: Command.Result) -> String? {
            new.errors.firstMatch(of: /: (trb_[A-Za-z0-9_-]{43})\n/).map { String($0.1) }
        }

        /// The paths of all pages that are read, from the manual, whose table a test compares with
        /// the pages.
        private func paths() throws -> [String] {
            let manual = try String(contentsOf: Self.manual, encoding: .utf8)
            let table = try #require(manual.split(separator: "## The admin address").last)
            return table.split(separator: "\n").compactMap { line in
                line.firstMatch(of: /^\| `(\/[^` ?]*)/).map { String($0.1) }
            }
        }

        private func send() throws {
            let expected = [200, 401, 200, 401, 200, 401, 401]
            for (credential, status) in zip(credentials, expected) {
                let response = try daemon.request("GET /plain", [credential])
                #expect(response.status == status, "\(credential)")
            }
        }

        @Test func noAdminPageHasASecret() throws {
            try send()
            let more = [
                "/-/explain?method=GET&url=/plain", "/-/requests/recent?sample=1",
                "/readyz?verbose",
            ]
            var all = ""
            let paths = try paths()
            #expect(paths.count > 10 && paths.contains("/-/dump"))
            for path in paths + more {
                let response = try daemon.requestAdmin("GET \(path)")
                for (name, secret) in secrets {
                    #expect(!response.body.contains(secret), "\(name) in \(path)")
                }
                all += response.body
            }
            let reload = try daemon.eventuallyReloaded()
            #expect(reload.status == 200)
            // The positive control: the pages have what surrounds the secrets.
            for text in ["partners", "customers", "untrusted", "redis://127.0.0.1:1", "/plain"] {
                #expect(all.contains(text), "\(text)")
            }
        }

        @Test func logHasNoSecret() throws {
            try send()
            try daemon.logLine("request", containing: #""caller":"tom""#)
            try daemon.logLine("request", containing: #""cause":"signature""#)
            daemon.signal(SIGTERM)
            #expect(try daemon.exitStatus() == 0)
            let log = try daemon.output.whole() + daemon.errors.whole()
            for text in [#""caller":"ann""#, #""caller":"ci""#, #""cause":"not_three_parts""#] {
                #expect(log.contains(text), "the control: \(text)")
            }
            for (name, secret) in secrets { #expect(!log.contains(secret), "\(name)") }
        }
    }
}
