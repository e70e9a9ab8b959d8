import Testing

@testable import Gateway

/// Errors for which the check suggests the intended spelling.
@Suite struct MeantSpellingTests {
    private func first(_ text: String) -> String { problems(text).first ?? "" }

    // MARK: Routes and lists

    private static let last =
        "* as the last segment of a route with 'proxy', or %2A for a literal *"

    @Test(arguments: [
        ("GET /a/:id", "must have its parameters in braces: /a/{id}"),
        ("GET /:a/b/:c/", "must have its parameters in braces: /{a}/b/{c}/"),
        ("GET /files/*", "write a parameter for every segment, or %2A for a literal *"),
        ("GET /files/*path", "as in /files/{name}, \(last)"),
        ("\"GET /files/{path...}\"", "as in /files/{name}, \(last)"),
    ])
    func reportsParameterSyntaxOfOtherRouters(_ route: String, _ words: String) {
        let found = problems(Snippet.endpoint("deadline: 1s", route: route))
        #expect(found.count == 1)
        #expect(found.first?.hasSuffix(words) == true, "\(found)")
    }

    @Test(arguments: ["GET /a:b", "GET /a/%2A", "GET /a/%3Aid"])
    func acceptsEscapedSigns(_ route: String) {
        #expect(problems(Snippet.endpoint("deadline: 1s", route: route)) == [])
    }

    @Test func reportsWildcardInForward() {
        #expect(
            first(Snippet.endpoint(#"forward: { headers: ["*"] }"#)).contains(
                "'headers' in 'forward' of endpoint 'GET /x/{id}' must list every header by its name"
            ))
        #expect(
            first(Snippet.endpoint(#"forward: { query: ["*"] }"#)).contains(
                "must list every parameter by its name"))
        #expect(problems(Snippet.endpoint("forward: { headers: [Accept], query: [a] }")) == [])
    }

    // MARK: URLs

    @Test(arguments: [
        ("htpp://h:1", "has the unknown scheme 'htpp' - did you mean 'http'?"),
        ("htps://h:1", "has the unknown scheme 'htps' - did you mean 'https'?"),
        (
            "grpc://h:1",
            "has the scheme 'grpc', which is not supported; backends are called with http:// or https://"
        ),
        (
            "wss://h:1",
            "has the scheme 'wss', which is not supported; backends are called with http:// or https://"
        ),
        ("host:8080", "has no scheme; write http://host:8080"),
        // A hint that would be the next error is none.
        ("host:x", "must be a URL such as http://127.0.0.1:7001"),
        ("mailto:a@b", "must be a URL such as http://127.0.0.1:7001"),
        (
            "unix:/run/app.sock",
            "must not be a unix socket; a backend has a host and a port, such as http://127.0.0.1:7001"
        ),
        (
            "UNIX:app.sock",
            "must not be a unix socket; a backend has a host and a port, such as http://127.0.0.1:7001"
        ),
        ("127.0.0.1", "has no scheme; write http://127.0.0.1"),
        ("http:/h:1", "must have // after the scheme, such as http://127.0.0.1:7001"),
    ])
    func explainsUnsupportedSchemes(_ url: String, _ words: String) {
        let found = problems(Snippet.backend("dns_ttl: 1s", url: "    url: \"\(url)\"\n"))
        #expect(found == ["5:10: error: 'url' in backend 'a' \(words)"])
    }

    // MARK: Limits

    @Test(arguments: [
        ("limits: { header_bytes: 17MiB }", "must be at most 16MiB"),
        ("limits: { uri_bytes: 65KiB }", "must be at most 64KiB"),
        ("limits: { buffered_bytes: 2000GiB }", "must be at most 1024GiB"),
        ("limits: { idle_timeout: 8785h }", "must be at most 8784h (366 days)"),
        (
            "limits: { connections: 9223372036854775807 }",
            "must be a whole number from 1 to 1000000"
        ),
        ("defaults: { max_body: 2GiB }", "must be at most 1GiB"),
    ])
    func reportsTheLimitOfASize(_ line: String, _ words: String) {
        #expect(first(Snippet.top(line)).hasSuffix(words), "\(first(Snippet.top(line)))")
    }

    // MARK: Look-alike characters

