import Testing

@testable import GatewayConfig

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
