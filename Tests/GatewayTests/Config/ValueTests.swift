import Testing

@testable import Gateway

/// The messages for invalid values.
@Suite struct ValueTests {
    @Test(arguments: [
        ("timeout: 300", "has no unit; write it like 300ms, 2s, 5m or 1h"),
        (
            "timeout: 3d",
            "has the unknown unit 'd'; write it like 300ms, 2s, 5m or 1h (ms, s, m or h)"
        ),
        ("timeout: 300 ms", "must be written without a space: 300ms"),
        ("timeout: 0s", "must be more than 0"),
        ("timeout: 0.0ms", "must be more than 0"),
        ("timeout: 1.2.3s", "must be a number with a unit, such as 300ms, 2s, 5m or 1h"),
        ("timeout: -1s", "must not be negative"),
        ("timeout: 99999999999999999999h", "must be at most 8784h (366 days)"),
        ("timeout: [1s]", "must be a time, such as 300ms"),
        ("timeout:", "must be a number with a unit, such as 300ms, 2s, 5m or 1h"),
        ("required: yes", "must be true or false - did you mean true?"),
        ("required: \"true\"", "must be true or false, without quotes"),
        ("accept: 200", "must be a list: [200]"),
        ("keep: name", "must be a list: [name]"),
        ("keep: \"a b\"", "must be a list, such as [a, b]"),
        ("relay_status: 4xx", "must be a list: [4xx]"),
        ("accept: [299-200]", "must be a status such as 404, or a range such as 200-299"),
        (
            "accept: [2xx]",
            "must be a status such as 404, or a range such as 200-299; write 200-299"
        ),
        ("accept: [1xx]", "must be a status such as 404, or a range such as 200-299"),
        ("accept: [100]", "must be between 200 and 599, the statuses of final responses"),
        ("relay_status: [700]", "must be between 200 and 599, the statuses of final responses"),
        (
            "relay_headers: [Content-Type]",
            "must not be 'Content-Type'; the client's response has its own"
        ),
        (
            "relay_headers: [\"a b\"]",
            "has the invalid header name 'a b'; use letters, digits and -"
        ),
        ("take: a..b", nil),
        ("take: \"\"", nil),
        ("keep: [\"a[x]\"]", nil),
        (
            "at: a[0]",
            "must be . (the root), none, a path such as user.address, or news[] to append; without"
                + " 'at' the response is stored under the call's name"
        ),
        ("on_collision: stop", "must be drop or fail"),
        ("if_failed: .inf", "must be a JSON value; '.inf' is not a JSON number"),
    ])
    func refusesInvalidValueInCall(_ line: String, words: String?) throws {
        let key = line.prefix { $0 != ":" }
        let found = problems(Snippet.call(line))
        let problem = try #require(found.first)
        #expect(problem.contains("'\(key)' in call 'one' "), "\(found)")
        #expect(problem.hasPrefix("8:"))
        if let words { #expect(problem.hasSuffix("'\(key)' in call 'one' \(words)")) }
    }

    @Test(arguments: [
        ("max_concurrent: 1.5", "must be a whole number from 1 to 1000000"),
        ("max_concurrent: \"5\"", "must be a whole number from 1 to 1000000, without quotes"),
        ("max_concurrent: many", "must be a whole number from 1 to 1000000"),
        ("max_concurrent: 99999999999999999999", "must be a whole number from 1 to 1000000"),
        (
            "balance: least",
            "must be least_requests or round_robin - did you mean 'least_requests'?"
        ),
        ("connect_timeout: 0ms", "must be more than 0"),
        (
            "headers: { Content-Length: 5 }",
            "must not be 'Content-Length'; the gateway sets the headers of the connection itself"
        ),
        ("headers: { A B: x }", "has the invalid header name 'A B'; use letters, digits and -"),
        ("headers: { A: \"x\\r\\nB: y\" }", "must be one line, without control characters"),
        ("headers: { A: }", "must have a value; write \"\" for an empty one"),
        (
            "headers: [a]",
            "must be a mapping of names to values, not a list: write 'name: value' without '- '"
        ),
        ("headers: a", "must be a mapping of names to values"),
    ])
    func refusesInvalidValueInBackend(_ line: String, words: String) {
        let key = line.prefix { $0 != ":" }
        let found = problems(Snippet.backend(line))
        #expect(found.count == 1)
        #expect(found.first?.hasSuffix("'\(key)' in backend 'a' \(words)") == true, "\(found)")
    }

    @Test(arguments: [
        (
            "breaker: { open_at: 0% }",
            "4:25: error: 'open_at' in 'breaker' of backend 'a' must be more than 0"
        ),
        (
            "breaker: { open_at: 101% }",
            "4:25: error: 'open_at' in 'breaker' of backend 'a' must be at most 100%"
        ),
        (
            "breaker: { open_at: 0.5 }",
            "4:25: error: 'open_at' in 'breaker' of backend 'a' has no unit; write it like 50%"
        ),
        (
            "breaker: { min_request: 5 }",
            "4:16: error: unknown key 'min_request' in 'breaker' of backend 'a'"
                + " - did you mean 'min_requests'?"
        ),
        (
            "queue: 5",
            "4:12: error: 'queue' of backend 'a' must be a mapping of keys to values (keys here: size, wait)"
        ),
        (
            "health: { every: 1s }",
            "4:13: error: the key 'path' is missing in 'health' of backend 'a'"
        ),
        (
            "health: { path: x }",
            "4:21: error: 'path' in 'health' of backend 'a' must begin with a '/'"
        ),
    ])
    func refusesInvalidValueInNestedBlock(_ line: String, problem: String) {
        #expect(problems(Snippet.backend(line)) == [problem])
    }

    @Test(arguments: [
        ("tls: { ca: \"\" }", "4:16: error: 'ca' in 'tls' of backend 'a' must not be empty"),
        (
            "tls: { cert: none.pem, key: client.key }",
            "4:18: error: 'cert' in 'tls' of backend 'a' cannot be read: there is no such file: 'none.pem'"
        ),
        (
            "tls: { server_name: \"a b\" }",
            "4:25: error: 'server_name' in 'tls' of backend 'a' has no valid host: 'a b' is neither an"
                + " address nor a name"
        ),
        (
            "tls: { server_name: \"[::1]\" }",
            "4:25: error: 'server_name' in 'tls' of backend 'a' must be an address without brackets"
        ),
    ])
    func reportsProblemInTLS(_ line: String, problem: String) {
        let url = "    url: https://h\n"
        #expect(problems(Snippet.backend(line, url: url)) == [problem])
    }

    @Test func readsSystemCertificatesFromSSLCertFile() {
        let text = Snippet.backend("balance: round_robin", url: "    urls: [\"https://h\"]\n")
        #expect(load(["c.yaml": text]).config != nil)
        let there = load(
            ["c.yaml": text, "/trust": Certificates.files["ca.pem"] ?? ""],
            environment: ["SSL_CERT_FILE": "/trust"])
        #expect(there.config != nil)
        #expect(
            problems(text, environment: ["SSL_CERT_FILE": "/none"]).last
                == "5:12: error: backend 'a' needs a list of trusted CA certificates, and this system"
                + " has none: install ca-certificates, or set SSL_CERT_FILE or 'tls: { ca: FILE }'"
        )
    }

