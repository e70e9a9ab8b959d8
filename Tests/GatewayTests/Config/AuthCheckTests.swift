import Testing

@testable import Gateway

/// Warnings about `auth` in connection with other keys.
@Suite struct AuthCheckTests {
    /// The problems of an endpoint with `auth`.
    private func problems(
        _ authenticator: String, top: String = "", endpoint: String = ""
    ) -> [String] {
        load([
            "c.yaml": """
            version: 1
            \(top)
            auth: { it: { \(authenticator) } }
            backends: { a: { url: http://h:1 } }
            endpoints:
              - route: POST /x
                auth: it
                \(endpoint)
                calls: { one: { from: a, get: /one } }
            """, "k.json": #"{"keys":[]}"#,
            "k.yaml": "- { id: a, hash: \"sha256:\(String(repeating: "0", count: 64))\" }",
            "u.yaml": "- { user: a, hash: \"sha256:\(String(repeating: "0", count: 64))\" }",
        ]).problems.lines
    }

    private static func jwt(_ token: String = "") -> String {
        "jwt: { issuer: i, audience: s, \(token)algorithms: [HS256], keys: { secret: \(secret) } }"
    }
    private static let secret = String(repeating: "s", count: 32)
    private static let cookie = jwt("token: { cookie: session }, ")

    private static func cors(_ more: String = "") -> String {
        "cors: { origins: [\"https://a.example\"]\(more) }"
    }

    // MARK: CORS

    /// `Cookie` is not a header that a page can set: what it needs is `credentials`.
    @Test(arguments: [
        (cookie, cors(), true), (cookie, cors(", headers: [Cookie]"), true),
        (cookie, cors(", credentials: false"), true), (cookie, cors(", credentials: true"), false),
        (cookie, "", false), (jwt(), cors(", credentials: true, headers: [Authorization]"), false),
    ])
    func warnsOfCookiesWithoutCredentials(_ jwt: String, _ cors: String, _ isWarned: Bool) {
        let found = problems(jwt, endpoint: cors).filter { $0.contains("cannot send") }
        #expect(found.count == (isWarned ? 1 : 0), "\(found)")
        #expect(found.allSatisfy { $0.contains("'credentials: true'") && $0.contains("'session'") })
        #expect(!found.contains { $0.contains("add it to 'headers'") })
    }

    /// The positive control: a header.
    @Test func warnsOfHeadersThatAreNotListed() {
        let found = problems(Self.jwt(), endpoint: Self.cors())
        #expect(found.contains { $0.contains("pages cannot send 'Authorization'") })
    }

    // MARK: Times

    @Test(arguments: [
        ("leeway: 5m", "keys: { secret: \(secret) }", nil),
        (
            "leeway: 301s", "keys: { secret: \(secret) }",
            "'leeway' of authenticator 'it' must be at most 5m"
        ),
        ("leeway: 0s", "keys: { from: a, get: /k, stale: 720h }", nil),
        (
            "leeway: 0s", "keys: { from: a, get: /k, stale: 721h }",
            "'stale' of authenticator 'it' must be at most 30 days"
        ),
        ("leeway: 0s", "keys: { from: a, get: /k, unknown_kid: 1s }", nil),
        (
            "leeway: 0s", "keys: { from: a, get: /k, unknown_kid: 999ms }",
            "'unknown_kid' of authenticator 'it' must be at least 1s"
        ),
    ])
    func limitsTheTimesOfTokens(_ leeway: String, _ keys: String, _ problem: String?) {
        let algorithm = keys.contains("secret") ? "HS256" : "RS256"
        let found = problems(
            "jwt: { issuer: i, audience: s, algorithms: [\(algorithm)], \(leeway), \(keys) }"
        ).filter { $0.contains(": error: ") }
        #expect(found.count == (problem == nil ? 0 : 1), "\(found)")
        #expect(found.allSatisfy { $0.contains(problem ?? "") }, "\(found)")
    }

    // MARK: Tokens

    /// With a public key as a secret, any client that knows the key could sign.
    @Test(arguments: [
        ("-----BEGIN PUBLIC KEY-----", true), ("-----BEGIN RSA PUBLIC KEY-----", true),
        ("-----BEGIN CERTIFICATE-----", true), ("-----BEGIN PRIVATE KEY-----", false),
        ("PUBLIC KEY PUBLIC KEY PUBLIC KEY", false),
    ])
    func refusesAPublicKeyAsASecret(_ text: String, _ isRefused: Bool) {
        let padding = String(repeating: "M", count: 32)
        let found = problems(
            "jwt: { issuer: i, audience: s, algorithms: [HS256],"
                + " keys: { secret: \"\(text)\\n\(padding)\" } }")
        let isFound = found.contains { $0.contains(" error: ") && $0.contains("is no secret") }
        #expect(isFound == isRefused, "\(found)")
    }

