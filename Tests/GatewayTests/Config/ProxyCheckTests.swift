import Testing

@testable import Gateway

/// The rules for endpoints with `proxy`.
@Suite struct ProxyCheckTests {
    private func problems(_ condition: String) -> [String] {
        load([
            "c.yaml": """
            version: 1
            rate_limits: { it: { rate: 1/m, key: address } }
            backends: { a: { url: "http://127.0.0.1:7001" } }
            endpoints:
              - route: POST /x/*
                rate_limits: [{ limit: it, when: \(condition) }]
                proxy: a
            """
        ]).problems.lines.filter { $0.hasPrefix("c.yaml:") }
    }

    /// The body is not read, so that such a limit would never apply.
    @Test(arguments: [
        "{ value: \"{request.body.a}\", is: \"1\" }",
        "{ not: { any: [{ value: \"{request.header.X}\", is: \"1\" }, { value: \"{request.body.a}\", is: \"1\" }] } }",
    ])
    func conditionOfALimitCannotUseTheBody(_ condition: String) {
        let problems = problems(condition)
        #expect(problems.count == 1)
        #expect(
            problems.first?.hasSuffix(
                "error: 'when' of rate limit 'it' uses {request.body.a}; POST /x/* has 'proxy', which"
                    + " passes the body on without reading it") == true, "\(problems)")
    }

    /// `auth` drops the credential, so that listing its header has no effect.
    @Test(arguments: [
        ("it", "Authorization", "drop", 1), ("it", "authorization", "drop", 1),
        ("it", "Authorization", "pass", 0), ("it", "X-Api-Key", "drop", 0),
        ("[it, key]", "Authorization", "drop", 0), ("key", "X-Api-Key", "drop", 1),
        ("cookie", "Cookie", "drop", 0), ("none", "Authorization", "drop", 0),
    ])
    func warnsOfACredentialThatNeverPasses(
        _ auth: String, _ header: String, _ credential: String, _ count: Int
    ) {
        let keys = "keys: { url: \"http://127.0.0.1/k\" }"
        let problems = load([
            "keys.yaml": "[]",
            "c.yaml": """
            version: 1
            auth:
              it: { jwt: { issuer: i, audience: s, \(keys) } }
              cookie: { jwt: { issuer: i, audience: s, \(keys), token: { cookie: t } } }
              key: { api_key: { keys: keys.yaml } }
            backends: { a: { url: "http://127.0.0.1:7001" } }
            endpoints:
              - route: GET /x
                auth: \(auth)
                forward: { headers: [\(header)] }
                proxy: { to: a, credential: \(credential) }
            """,
        ]).problems.lines
        #expect(
            problems.count { $0.contains("does not reach the backend") } == count, "\(problems)")
    }

    @Test func conditionOfALimitCanUseAHeader() {
        #expect(problems("{ value: \"{request.header.X}\", is: \"1\" }") == [])
    }

    /// Only HTTP/1.1 switches protocols.
    @Test(arguments: ["http1", "auto", "http2"])
    func upgradeNeedsHTTP1(_ choice: String) {
        let problems = load([
            "c.yaml": """
            version: 1
            backends: { chat: { url: "https://127.0.0.1:7001", protocol: \(choice), tls: { verify: false } } }
            endpoints:
              - route: GET /live
                proxy: { to: chat, upgrade: [websocket] }
            """
        ]).problems.lines.filter { $0.contains(": error: ") }
        #expect(
            problems
                == (choice == "http2"
                    ? [
                        "c.yaml:5:34: error: backend 'chat' has 'protocol: http2'; an upgrade needs"
                            + " http1 or auto"
                    ] : []))
    }

    /// A prefix takes another's place only where the rest of the paths is the same.
    @Test(arguments: [
        ("GET /a/*", "/b/*", ""), ("GET /{t}/*", "/b/{t}/*", ""), ("GET /a/*", nil, ""),
        ("GET /a", "/b", "a route"), ("GET /a/{t}", nil, "a route"),
        ("GET /a/{t}/*", "/b/*", "a 'path'"), ("GET /{s}/{t}/*", "/{t}/{s}/*", "a 'path'"),
    ])
    func rewriteNeedsTheSameParameters(_ route: String, _ path: String?, _ need: String) {
        let problems = load([
            "c.yaml": """
            version: 1
            backends: { a: { url: "http://127.0.0.1:7001" } }
            endpoints:
              - route: \(route)
                proxy: { to: a\(path.map { ", path: \"\($0)\"" } ?? ""), rewrite: [location] }
            """
        ]).problems.lines.filter { $0.contains(": error: ") }
        #expect(
            problems.map { $0.contains("error: 'rewrite' needs \(need)") }
                == (need.isEmpty ? [] : [true]))
    }
}