    @Test(arguments: [
        ("http://", "'url' in backend 'a' has no valid host: '' is neither an address nor a name"),
        ("h:80", "'url' in backend 'a' has no scheme; write http://h:80"),
        (
            "http://a..",
            "'url' in backend 'a' has no valid host: 'a..' is neither an address nor a name"
        ),
        (
            "http://.",
            "'url' in backend 'a' has no valid host: '.' is neither an address nor a name"
        ),
        (
            "http://1.2.3.4.",
            "'url' in backend 'a' has no valid host: '1.2.3.4.' is neither an address nor a name"
        ),
        ("http://h:0", "'url' in backend 'a' has no valid port (1 to 65535): '0'"),
        ("http://h:65536", "'url' in backend 'a' has no valid port (1 to 65535): '65536'"),
        ("http://h:", "'url' in backend 'a' has no valid port (1 to 65535): ''"),
        (
            "http://u:p@h",
            "'url' in backend 'a' must not contain a user name or password; send credentials with 'headers'"
        ),
        ("http://h/?a=b", "'url' in backend 'a' must not have a query (?...)"),
        ("http://h/a b", "'url' in backend 'a' must percent-encode ' '"),
        (
            "http://h/a%2",
            "'url' in backend 'a' has a '%' without two hexadecimal digits after it; write %25 for a literal %"
        ),
        (
            "http://1.2.3",
            "'url' in backend 'a' has no valid host: '1.2.3' is neither an address nor a name"
        ),
        (
            "http://::1",
            "'url' in backend 'a' must have its IPv6 address in brackets: \"[::1]:8080\""
        ),
        ("http://[::1", "'url' in backend 'a' has no valid IPv6 address between [ and ]"),
        ("http://[1::2::3]:80", "'url' in backend 'a' has no valid IPv6 address between [ and ]"),
    ])
    func refusesInvalidURL(_ url: String, words: String) {
        let found = problems(Snippet.backend("url: \"\(url)\"", url: ""))
        #expect(found == ["4:10: error: \(words)"])
    }

