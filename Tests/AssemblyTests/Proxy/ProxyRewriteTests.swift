import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// `rewrite` of `proxy`: paths of the backend in `Location` and in cookies become paths of the route.
@Suite(.watched) struct ProxyRewriteTests {
    private func lines(
        _ sent: String, proxy: String = "to: a, path: /v1/*, rewrite: [location, cookies]",
        route: String = "ANY /api/*", backend: String = ""
    ) throws -> [String] {
        let harness = try ProxyHarness(proxy, route: route, backend: backend)
        let path = route.dropFirst("ANY ".count).replacing("*", with: "x")
            .replacing("{tenant}", with: "t")
        let client = try harness.send(get(String(path)))
        try harness.respond("HTTP/1.1 302 Found\r\n\(sent)\r\nContent-Length: 0\r\n\r\n")
        harness.expectQuiet()
        return client.text.split(separator: "\r\n").map(String.init).filter {
            $0.hasPrefix("Location: ") || $0.hasPrefix("Set-Cookie: ")
        }
    }

    @Test(arguments: [
        ("/v1/a?b=1#c", "/api/a?b=1#c"), ("/v1/", "/api/"), ("/v1", "/api/"),
        ("/v1?a=/v1/", "/api/?a=/v1/"), ("/v1#c", "/api/#c"), ("/v1//a", "/api//a"),
        ("/v1/a?b=/../c", "/api/a?b=/../c"),
        ("http://127.0.0.1:7001/v1/a", "/api/a"), ("HTTP://127.0.0.1:7001/v1", "/api/"),
        // Others stay, such as one that leads out of the route.
        ("/v1/../x", "/v1/../x"), ("/v1/%2e%2E/x", "/v1/%2e%2E/x"), ("/v1/..", "/v1/.."),
        ("/v2/a", "/v2/a"), ("/v10/a", "/v10/a"), ("/", "/"), ("a", "a"), ("../v1/a", "../v1/a"),
        ("//127.0.0.1:7001/v1/a", "//127.0.0.1:7001/v1/a"), ("/\\v1/a", "/\\v1/a"),
        ("https://127.0.0.1:7001/v1/a", "https://127.0.0.1:7001/v1/a"),
        ("http://127.0.0.1:70011/v1/a", "http://127.0.0.1:70011/v1/a"),
        ("http://127.0.0.1/v1/a", "http://127.0.0.1/v1/a"),
        ("http://other.example/v1/a", "http://other.example/v1/a"),
    ])
    func locationGetsTheRoutesPath(_ sent: String, _ received: String) throws {
        #expect(try lines("Location: \(sent)") == ["Location: \(received)"])
    }

    @Test(arguments: [
        ("a=1; Path=/v1/x; HttpOnly", "a=1; Path=/api/x; HttpOnly"),
        ("a=1;path=/v1", "a=1; Path=/api"), ("a=1; PATH = /v1/", "a=1; Path=/api/"),
        // Others stay byte for byte; a client discards `__Host-` with another path than `/`.
        ("__Host-a=1; Secure; Path=/v1/", "__Host-a=1; Secure; Path=/v1/"),
        ("__host-a=1; Secure; Path=/v1/", "__host-a=1; Secure; Path=/v1/"),
        ("a=1; Path=/; Secure", "a=1; Path=/; Secure"), ("a=1", "a=1"), ("Path=/v1/", "Path=/v1/"),
        ("a=1; Domain=/v1/", "a=1; Domain=/v1/"), ("a=1;  Path=/v2/ ;b", "a=1;  Path=/v2/ ;b"),
        ("a=1; Path", "a=1; Path"), ("a=1; Path=", "a=1; Path="),
    ])
    func cookieGetsTheRoutesPath(_ sent: String, _ received: String) throws {
        #expect(
            try lines("Set-Cookie: z=0; Path=/v1/\r\nSet-Cookie: \(sent)")
                == ["Set-Cookie: z=0; Path=/api/", "Set-Cookie: \(received)"])
    }

    @Test(arguments: [
        ("location", ["Location: /api/a", "Set-Cookie: a=1; Path=/v1/"]),
        ("cookies", ["Location: /v1/a", "Set-Cookie: a=1; Path=/api/"]),
    ])
    func eachIsRewrittenAlone(_ rule: String, _ expected: [String]) throws {
        let sent = "Location: /v1/a\r\nSet-Cookie: a=1; Path=/v1/"
        #expect(
            Set(try lines(sent, proxy: "to: a, path: /v1/*, rewrite: [\(rule)]")) == Set(expected))
        #expect(
            Set(try lines(sent, proxy: "to: a, path: /v1/*"))
                == ["Location: /v1/a", "Set-Cookie: a=1; Path=/v1/"])
    }

    /// A path of the backend must not become the name of a host.
    @Test(arguments: [
        ("/v1/a", "/a"), ("/v1//evil.example", "/v1//evil.example"),
        ("/v1/\\evil.example", "/v1/\\evil.example"),
        ("/v1/\t/evil.example", "/v1/\t/evil.example"), ("/v1", "/"),
        ("http://127.0.0.1:7001/v1//evil.example", "http://127.0.0.1:7001/v1//evil.example"),
    ])
    func rootRouteLeadsToNoOtherHost(_ sent: String, _ received: String) throws {
        #expect(try lines("Location: \(sent)", route: "ANY /*") == ["Location: \(received)"])
    }

    /// The path of the backend's URL is part of what is replaced, and so is a parameter's place kept.
    @Test func pathOfTheURLIsReplaced() throws {
        let backend = "urls: [\"http://127.0.0.1:7001/s\"]"
        let rewrite = "to: a, rewrite: [location]"
        #expect(
            try lines("Location: /s/api/a", proxy: rewrite, backend: backend)
                == ["Location: /api/a"])
        #expect(
            try lines(
                "Location: /s/b/t/a", proxy: "\(rewrite), path: \"/b/{tenant}/*\"",
                route: "ANY /{tenant}/*", backend: backend) == ["Location: /t/a"])
    }

    @Test(arguments: [
        ("shop.example", "http://shop.example", true),
        ("shop.example", "http://shop.example:80", true),
        ("shop.example", "https://shop.example", false),
        ("shop.example", "http://shop.example:8080", false),
        ("shop.example:80", "http://shop.example", true),
        ("shop.example:8080", "http://shop.example:8080", true),
        ("shop.example:8080", "http://shop.example", false), ("\"[::1]\"", "http://[::1]:80", true),
    ])
    func nameInHostIsAnOriginOfTheBackend(
        _ host: String, _ origin: String, _ isRewritten: Bool
    ) throws {
        let proxy = "to: a, path: /v1/*, host: \(host), rewrite: [location]"
        #expect(
            try lines("Location: \(origin)/v1/a", proxy: proxy)
                == ["Location: \(isRewritten ? "/api/a" : "\(origin)/v1/a")"])
    }

    /// Of two paths of the backend the longer one counts.
    @Test func longestPathOfAURLIsReplaced() throws {
        let backend = "urls: [\"http://127.0.0.1:7001/s\", \"http://127.0.0.1:7001/s/api\"]"
        let sent = "Location: /s/api/api/a\r\nX: 1"
        #expect(
            try lines(sent, proxy: "to: a, rewrite: [location]", backend: backend)
                == ["Location: /api/a"])
    }

    @Test func severalLocationsStay() throws {
        #expect(
            try lines("Location: /v1/a\r\nLocation: /v1/b")
                == ["Location: /v1/a", "Location: /v1/b"])
    }
}