    @Test func reportsCodePointsOfLookAlikes() {
        #expect(
            first(Snippet.call("tіmeout: 1s"))
                == "8:9: error: unknown key 'tіmeout' in call 'one' - did you mean 'timeout'? (the 'і' is U+0456)"
        )
        #expect(first(Snippet.call("required: truе")).hasSuffix(" (the 'е' is U+0435)"))
        #expect(
            first(Snippet.call("on_collision: “drop”")).hasSuffix(
                "(the '“' is U+201C, the '”' is U+201D)"))
        #expect(first(Snippet.call("timeout: 1ｓ")).hasSuffix("(the 'ｓ' is U+FF53)"))
        #expect(
            first(Snippet.call("timeout: 1\u{A0}s")).hasSuffix("(it has the invisible U+00A0)"))
    }

    @Test func acceptsWordsOfOtherScripts() {
        #expect(LookAlikes.note(on: "'Москва' must be an integer") == "")
        #expect(LookAlikes.note(on: "'größe' must be an integer") == "")
        #expect(LookAlikes.note(on: "'сору' must be an integer").contains("U+0441"))
    }

    // MARK: Files

    @Test func reportsMissingFile() {
        let text = Snippet.backend("tls: { ca: certs/none.pem }", url: "    url: https://h\n")
        #expect(
            problems(text, file: "dir/c.yaml").first
                == "4:16: error: 'ca' in 'tls' of backend 'a' cannot be read: there is no such file: 'dir/certs/none.pem'"
        )
    }

    @Test func warnsOfWorldWritableFiles() {
        let texts = [
            "c.yaml": Snippet.top("include: more.yaml"), "more.yaml": "endpoints: []",
        ]
        func lines(writable: [String]) -> [String] {
            var files = ConfigFiles(texts: texts)
            files.isWorldWritable = { writable.contains($0) }
            return ConfigLoader.load("c.yaml", files: files, environment: { _ in nil }).problems
                .lines
        }
        #expect(lines(writable: []) == [])
        #expect(
            lines(writable: ["c.yaml", "more.yaml"]).dropLast() == [
                "c.yaml:1:1: warning: every user of this system can write this file; run: chmod o-w c.yaml",
                "more.yaml:1:1: warning: every user of this system can write this file; run: chmod o-w more.yaml",
            ])
    }

    // MARK: Shared caches

    @Test(arguments: [
        ("forward: { headers: [authorization] }", "public, max-age=60", "authorization"),
        ("forward: { headers: [Cookie] }", "max-age=5, PUBLIC", "cookie"),
        ("forward: { headers: [Cookie] }", "s-maxage=5", "cookie"),
        ("forward: { headers: [Accept] }", "public", nil),
        ("forward: { headers: [Cookie] }", "private, max-age=60", nil),
    ])
    func warnsOfSharedCachingOfPrivateResponses(
        _ forward: String, _ control: String, _ header: String?
    ) {
        let found = problems(Snippet.endpoint("\(forward)\ncache_control: \"\(control)\""))
        #expect(found.count == (header == nil ? 0 : 1))
        if let header {
            #expect(found.first?.hasPrefix("6:20: warning: GET /x/{id}: with '") == true)
            #expect(found.first?.contains("that depends on '\(header)'") == true)
        }
    }

    // MARK: One mistake, one report

    @Test(arguments: [
        // No backend is known, and the calls do not report it again.
        """
        version: 1
        backend: { a: { url: http://h:1 } }
        endpoints: [{ route: GET /x, calls: { one: { from: a, get: /one } } }]
        """,
        """
        version: 1
        include: none.yaml
        endpoints: [{ route: GET /x, calls: { one: { from: a, get: /one } } }]
        """,
        """
        version: 1
        backends: [a]
        endpoints: [{ route: GET /x, calls: { one: { from: a, get: /one } } }]
        """,
        Snippet.endpoint(
            "deadline: 1s", route: "GET /x/:id", calls: "one: { from: a, get: \"/{id}\" }"),
        Snippet.endpoint(
            "parms: { q: { type: string } }", calls: "one: { from: a, get: \"/{q}\" }"),
        Snippet.endpoint("params: { id: { type: intger, min: 1 } }"),
        Snippet.endpoint("deadline: 9x\ntimeout: 7s"),
        Snippet.endpoint("min_durtion: 6s\nround_up_to: 1s"),
        """
        version: 1
        backends: { a: { url: http://h:1, max_concurrent: x, queue: { size: 1 } } }
        endpoints:
          - { route: GET /x, calls: { one: { from: a, get: /one, hedge: { after: 1ms } } } }
        """,
    ])
    func reportsEachErrorOnce(_ text: String) {
        #expect(problems(text).count == 1, "\(problems(text))")
    }
}