    @Test(arguments: [
        ("http://h", "h", 80, ""), ("http://h:7001/", "h", 7001, ""),
        ("HTTP://h/v1/", "h", 80, "/v1"), ("http://[::1]:80", "::1", 80, ""),
        ("http://[::ffff:1.2.3.4]", "::ffff:1.2.3.4", 80, ""),
        ("http://10.0.0.1/a%20b", "10.0.0.1", 80, "/a%20b"),
        ("http://my_service.local", "my_service.local", 80, ""),
    ])
    func acceptsValidURL(_ text: String, host: String, port: UInt16, path: String) throws {
        let url = try Config.BackendURL(parsing: text)
        #expect(url == .init(scheme: .http, host: host, port: port, path: path))
    }

    @Test(arguments: [
        ("/x", "must be a method, one space and a path, such as GET /products/{id}"),
        ("GET  /x", "must be a method, one space and a path, such as GET /products/{id}"),
        ("GET x", "must have a path that begins with a '/'"),
        ("GET /x?a={b}", "must have no query (?...); query parameters are declared under 'params'"),
        ("GET /x#a", "must not have a fragment (#...); write %23 for a literal #"),
        ("GET /a//b", "must not have an empty segment (//)"),
        (
            "GET /x{id}",
            "must have a parameter as a whole segment, or before a suffix at the end, such as /{id}/"
                + " or /{id}.json, not 'x{id}'"
        ),
        (
            "GET /{id}.json/x",
            "must have a parameter as a whole segment, or before a suffix at the end, such as /{id}/"
                + " or /{id}.json, not '{id}.json'"
        ),
        (
            "GET /{id}.",
            "has the suffix '.'; behind the dot it needs letters, digits, '.', '-', '_' or '~'"
        ),
        (
            "GET /{id}.a%20b",
            "has the suffix '.a%20b'; behind the dot it needs letters, digits, '.', '-', '_' or '~'"
        ),
        ("GET /{a b}", "must be a method, one space and a path, such as GET /products/{id}"),
        ("GET /{a.b}", "has a parameter with the bad name 'a.b' (letters, digits, _ and -)"),
        ("GET /{a}/{a}", "has the parameter 'a' twice"),
        ("GET /a/../b", "must not have the segment '..'; no client can request it"),
        ("GET /%2", "has an invalid escape in '%2' (%XX, UTF-8)"),
        ("GET /%FF", "has an invalid escape in '%FF' (%XX, UTF-8)"),
    ])
    func refusesInvalidRoute(_ route: String, words: String) {
        let found = problems(Snippet.endpoint("report: off", route: route))
        #expect(found == ["4:12: error: 'route' in endpoint '\(route)' \(words)"])
    }