    private static let bytes = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

    /// The warnings and errors of keys that are a secret.
    private func found(_ keys: String, file: String = "") -> [String] {
        load(
            [
                "c.yaml": """
                version: 1
                clients: { trusted_proxies: [10.0.0.1] }
                auth:
                  it: { jwt: { issuer: i, audience: s, algorithms: [HS256], keys: { \(keys) } } }
                backends: { a: { url: http://h:1 } }
                endpoints:
                  - { route: GET /x, auth: it, calls: { one: { from: a, get: /one } } }
                """, "k": file,
            ], environment: ["KEY": Self.bytes]
        ).problems.lines.dropLast().map { String($0) }
    }

    @Test(arguments: [
        (#"secret: "${KEY}", encoding: base64url"#, nil),
        (#"secret: "${KEY}=", encoding: base64url"#, nil),
        (#"secret: "${KEY}=", encoding: base64"#, nil),
        (#"secret: "${KEY}", encoding: base64"#, nil),
        (#"secret: "${KEY}", encoding: text"#, nil),
        (#"secret: "${KEY}_", encoding: base64"#, "is not in the base64 of 'encoding'"),
        (#"secret: "${KEY}+", encoding: base64url"#, "is not in the base64url of 'encoding'"),
        ("file: k, encoding: base64", "'encoding' of authenticator 'it' applies only to 'secret'"),
    ])
    func readsSecretsInTheirEncoding(_ keys: String, problem: String?) {
        let lines = found(keys, file: String(repeating: "s", count: 32))
        #expect(lines.map { $0.contains(problem ?? "none") } == problem.map { _ in [true] } ?? [])
    }

    /// Which algorithms are accepted does not matter.
    @Test func wrongAlgorithmHidesNoEncoding() {
        let lines = problems(
            "jwt: { issuer: i, audience: s, algorithms: [HS1], keys: { url: \"https://h/k\", encoding:"
                + " base64 } }")
        for text in ["'algorithms' in 'jwt'", "'encoding' of authenticator 'it' applies only to"] {
            #expect(lines.count { $0.contains(text) } == 1, "\(lines)")
        }
    }

    /// Base64 of 24 bytes has 32 characters.
    @Test func theBytesOfASecretDetermineItsLength() {
        let text = String(Self.bytes.prefix(32))
        let lines = found("secret: \(text), encoding: base64")
        #expect(lines.contains { $0.contains("needs a secret of at least 32 bytes") }, "\(lines)")
        #expect(!found("secret: \(text)").contains { $0.contains("needs a secret of") })
    }

    @Test(arguments: [
        (String(repeating: "s", count: 32), nil),
        (#"{"kty":"oct","k":"\#(bytes)"}\#n"#, nil),
        (#"{"keys":[{"kty":"oct","kid":"a","k":"\#(bytes)"}]}"#, nil),
        (String(repeating: "s", count: 32) + "\n", "the line end of 'k' is a part of the secret"),
        (String(repeating: "s", count: 31), "(secret of 31 bytes) does not fit HS256"),
        (#"{"kty":"EC","k":"\#(bytes)"}"#, "is not symmetric"),
        (
            "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
            "is PEM, which is no secret"
        ),
    ])
    func readsSecretsFromFiles(_ file: String, problem: String?) {
        let lines = found("file: k", file: file)
        #expect(lines.isEmpty == (problem == nil), "\(lines)")
        if let problem { #expect(lines.contains { $0.contains(problem) }, "\(lines)") }
    }

    /// A public key is no secret, so that the algorithms of a file are of one kind.
    @Test func aFileIsEitherSecretOrPublic() {
        let lines = load([
            "c.yaml": """
            version: 1
            auth:
              it: { jwt: { issuer: i, audience: s, algorithms: [HS256, RS256], keys: { file: k } } }
            backends: { a: { url: http://h:1 } }
            endpoints:
              - { route: GET /x, auth: it, calls: { one: { from: a, get: /one } } }
            """, "k": String(repeating: "s", count: 32),
        ]).problems.lines
        #expect(lines.contains { $0.contains("RS256 of authenticator 'it' needs public keys") })
    }

    @Test(arguments: [("[any]", 1), ("[shop, any]", 1), ("[shop]", 0), ("anyone", 0)])
    func warnsOfAnyInAListOfAudiences(_ audience: String, _ count: Int) {
        let found = problems(
            "jwt: { issuer: i, audience: \(audience), algorithms: [HS256],"
                + " keys: { secret: \(Self.secret) } }")
        #expect(found.count { $0.contains("'any' in a list is the name") } == count, "\(found)")
    }

    @Test(arguments: [("any", 1), ("[any]", 0), ("any-one", 0)])
    func warnsOfAnyIssuer(_ issuer: String, _ count: Int) {
        let found = problems(
            "jwt: { issuer: \(issuer), audience: s, algorithms: [HS256],"
                + " keys: { secret: \(Self.secret) } }")
        #expect(found.count { $0.contains("accepts tokens of every issuer") } == count, "\(found)")
        #expect(!found.contains { $0.contains(" error: ") })
    }

    @Test func nullNamesNoAuthenticator() {
        let lines = load([
            "c.yaml": """
            version: 1
            auth: { it: { \(Self.jwt()) } }
            backends: { a: { url: http://h:1 } }
            endpoints:
              - { route: GET /x, auth: null, calls: { one: { from: a, get: /one } } }
            """
        ]).problems.lines
        #expect(lines.contains { $0.contains("'auth: none' makes an endpoint public") }, "\(lines)")
        #expect(!lines.contains { $0.contains("\"null\"") })
    }

    // MARK: Limits and clients

    /// The positive control is the empty file: nothing was unreadable.
    @Test func unreadableNetworkIsTheOnlyProblemOfAList() {
        func lines(_ allow: String) -> [String] {
            load([
                "c.yaml": """
                version: 1
                clients: { allow: \(allow) }
                backends: { a: { url: http://h:1 } }
                endpoints:
                  - { route: GET /x, calls: { one: { from: a, get: /one } } }
                """, "none.txt": "# none\n",
            ]).problems.lines
        }
        let unset = lines("[\"${UNSET}\"]")
        #expect(unset.count { $0.contains(" error: ") } == 1, "\(unset)")
        #expect(lines("{ file: none.txt }").contains { $0.contains("has no entry") })
    }

    @Test func messageAboutANameIsOneLine() {
        let lines = load([
            "c.yaml": """
            version: 1
            rate_limits: { "a\\nb\\u0007": { rate: 1/s } }
            backends: { a: { url: http://h:1 } }
            endpoints:
              - { route: GET /x, calls: { one: { from: a, get: /one } } }
            """
        ]).problems.lines
        #expect(lines.contains { $0.contains(#"bad name 'a\nb\u{07}'"#) }, "\(lines)")
        #expect(!lines.contains { $0.contains("\n") || $0.contains("\u{07}") })
    }

    @Test(arguments: [("GET /x", 1), ("POST /x", 0), ("HEAD /x", 1)])
    func warnsOfALimitByTheBodyOfARequestWithoutOne(_ route: String, _ count: Int) {
        let lines = load([
            "c.yaml": """
            version: 1
            rate_limits: { it: { rate: 1/s, key: "{request.body.u}" } }
            backends: { a: { url: http://h:1 } }
            endpoints:
              - { route: \(route), rate_limits: [it], calls: { one: { from: a, get: /one } } }
            """
        ]).problems.lines
        #expect(lines.count { $0.contains("request has no body") } == count, "\(lines)")
    }

    // MARK: auth_failures

    @Test(arguments: [
        ("listen: 127.0.0.1:80", jwt(), true), ("listen: \"[::1]:80\"", jwt(), true),
        ("listen: unix:/run/g.sock", jwt(), true), ("listen: 0.0.0.0:80", jwt(), false),
        ("", jwt(), false), ("listen: 127.0.0.1:80", "basic: { keys: u.yaml }", true),
        ("listen: 127.0.0.1:80", "api_key: { keys: k.yaml }", false),
        ("listen: 127.0.0.1:80\nauth_failures: off", jwt(), false),
        ("listen: 127.0.0.1:80\nauth_failures: 5/m", jwt(), true),
        ("listen: 127.0.0.1:80\nclients: { trusted_proxies: [127.0.0.1] }", jwt(), false),
        ("listen: 127.0.0.1:80\nclients: { deny: [10.0.0.1] }", jwt(), true),
    ])
    func warnsIfFailuresOfAllClientsCountAsOne(
        _ top: String, _ authenticator: String, _ isWarned: Bool
    ) {
        let all = problems(authenticator, top: top)
        #expect(!all.contains { $0.contains(" error: ") }, "\(all)")
        let found = all.filter { $0.contains("all clients have one address") }
        #expect(found.count == (isWarned ? 1 : 0))
        #expect(found.allSatisfy { $0.hasPrefix("c.yaml:2:9: warning") })
    }
}
