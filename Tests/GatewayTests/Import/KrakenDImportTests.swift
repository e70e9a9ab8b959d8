import Basics
import JSONText
import Patterns
import Testing
import YAMLReader

@testable import Gateway
@testable import KrakenD

/// KrakenD configurations and their conversions; the expected texts are in files next to them.
@Suite struct KrakenDImportTests {
    static let folder = "Tests/Fixtures/krakend"
    static let names = Golden.names(in: folder, endingIn: ".json")

    /// Files that are not valid configurations.
    static let unreadable = ["broken.json", "template.json", "version1.json"]

    /// Files of which no endpoint can be converted.
    static let withoutEndpoints = ["gates.json"]

    @Test func findsFixtures() { #expect(Self.names.count >= 17) }

    static func imported(_ name: String, opensProtected: Bool = false) throws -> KrakenDImport {
        KrakenDImport(
            Array(try Golden.text("\(folder)/\(name)").utf8), file: name,
            opensProtected: opensProtected)
    }

    @Test(arguments: names) func convertsConfiguration(_ name: String) throws {
        let imported = try Self.imported(name)
        let base = "\(Self.folder)/\(name.replacing(".json", with: ""))"
        try Golden.expect(base + ".notes", says: imported.lines.map { $0 + "\n" }.joined())
        let isReadable = !Self.unreadable.contains(name)
        #expect((imported.text != nil) == isReadable)
        #expect((imported.findings.count(of: .error) == 0) == isReadable)
        if let text = imported.text { try Golden.expect(base + ".yaml", says: text) }
    }

    private static func imported(service: String = "", endpoint: String = "", version: Int = 3)
        -> (text: String, findings: String)
    {
        let json = """
            {"version": \(version), "host": ["http://a"], "extra_config": {\(service)}, "endpoints": [
            {"endpoint": "/x", "extra_config": {\(endpoint)}, "backend": [{"url_pattern": "/a"}]}]}
            """
        let imported = KrakenDImport(Array(json.utf8), file: "k.json", opensProtected: false)
        return (imported.text ?? "", imported.lines.joined(separator: "\n"))
    }

    /// An extension of a custom build that looks like access control leaves its endpoint out.
    @Test(arguments: [
        ("my-jwt-check", false), ("custom/authz", false), ("Auth/Validator", false),
        ("github_com/me/apikey", false), ("x/api-key", false), ("@auth/validator", true),
        ("my-cache", true), ("auth/client-credentials", true),
    ])
    func unknownAccessControlOpensNothing(_ name: String, _ isWritten: Bool) {
        let (text, _) = Self.imported(endpoint: #""\#(name)": {"a": 1}"#)
        #expect(text.contains("\n  - route: GET /x") == isWritten)
    }

    /// A host that the result cannot have does not open it to all hosts.
    @Test func otherHostsStayAllowed() {
        let (text, findings) = Self.imported(
            service: #""security/http": {"allowed_hosts": ["a.example", "b.example:8080"]}"#)
        #expect(text.contains("\nhosts: [a.example]\n"))
        #expect(findings.contains("'b.example:8080' of 'allowed_hosts' is left out"))
    }

    @Test(arguments: ["blacklist", "denylist", "deny"])
    func oldNamesOfTheBotDetectorDeny(_ name: String) {
        let (text, _) = Self.imported(
            service: #""github_com/devopsfaith/krakend-botdetector": {"\#(name)": ["bad"]}"#,
            version: 2)
        #expect(text.contains("deny: [bad]"))
    }

    /// The result is valid with and without the protected endpoints.
    @Test(
        arguments: names.filter { !unreadable.contains($0) }.flatMap { name in
            withoutEndpoints.contains(name) ? [(name, true)] : [(name, false), (name, true)]
        })
    func generatedConfigurationPassesCheck(_ name: String, _ opensProtected: Bool) throws {
        let text = try #require(try Self.imported(name, opensProtected: opensProtected).text)
        let (config, problems) = load(["c.yaml": text].merging(Self.keyFiles) { $1 })
        #expect(config != nil, "\(problems.lines)")
        let document = try YAMLDocument.read(Array(text.utf8), file: name)
        #expect(try SchemaValidator(ConfigSchema.text).problems(of: document) == [])
    }

    private static let keyFiles: [String: String] = {
        let key = try? Golden.text("Tests/Fixtures/jose/public.pem")
        return [
            "api-keys.yaml": "[]", "passwords.yaml": "[]", "jwks.json": key ?? "",
        ].merging(
            ["tokens_2", "tokens_4", "tokens_9"].map {
                ("\($0).jwks", String(repeating: "s", count: 64))
            } + ["other.json", "symmetric.json"].map { ($0, String(repeating: "s", count: 64)) }
        ) { $1 }
    }()

    // MARK: Tokens

    private static let validator =
        #""jwk_url": "https://id.example.com/jwk", "issuer": "i", "audience": ["shop"]"#

    /// The lines of the endpoint `/a` with an `auth/validator` of these members.
    private func endpoint(with validator: String) -> [String] {
        let text =
            imported(
                text: """
                    { "version": 3, "host": ["http://a.internal"], "endpoints": [{ "endpoint": "/a",
                      "extra_config": { "auth/validator": { \(validator) } },
                      "backend": [{ "url_pattern": "/a" }] }] }
                    """
            ).text ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    /// Whatever a validator contains, its endpoint has `auth`, or is left out.
    @Test(arguments: [
        "", #""alg": "RS256""#, #""alg": 3"#, #""audience": "shop""#, #""audience": [1]"#,
        #""issuer": """#, #""issuer": 3"#, #""jwk_url": "ftp://x/y""#, #""jwk_url": "https://""#,
        #""roles": "admin""#, #""roles": [3]"#, #""roles": ["a"], "roles_key": """#,
        #""roles": ["a"], "roles_key": "a b""#, #""roles": ["a"], "roles_key": "}""#,
        #""roles": ["a"], "roles_key": "a..b", "roles_key_is_nested": true"#,
        #""scopes": ["a b"]"#, #""scopes": [""]"#, #""scopes": {}"#, #""scopes": ["a\""]"#,
        #""leeway": "1h""#, #""cache": "maybe""#, #""cache": true, "cache_duration": -1"#,
        #""cache": true, "cache_duration": 99999999999"#, #""cookie_key": "a b""#,
        #""auth_header_name": "a:b""#, #""auth_header_name": "Cookie""#,
        #""auth_header_name": "Content-Length""#, #""propagate_claims": [["sub"]]"#,
        #""propagate_claims": [["sub", "a b"]]"#, #""something": true"#, #""issuer": "${SECRET}""#,
    ])
    func protectedEndpointNeverBecomesPublic(_ member: String) {
        let key = member.prefix { $0 != ":" }
        let others = Self.validator.split(separator: ", ", maxSplits: 2)
            .filter { key.isEmpty || !$0.hasPrefix(key) }.joined(separator: ", ")
        let lines = endpoint(with: [others, member].filter { !$0.isEmpty }.joined(separator: ", "))
        guard lines.contains("  - route: GET /a") else { return }
        #expect(!lines.contains("    auth: none"))
        #expect(lines.contains { $0.hasPrefix("    auth:") }, "\(lines)")
    }

    @Test func validatorProtectsItsEndpoint() {
        #expect(endpoint(with: Self.validator).contains("    auth: tokens"), "the control")
    }

    /// The file of a secret belongs to one set, although the URL of another one begins with its URL.
    @Test func differentSecretsHaveDifferentFiles() {
        let endpoints = ["https://id/jwk2", "https://id/jwk", "https://id/jwk2"].enumerated()
            .map { index, url in
                """
                { "endpoint": "/\(index)", "backend": [{ "url_pattern": "/a" }], "extra_config": {
                  "auth/validator": { "alg": "HS256", "issuer": "i", "jwk_url": "\(url)" } } }
                """
            }
        let text = """
            { "version": 3, "host": ["http://a"], "endpoints": [\(endpoints.joined(separator: ","))] }
            """
        let lines = (imported(text: text).text ?? "").split(separator: "\n")
        #expect(
            lines.filter { $0.contains("keys: { file: ") }.map { $0.drop { $0 == " " } } == [
                "keys: { file: tokens.jwks }", "keys: { file: tokens_2.jwks }",
            ])
        #expect(
            lines.filter { $0.hasPrefix("    auth: ") }.map { $0.drop { $0 == " " } } == [
                "auth: tokens", "auth: tokens_2", "auth: tokens",
            ])
    }

    /// The check ends although the backend stays in the list of backends.
    @Test func onlyCallersOfAnInvalidBackendAreLeftOut() throws {
        let breaker = #""extra_config": { "qos/circuit-breaker": { "interval": 99999999999 } }"#
        let imported = imported(
            text: """
                { "version": 3, "host": ["http://a"], "endpoints": [
                  { "endpoint": "/a", "backend": [{ "url_pattern": "/a", \(breaker) }] },
                  { "endpoint": "/b", "backend": [{ "url_pattern": "/b" }] }] }
                """)
        #expect(try routes(imported) == ["GET /b"])
        #expect(imported.lines.contains { $0.contains("endpoint GET /a is left out: ") })
    }

    // MARK: Identity

    /// Whatever happens to the validator, no client sets the header of a claim.
    @Test(
        arguments: [
            "", #", "issuer": "i""#, #", "jwk_fingerprints": ["a"]"#, #", "alg": "HS256""#,
            #", "scopes": ["a", "b"]"#,
        ],
        [
            #""input_headers": ["x-user", "X_User", "Accept"]"#,
            #""input_headers": ["*"], "input_query_strings": ["*"]"#,
            #""output_encoding": "no-op", "input_headers": ["X-USER", "Accept"]"#,
            #""output_encoding": "no-op", "input_headers": ["*"], "input_query_strings": ["*"]"#,
        ])
    func clientsNeverSetTheHeaderOfAClaim(_ validator: String, _ forward: String) throws {
        for opensProtected in [false, true] {
            let text = """
                { "version": 3, "endpoints": [{ "endpoint": "/a", \(forward), "extra_config":
                  { "auth/validator": { "jwk_url": "https://id.example.com/jwk",
                    "propagate_claims": [["sub", "X-User"]]\(validator) } },
                  "backend": [{ "url_pattern": "/a", "host": ["http://a"],
                    "input_headers": ["X-User", "Accept"] }] }] }
                """
            let imported = KrakenDImport(
                Array(text.utf8), file: "k.json", opensProtected: opensProtected)
            let lines = try #require(imported.text).split(separator: "\n").map(String.init)
            let names = ["x-user", "x_user"]
            for line in lines where line.contains("forward: {") {
                let isListed = names.contains { line.lowercased().contains($0) }
                #expect(!isListed, "\(line)")
            }
            let proxy = lines.first { $0.contains("proxy: {") && !$0.contains("forward") }
            guard let proxy, !lines.contains(where: { $0.contains("forward: {") }) else { continue }
            let isReplaced =
                proxy.contains("drop_headers: [X-User]")
                || lines.contains { $0.contains("headers: { X-User:") }
            #expect(isReplaced, "\(lines)")
        }
    }

    /// Another extension `backend/...` says that the backend is not an HTTP server.
    @Test(arguments: [
        ("backend/http", true), ("backend/http/client", true), ("backend/new", false),
        ("backend/amqp/producer", false), ("backend/conditional", false),
    ])
    func onlyHTTPBackendsAreWritten(_ extra: String, _ isWritten: Bool) throws {
        let imported = imported(
            text: """
                { "version": 3, "endpoints": [{ "endpoint": "/a", "backend": [{ "url_pattern": "/a",
                  "host": ["http://a"], "extra_config": { "\(extra)": {} } }] }] }
                """)
        #expect(try routes(imported) == (isWritten ? ["GET /a"] : []))
    }

    /// Findings of the check of the result have locations in the imported file too.
    @Test(arguments: names) func reportsLocationsInTheImportedFile(_ name: String) throws {
        for finding in try Self.imported(name).findings.sorted {
            #expect(finding.location.file == name)
            #expect(!finding.text.contains("imported.yaml"), "\(finding)")
        }
    }

    /// The recipe of the cookbook is what the import makes of the file beside it, and the page "Coming
    /// from KrakenD" shows what it reports.
    @Test func manualShowsTheConversion() throws {
        let folder = "docs/guide/cookbook"
        let json = Array(try Golden.text("\(folder)/krakend.json").utf8)
        let imported = KrakenDImport(json, file: "krakend.json", opensProtected: false)
        try Golden.expect("\(folder)/krakend.yaml", says: try #require(imported.text))
        let page = try Golden.text("docs/guide/coming-from-krakend.md")
        #expect(page.contains("```text\n\(imported.lines.joined(separator: "\n"))\n```"))
    }

    // MARK: Weight

    /// The findings besides the one about redirects, which every file with endpoints has.
    private func reported(_ imported: KrakenDImport) -> [ImportFindings.Finding] {
        imported.findings.sorted.filter { !$0.text.hasPrefix("KrakenD follows redirects") }
    }

    private func imported(text: String) -> KrakenDImport {
        KrakenDImport(Array(text.utf8), file: "k.json")
    }

    /// Notes alone do not make an import incomplete.
    @Test(arguments: [
        (#""write_timeout": "1s""#, false), (#""plugin": {}"#, false),
        (#""something_new": 1"#, true), (#""tls": {}"#, true),
        (#""extra_config": { "telemetry/metrics": {} }"#, false),
        (#""extra_config": { "validation/response-json-schema": {} }"#, true),
    ])
    func warningsMakeTheImportIncomplete(_ member: String, _ isIncomplete: Bool) {
        let imported = imported(
            text: """
                { "version": 3, \(member),
                  "endpoints": [{ "endpoint": "/a", "backend":
                    [{ "url_pattern": "/a", "host": ["http://a"] }] }] }
                """)
        #expect(reported(imported).count == 1)
        #expect(imported.isIncomplete == isIncomplete)
    }

    // MARK: TLS

    /// `check` rejects an empty file name, which is left out with a finding.
    @Test(
        arguments: [
            (#""ca_certs": ["ca.pem"]"#, "tls: { ca: ca.pem }", nil),
            (#""ca_certs": [""]"#, nil, "'ca_certs' is left out: it names no file"),
            (
                #""ca_certs": ["", "ca.pem"]"#, "tls: { ca: ca.pem }",
                "'ca_certs' has several entries; only the first file is used"
            ),
            (
                #""client_certs": [{ "certificate": "", "private_key": "k.pem" }]"#, nil,
                "a certificate is left out: 'certificate' and 'private_key' belong together"
            ),
        ] as [(String, String?, String?)])
    func leavesOutFilesWithoutAName(_ member: String, written: String?, finding: String?) throws {
        let imported = imported(
            text: """
                { "version": 3, "client_tls": { \(member), "disable_system_ca_pool": true },
                  "endpoints": [{ "endpoint": "/a", "backend":
                    [{ "url_pattern": "/a", "host": ["https://a"] }] }] }
                """)
        let text = try #require(imported.text)
        let tls = text.split(separator: "\n").map { $0.drop { $0 == " " } }
            .filter { $0.hasPrefix("tls:") }
        #expect(tls.map(String.init) == (written.map { [$0] } ?? []), "\(text)")
        #expect(reported(imported).map(\.text) == (finding.map { [$0] } ?? []))
        let (config, problems) = load(["c.yaml": text])
        #expect(config != nil, "\(problems.lines)")
    }

    // MARK: Protection

    private func routes(_ imported: KrakenDImport) throws -> [String] {
        let document = try YAMLDocument.read(Array((imported.text ?? "").utf8), file: "t.yaml")
        return (document["endpoints"]?.elements ?? []).compactMap { $0["route"]?.text }
    }

    @Test func writesProtectedEndpointsAsComments() throws {
        let imported = try Self.imported("protected.json")
        #expect(
            try routes(imported) == [
                "GET /open", "GET /orders/{id}", "GET /keys", "GET /basic", "GET /rewrite",
                "GET /client",
            ])
        #expect(imported.text?.contains("\n  # - route: POST /login\n") == true)
        #expect(imported.isIncomplete)
    }

    @Test func openProtectedWritesThem() throws {
        let imported = try Self.imported("protected.json", opensProtected: true)
        #expect(
            try routes(imported) == [
                "GET /open", "GET /orders/{id}", "GET /keys", "GET /basic", "POST /login",
                "GET /policy", "GET /own", "GET /misplaced", "GET /script", "GET /rewrite",
                "GET /expression", "GET /client",
            ])
        #expect(imported.isIncomplete)
        #expect(
            imported.lines.contains {
                $0.hasSuffix(
                    "warning: endpoint GET /policy is accessible without authentication: 'security/policies' has no equivalent"
                )
            })
    }

    /// Client certificates, a plugin before the router and a validator of the service.
    @Test func protectionOfTheServiceAppliesToEveryEndpoint() throws {
        #expect(try routes(try Self.imported("gates.json")) == [])
        #expect(try routes(try Self.imported("gates.json", opensProtected: true)) == ["GET /a"])
    }

    /// Endpoints of a service that demands client certificates are written only if `listen` demands
    /// them too.
    @Test(arguments: [
        (#""ca_certs": ["ca.pem"], "port": 70000"#, true), (#""ca_certs": ["ca.pem"]"#, true),
        (#""ca_certs": []"#, false), (#""ca_certs": [""]"#, false), (#""port": 1"#, false),
        (#""ca_certs": ["ca.pem"], "disabled": "true""#, true),
    ])
    func clientCertificatesStayRequired(_ member: String, _ isWritten: Bool) throws {
        let text = """
            { "version": 3, "port": 70000, "listen_ip": "nowhere", "tls": {
                "public_key": "shop.pem", "private_key": "shop.key", "enable_mtls": true, \(member) },
              "endpoints": [{ "endpoint": "/a", "backend":
                [{ "url_pattern": "/a", "host": ["http://a"] }] }] }
            """
        let imported = imported(text: text)
        #expect(try routes(imported) == (isWritten ? ["GET /a"] : []))
        guard isWritten else { return }
        let (config, problems) = load(["c.yaml": try #require(imported.text)])
        let tls = try #require(config, "\(problems.lines)").listen.first?.tls
        #expect((tls?.clientCA != nil) == !member.contains("disabled"))
        #expect(tls?.clientCertificate == nil)
        #expect(imported.text?.contains("127.0.0.1:8080") == true)
    }

    @Test func certificatesWithoutFilesProtectNothing() throws {
        let imported = imported(
            text: """
                { "version": 3, "tls": { "public_key": "shop.pem", "enable_mtls": true,
                    "ca_certs": ["ca.pem"] },
                  "endpoints": [{ "endpoint": "/a", "backend":
                    [{ "url_pattern": "/a", "host": ["http://a"] }] }] }
                """)
        #expect(try routes(imported) == [])
    }

    /// Files that do not exist here are an error of `check`, not of the import.
    @Test func listenerWithMissingFilesIsWritten() throws {
        let imported = imported(
            text: """
                { "version": 3, "tls": { "public_key": "there.pem", "private_key": "there.key" },
                  "endpoints": [{ "endpoint": "/a", "backend":
                    [{ "url_pattern": "/a", "host": ["http://a"] }] }] }
                """)
        let text = try #require(imported.text)
        #expect(text.contains("    cert: there.pem\n    key: there.key\n    min_version: "))
        #expect(
            reported(imported).map(\.text) == [
                "'tls' names files, relative to the folder of the configuration; 'tributary check'"
                    + " reads them: there.pem, there.key"
            ])
        #expect(!imported.isIncomplete)
        #expect(
            load(["c.yaml": text]).problems.lines.contains {
                $0.contains("there is no such file: 'there.pem'")
            })
    }

    /// Scripts before a call and plugins of unknown effect can refuse requests, those that come
    /// with KrakenD and scripts after a call do not.
    @Test(
        arguments: [false, true],
        [
            (#""modifier/lua-backend": { "pre": "check()" }"#, true),
            (#""modifier/lua-backend": { "post": "change()" }"#, false),
            (#""plugin/req-resp-modifier": { "name": ["my-auth"] }"#, true),
            (#""plugin/req-resp-modifier": { "name": ["content-replacer", "my-auth"] }"#, true),
            (#""plugin/req-resp-modifier": { "name": ["content-replacer"] }"#, false),
            (#""plugin/request-modifier": { "name": ["my-auth"] }"#, true),
            (#""github.com/devopsfaith/krakend/proxy/plugin": { "name": ["my-auth"] }"#, true),
            (#""plugin/http-client": { "name": "my-auth" }"#, true),
            (#""plugin/http-client": { "name": "no-redirect" }"#, false),
        ])
    func treatsExtensionsThatMayRefuseRequestsAsProtection(
        _ isOfBackend: Bool, _ extension: (text: String, protects: Bool)
    ) throws {
        let extras = #", "extra_config": { \#(`extension`.text) }"#
        let text = """
            { "version": 3, "endpoints": [
                { "endpoint": "/a"\(isOfBackend ? "" : extras), "backend":
                  [{ "url_pattern": "/a", "host": ["http://a"]\(isOfBackend ? extras : "") }] }] }
            """
        let imported = imported(text: text)
        #expect(try routes(imported) == (`extension`.protects ? [] : ["GET /a"]))
        #expect(imported.isIncomplete)
        let opened = KrakenDImport(Array(text.utf8), file: "k.json", opensProtected: true)
        #expect(try routes(opened) == ["GET /a"])
    }

    @Test(arguments: [("pre", []), ("post", ["GET /a"])])
    func treatsServiceScriptAsProtectionOfEveryEndpoint(_ key: String, _ written: [String]) throws {
        let imported = imported(
            text: """
                { "version": 3, "extra_config": { "modifier/lua-endpoint": { "\(key)": "f()" } },
                  "endpoints": [{ "endpoint": "/a", "backend":
                    [{ "url_pattern": "/a", "host": ["http://a"] }] }] }
                """)
        #expect(try routes(imported) == written)
    }

    // MARK: Caches

    /// A shared cache stores the response to a request with credentials if it is `public` (RFC
    /// 9111, section 3.5).
    @Test(arguments: [
        (#"["Authorization"]"#, "[]", "private, max-age=60"),
        (#"["Accept", "cookie"]"#, "[]", "private, max-age=60"),
        (#"["*"]"#, #"["Authorization"]"#, "private, max-age=60"),
        (#"["Authorization", "Accept"]"#, #"["Accept"]"#, "public, max-age=60"),
        (#"["Accept-Language"]"#, "[]", "public, max-age=60"),
    ])
    func responsesThatDependOnCredentialsAreNotPublic(
        _ ofEndpoint: String, _ ofBackend: String, _ expected: String
    ) throws {
        let imported = imported(
            text: """
                { "version": 3, "cache_ttl": "1m", "endpoints": [
                  { "endpoint": "/a", "input_headers": \(ofEndpoint), "backend": [
                    { "url_pattern": "/a", "host": ["http://a"], "input_headers": \(ofBackend) }] }] }
                """)
        let text = try #require(imported.text)
        let (config, problems) = load(["c.yaml": text])
        #expect(config?.endpoints.first?.cacheControl?.value == expected)
        #expect(problems.lines == [])
        #expect(
            imported.lines.contains { $0.contains("'cache_ttl' became") }
                == expected.hasPrefix("private"))
    }

    // MARK: Clients

    /// KrakenD reads the headers of trusted proxies only with `forwarded_by_client_ip`.
    @Test(arguments: [
        (
            #""forwarded_by_client_ip": true, "trusted_proxies": ["10.0.0.0/8", "fd00::/8"]"#,
            ["10.0.0.0/8", "fd00::/8"], []
        ),
        (
            #""forwarded_by_client_ip": true, "remote_ip_headers": ["x-forwarded-for"], "#
                + #""trusted_proxies": ["10.0.0.1/8", "192.0.2.1", "proxy"]"#,
            ["10.0.0.0/8", "192.0.2.1/32"],
            ["warning: 'proxy' of 'trusted_proxies' is left out: it is not a network"]
        ),
        (
            #""forwarded_by_client_ip": true, "remote_ip_headers": ["X-Forwarded-For", "X-Real-IP"], "#
                + #""trusted_proxies": ["10.0.0.0/8"]"#,
            ["10.0.0.0/8"],
            [
                "warning: 'X-Real-IP' of 'remote_ip_headers' is left out: the client's address is"
                    + " read from 'X-Forwarded-For'"
            ]
        ),
        (
            #""forwarded_by_client_ip": true, "remote_ip_headers": ["X-Real-IP"], "#
                + #""trusted_proxies": ["10.0.0.0/8"]"#,
            [],
            [
                "warning: 'remote_ip_headers' is left out: trusted proxies must send the client's"
                    + " address in 'X-Forwarded-For'"
            ]
        ),
        (
            #""trusted_proxies": ["10.0.0.0/8"]"#, [],
            [
                "note: 'trusted_proxies' is left out: KrakenD does not use it without"
                    + " 'forwarded_by_client_ip'"
            ]
        ),
        (
            #""forwarded_by_client_ip": true"#, [],
            [
                "note: 'forwarded_by_client_ip' is left out: without 'trusted_proxies', client"
                    + " addresses are the addresses of the connections"
            ]
        ),
        (#""forwarded_by_client_ip": false"#, [], []),
    ])
    func trustedProxiesBecomeClients(
        _ router: String, _ networks: [String], _ findings: [String]
    ) throws {
        let imported = imported(
            text: """
                { "version": 3, "extra_config": { "router": { \(router) } },
                  "endpoints": [{ "endpoint": "/a", "backend":
                    [{ "url_pattern": "/a", "host": ["http://a"] }] }] }
                """)
        let text = try #require(imported.text)
        let (config, problems) = load(["c.yaml": text])
        #expect(problems.lines == [])
        let proxies = try #require(config).clients?.trustedProxies.map(\.value) ?? []
        #expect(proxies == (try networks.map { .network(try AddressPrefix($0)) }))
        #expect(reported(imported).map { "\($0.severity.rawValue): \($0.text)" } == findings)
    }

    // MARK: Lengths

    /// A length above the maximum is reduced to it.
    @Test(arguments: [
        ("20", 20), ("2147483647", 2_147_483_647), ("2147483648", 2_147_483_647),
        ("9223372036854775807", 2_147_483_647), ("18446744073709551616", 2_147_483_647),
    ])
    func boundsLengths(_ written: String, _ expected: Int) throws {
        let imported = imported(
            text: """
                { "version": 3, "endpoints": [{ "endpoint": "/a", "method": "POST",
                  "extra_config": { "validation/json-schema": { "type": "object", "properties":
                    { "p": { "type": "string", "minLength": \(written), "maxLength": \(written) }
                    } } },
                  "backend": [{ "url_pattern": "/a", "host": ["http://a"] }] }] }
                """)
        let (config, problems) = load(["c.yaml": try #require(imported.text)])
        let property = try #require(config?.endpoints.first?.body?.properties.first)
        #expect(property.minLength?.value == expected, "\(problems.lines)")
        #expect(property.maxLength?.value == expected)
        #expect(!imported.isIncomplete)
    }

    // MARK: Answers

    /// The result of a call's `take`, `keep`, `drop` and `rename` for a response.
    private func shaped(_ json: String, by call: String, of name: String) throws -> String {
        let text = try #require(try Self.imported(name).text)
        let (config, _) = load(["c.yaml": text])
        let calls = try #require(config).endpoints.flatMap(\.calls)
        let found = try #require(calls.first { $0.name.value == call })
        let shape = try JSONShape(
            take: try found.take.map { try JSONPath($0.value) },
            keep: try found.keep.map { try $0.value.map { try JSONPath($0.value) } },
            drop: try found.drop.map { try JSONPath($0.value) },
            rename: try found.rename.map {
                JSONShape.Rename(try JSONPath($0.path.value), to: $0.name.value)
            })
        var dropped: [String] = []
        let slice = try JSONSlice(validating: Bytes(json))
        return String(try shape.applied(to: slice, reporting: &dropped).bytes)
    }

    /// The results are those of KrakenD's flatmap for the same operations.
    @Test func convertsFlatmapToDropAndRename() throws {
        let schools = """
            {"data":{"version":1,"schools":[{"PK_ID":1,"first":"a","secret":2,\
            "students":[{"name":"x","password":"y"}]},{"PK_ID":2,"first":"b"}]}}
            """
        #expect(
            try shaped(schools, by: "schools", of: "flatmap.json")
                == #"{"sites":[{"id":1,"head":"a","students":[{"name":"x"}]},{"id":2,"first":"b"}]}"#
        )
        #expect(
            try shaped(#"[{"i":1,"path":"/a"},{"path":"/b"}]"#, by: "paths", of: "flatmap.json")
                == #"[{"url":"/a"},{"url":"/b"}]"#)
        #expect(
            try shaped(
                #"{"full_name":"n","password":"p","id":1}"#, by: "user", of: "flatmap.json")
                == #"{"title":"n","id":1}"#)
        #expect(
            try shaped(#"{"internal":1,"debug":2,"x":3}"#, by: "more", of: "flatmap.json")
                == #"{"x":3}"#)
    }

    /// KrakenD splits paths at dots; brackets have no meaning.
    @Test func keepsSpecialCharactersInAllowAndMapping() throws {
        #expect(
            try shaped(
                #"{"a":{"":{"b":1,"c":2}},"c[0]":3,"d":{"e":4,"f":5},"g":6}"#, by: "a",
                of: "names.json")
                == #"{"a":{"":{"b":1}},"c":3,"d":{"e":4}}"#)
    }

    // MARK: Names

    /// A group keeps its name although a parameter has it too, and `{user}` is the parameter.
    @Test func acceptsCallWithNameOfParameter() throws {
        let text = try #require(try Self.imported("names.json").text)
        let (config, _) = load(["c.yaml": text])
        let endpoint = try #require(config?.endpoints.first)
        let call = try #require(endpoint.calls.first { $0.name.value == "user" })
        let reference = try #require(call.references.first?.value)
        #expect(reference.source == .name("user"))
        #expect(endpoint.call(for: reference) == nil)
        #expect(endpoint.callGraph.waitsFor.joined().isEmpty)
    }

    // MARK: Texts from outside

    /// A name or a path cannot end a comment and add lines.
    @Test(arguments: ["\\n", "\\r", "\\u0085", "\\u2028", "\\u2029", "\\u000b", "\\u0000"])
    func inputTextCannotEndAComment(_ sign: String) throws {
        let imported = imported(
            text: """
                { "version": 3, "name": "x\(sign)listen: 1.2.3.4:5",
                  "endpoints": [
                    { "endpoint": "/a\(sign)  - route: GET /evil/*", "backend": [{}] },
                    { "endpoint": "/b", "backend": [{ "url_pattern": "/b", "host": ["http://a"] }] },
                    { "endpoint": "/c", "extra_config": { "auth/validator": {} }, "backend":
                      [{ "url_pattern": "/c\(sign)x", "host": ["http://a"] }] }] }
                """)
        let text = try #require(imported.text)
        let (config, problems) = load(["c.yaml": text])
        #expect(config?.endpoints.count == 1, "\(problems.lines)")
        #expect(!text.contains("\nlisten: 1.2.3.4:5"))
    }

    /// A dollar sign before a brace does not begin a variable here.
    @Test func escapesVariablesInTexts() throws {
        let imported = imported(
            text: """
                { "version": 3, "endpoints": [{ "endpoint": "/a/{id}", "method": "POST",
                  "extra_config": { "validation/json-schema": { "type": "object", "properties":
                    { "p": { "type": "string", "enum": ["${HOME}"] } } } },
                  "backend": [{ "url_pattern": "/${id}", "host": ["http://a"] }] }] }
                """)
        let text = try #require(imported.text)
        let (config, problems) = load(["c.yaml": text], environment: ["HOME": "/root", "id": "1"])
        let endpoint = try #require(config?.endpoints.first, "\(problems.lines)")
        #expect(endpoint.body?.properties.first?.oneOf.map(\.value) == ["${HOME}"])
        #expect(endpoint.calls.first?.request?.target.template.text == "/%24{id}")
    }

    /// A brace that opens no parameter is sent escaped, as KrakenD sends it.
    @Test(arguments: [
        ("/a/{id", "/a/%7Bid"), ("/a/{id}/{b", "/a/{id}/%7Bb"), ("/a/id}", "/a/id%7D"),
        ("/a/{id}", "/a/{id}"),
    ])
    func bracesWithoutAPartnerAreEscaped(_ pattern: String, _ target: String) throws {
        let imported = imported(
            text: """
                { "version": 3, "endpoints": [{ "endpoint": "/a/{id}", "backend": [{ "url_pattern":
                  "\(pattern)", "host": ["http://a"] }] }] }
                """)
        let (config, problems) = load(["c.yaml": try #require(imported.text)])
        let endpoint = try #require(config?.endpoints.first, "\(problems.lines)")
        #expect(endpoint.calls.first?.request?.target.template.text == target)
    }

    /// The converted pattern matches a whole text exactly where a part of it matches in Go.
    @Test(arguments: [
        ("^curl|bot$", ["curl/8", "a bot"], ["xcurl", "bot/1", "a"]),
        ("curl|^bot", ["xcurl/8", "bot/1"], ["a bot"]),
        ("^(curl|bot)$", ["curl", "bot"], ["curl/8", "a bot"]),
        ("^a[|]b", ["a|bc"], ["a", "b", "xa|b"]), ("^a\\|b", ["a|bc"], ["a", "b"]),
        ("a\\$", ["xa$x", "a$"], ["a"]), ("^a\\\\$", [#"a\"#], ["a$", #"a\x"#]),
        ("^a$|^b$|c", ["a", "b", "xcx"], ["ax", "xb"]), ("^a", ["ab"], ["ba"]),
        ("a$", ["ba"], ["ab"]), ("^$", [""], ["a"]), ("", ["", "a"], []),
    ])
    func patternsMatchAPart(_ text: String, _ matching: [String], _ others: [String]) throws {
        let pattern = try Pattern(try KrakenDRegex.whole(text))
        #expect(matching.filter { !pattern.matches(Bytes($0).span) } == [], "\(pattern.text)")
        #expect(others.filter { pattern.matches(Bytes($0).span) } == [], "\(pattern.text)")
    }

    @Test func aPatternWithOneBranchHasNoAnchors() throws {
        #expect(try KrakenDRegex.whole("^(a|b)$") == "(a|b)")
        #expect(try KrakenDRegex.whole("^curl") == "(curl).*")
    }

    /// A share keeps its millionths.
    @Test(arguments: [
        ("0.0004", 400), ("0.0125", 12_500), ("0.125", 125_000), ("1", 1_000_000), ("0", 0),
        ("0.000001", 1), ("7", 1_000_000),
    ])
    func sharesOfTracesAreExact(_ share: String, _ millionths: Int) throws {
        let imported = imported(
            text: """
                { "version": 3, "extra_config": { "telemetry/opentelemetry": { "trace_sample_rate": \(share),
                  "exporters": { "otlp": [{ "name": "a", "host": "b", "use_http": true }] } } },
                  "endpoints": [{ "endpoint": "/a", "backend": [{ "url_pattern": "/a", "host": ["http://a"] }] }] }
                """)
        let (config, problems) = load(["c.yaml": try #require(imported.text)])
        #expect(config?.traces?.sample?.value == millionths, "\(problems.lines)")
    }

    /// Written and read again, a text is the same text.
    @Test(arguments: [
        "plain", "two words", "", " ", "null", "true", "1", "1.5", "-", "- a", "a: b", "a #b", "#a",
        "{a}", "[a]", "a,b", "it's", "\"q\"", "a\nb", "ünïcode", "/x/{id}?a=b&c=d", "@a", "*a",
        "&a",
        "!a", "%a", "`a", "a:", "~", "0x1", "1e3", ".", "..", "a{b}", "=", "?", "|", ">", "\t",
    ])
    func textsAreReadBackUnchanged(_ text: String) throws {
        let tree = YAMLTree.block([
            ("block", .text(text)), ("list", .texts([text, text])),
            ("inline", .inline([("key", .text(text))])), (text.isEmpty ? "k" : text, .plain("1")),
        ])
        let lines = tree.lines.map(\.text).joined(separator: "\n")
        let document = try YAMLDocument.read(Array(lines.utf8), file: "t.yaml")
        #expect(document["block"]?.text == text)
        #expect(document["list"]?.texts == [text, text])
        #expect(document["inline"]?["key"]?.text == text)
        #expect(document.members.last?.key == (text.isEmpty ? "k" : text))
    }

    @Test(arguments: [
        ("3s", "3s"), ("800ms", "800ms"), ("1m30s", "90s"), ("1.5s", "1500ms"), ("1h", "1h"),
        ("300us", "1ms"), ("0s", nil), ("0", nil), ("", nil), ("5", nil), ("s", nil),
    ])
    func readsGoDurations(_ text: String, _ expected: String?) throws {
        let node = try YAMLDocument.read(Array("d: \"\(text)\"".utf8), file: "t.yaml")
        #expect(node["d"]?.goDuration?.spelled == expected)
    }
}