    @Test(
        arguments: [
            ("GET /", []), ("GET /a/", [.literal("a"), .literal("")]),
            ("GET /a%2Fb/{id}", [.literal("a/b"), .parameter("id")]),
        ] as [(String, [Config.Route.Segment])])
    func acceptsValidRoute(_ text: String, segments: [Config.Route.Segment]) throws {
        #expect(try Config.Route(parsing: text).segments == segments)
    }

    @Test(
        arguments: [
            ("127.0.0.1:0", .tcp(host: "127.0.0.1", port: 0)),
            ("\"[::1]:8080\"", .tcp(host: "::1", port: 8080)),
            ("localhost:80", .tcp(host: "localhost", port: 80)),
            ("unix:/run/t.sock", .unix(path: "/run/t.sock")),
        ] as [(String, Config.ListenAddress)])
    func acceptsValidAddress(_ text: String, address: Config.ListenAddress) throws {
        let config = try #require(load(["c.yaml": Snippet.top("listen: \(text)")]).config)
        #expect(config.listen.first?.address?.value == address)
    }

    @Test(arguments: [
        ("\":8080\"", "must have a host: 127.0.0.1:8080, or 0.0.0.0:8080 for all interfaces"),
        ("8080", "must have a host: 127.0.0.1:8080, or 0.0.0.0:8080 for all interfaces"),
        ("h", "must be host:port, \"[v6]:port\" or unix:/path"),
        ("h:99999", "has no valid port (0 to 65535): '99999'"),
        ("unix:run", "must be unix: and an absolute path of at most 107 bytes"),
        ("256.0.0.1:80", "has no valid host: '256.0.0.1' is neither an address nor a name"),
    ])
    func refusesInvalidAddress(_ text: String, words: String) {
        #expect(problems(Snippet.top("listen: \(text)")) == ["1:9: error: 'listen' \(words)"])
    }

    @Test(
        arguments: [
            ("1.5s", .milliseconds(1500)), ("2m", .seconds(120)), ("1h", .seconds(3600)),
            ("0.25ms", .microseconds(250)),
        ] as [(String, Duration)])
    func readsDurations(_ text: String, value: Duration) throws {
        let config = try #require(load(["c.yaml": Snippet.call("timeout: \(text)")]).config)
        #expect(config.endpoints[0].calls[0].timeout?.value == value)
    }

    /// A fraction of a power of two is exact; what is less than the smallest unit is dropped.
    @Test(
        arguments: [
            ("0.5KiB", 512), ("1.5MiB", 1_572_864), ("2.5GiB", 2_684_354_560), ("1.9B", 1),
            ("0.0009765625KiB", 1), ("1.00000000000000000099999KiB", 1024),
        ] as [(String, Int)])
    func readsSizes(_ text: String, bytes: Int) throws {
        let config = try #require(
            load(["c.yaml": Snippet.top("limits: { buffered_bytes: \(text) }")]).config)
        #expect(config.limits?.bufferedBytes?.value == bytes)
    }

    /// The largest 32-bit number is a common way to allow texts of any length.
    @Test(arguments: ["min_length", "max_length"])
    func limitsLengthsTo32Bits(_ key: String) {
        for type in ["params: { id: {", "body: { properties: { id: { type: string,"] {
            let end = type.hasPrefix("body") ? " } } }" : " } }"
            func found(_ length: String) -> [String] {
                problems(
                    Snippet.endpoint(
                        "\(type) \(key): \(length)\(end)", route: "POST /x/{id}",
                        calls: "one: { from: a, get: \"/{id}\" }"))
            }
            #expect(found("2147483647") == [])
            #expect(
                found("2147483648").first?.hasSuffix(
                    "must be a whole number from 0 to 2147483647") == true)
        }
    }
}
