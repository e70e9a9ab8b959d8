import TestSupport
import Testing
import WorkerSupport

/// The CORS protocol of the Fetch standard: preflights, and the headers of every response.
@Suite(.watched) struct CORSTests {
    private static let shop = "https://shop.example.com"

    /// Endpoints with the rules of `defaults`, with rules of their own, and without rules.
    private static let config = """
        version: 1
        limits: { requests_in_flight: 1 }
        defaults:
          deadline: 500ms
          cors: { origins: ["\(shop)"], headers: [Content-Type, X-A], credentials: true, max_age: 2m }
        backends: { a: { url: "http://127.0.0.1:7001" } }
        endpoints:
          - { route: GET /x, calls: { one: { from: a, get: /1, required: true } } }
          - { route: PUT /x, calls: { one: { from: a, put: /1 } } }
          - { route: POST /x, cors: none, calls: { one: { from: a, post: /1 } } }
          - route: DELETE /x
            cors: { origins: ["*"] }
            calls: { one: { from: a, delete: /1 } }
          - { route: GET /open, cors: { origins: ["*"], headers: ["*"] }, calls: { one: { from: a, get: /1 } } }
          - { route: OPTIONS /own, calls: { one: { from: a, get: /1 } } }
          - { route: GET /own, calls: { one: { from: a, get: /1 } } }
          - { route: GET /none, cors: none, calls: { one: { from: a, get: /1 } } }
          - { route: ANY /proxy/*, proxy: { to: a, path: "/*" } }
          - { route: ANY /raw/*, cors: none, proxy: { to: a, path: "/*" } }
        """

    private func harness() throws -> GatewayHarness { try GatewayHarness(config: Self.config) }

    private static let names = [
        "Access-Control-Allow-Origin", "Access-Control-Allow-Methods",
        "Access-Control-Allow-Headers", "Access-Control-Allow-Credentials",
        "Access-Control-Max-Age",
        "Access-Control-Expose-Headers", "Vary",
    ]

    private func lines(_ response: ReceivedResponse) -> [String] {
        Self.names.compactMap { name in
            response[name].map { value in
                name.replacing("Access-Control-", with: "") + ": " + value
            }
        }
    }

    private static let preflightVary =
        "Vary: Origin, Access-Control-Request-Method, Access-Control-Request-Headers"

    private func preflight(
        _ target: String, _ method: String, origin: String = shop
    ) throws -> (status: Int, lines: [String]) {
        let harness = try harness()
        let response = try harness.fetch(
            request(
                "OPTIONS", target,
                [
                    "Origin: \(origin)", "Access-Control-Request-Method: \(method)",
                    "Access-Control-Request-Headers: x-a, x-b",
                ]))
        #expect(
            response.status != 204 || response.body.isEmpty && response["Content-Length"] == nil)
        #expect(harness.seen.isEmpty || target == "/own")
        #expect(response["X-Content-Type-Options"] == "nosniff")
        harness.expectQuiet()
        return (response.status, lines(response))
    }

    // MARK: Preflights

    @Test(arguments: ["GET", "HEAD", "PUT"])
    func preflightListsTheMethodsWithTheSameRules(_ method: String) throws {
        let answer = try preflight("/x", method)
        #expect(answer.status == 204)
        #expect(
            answer.lines == [
                "Allow-Origin: \(Self.shop)", "Allow-Methods: GET, HEAD, PUT",
                "Allow-Headers: Content-Type, X-A", "Allow-Credentials: true", "Max-Age: 120",
                Self.preflightVary,
            ])
    }

    @Test func methodSelectsTheRules() throws {
        #expect(
            try preflight("/x", "DELETE", origin: "https://any.test").lines == [
                "Allow-Origin: *", "Allow-Methods: DELETE", "Max-Age: 600", Self.preflightVary,
            ])
        #expect(
            try preflight("/x", "GET", origin: "https://any.test").lines == [Self.preflightVary])
        #expect(
            try preflight("/open", "GET", origin: "null").lines == [
                "Allow-Origin: *", "Allow-Methods: GET, HEAD", "Allow-Headers: *", "Max-Age: 600",
                Self.preflightVary,
            ])
    }

    /// The 204 without permission makes the browser refuse the request.
    @Test(arguments: [
        "https://shop.example.com.evil.test", "http://shop.example.com", "null", "",
        "https://SHOP.example.com", "https://shop.example.com:8443",
    ])
    func otherOriginGetsNoPermission(_ origin: String) throws {
        let answer = try preflight("/x", "PUT", origin: origin)
        #expect(answer.status == 204 && answer.lines == [Self.preflightVary])
    }

    /// The rules of `defaults` apply, and the method is not listed.
    @Test(arguments: ["PATCH", "BREW"])
    func methodWithoutRouteIsNotListed(_ method: String) throws {
        let answer = try preflight("/x", method)
        #expect(answer.status == 204)
        #expect(answer.lines.contains("Allow-Methods: GET, HEAD, PUT"))
    }

    @Test(arguments: [
        ("/unknown", "GET", 404), ("/none", "GET", 405), ("/x", "POST", 405),
        ("/x", "not a token", 405),
    ])
    func pathWithoutRulesHasNoPreflight(_ target: String, _ method: String, _ status: Int) throws {
        #expect(try preflight(target, method).status == status)
    }

    /// Unlike a route for OPTIONS.
    @Test func routeForEveryMethodHasPreflights() throws {
        let answer = try preflight("/proxy/1", "PUT")
        #expect(answer.status == 204)
        #expect(
            answer.lines.prefix(2) == [
                "Allow-Origin: \(Self.shop)",
                "Allow-Methods: GET, HEAD, POST, PUT, PATCH, DELETE",
            ])
    }

    /// The backend responds to preflights itself.
    @Test func routeForEveryMethodWithoutRulesGetsPreflights() throws {
        let harness = try harness()
        let response = try harness.fetch(
            request(
                "OPTIONS", "/raw/1",
                ["Origin: \(Self.shop)", "Access-Control-Request-Method: PUT"]))
        #expect(response.status == 200)
        #expect(harness.seen.map { "\($0.method) \($0.target)" } == ["OPTIONS /1"])
        harness.expectQuiet()
    }

    @Test func routeForOptionsTakesPrecedence() throws {
        #expect(try preflight("/own", "GET").status == 200)
    }

    /// An `OPTIONS` request without the two headers is no preflight.
    @Test(arguments: [[], ["Origin: \(shop)"], ["Access-Control-Request-Method: GET"]])
    func otherOptionsRequestIsNoPreflight(_ lines: [String]) throws {
        let harness = try harness()
        #expect(try harness.fetch(request("OPTIONS", "/x", lines)).status == 405)
        harness.expectQuiet()
    }

    /// Preflights come before everything that an endpoint requires, but not before the lists.
    @Test func preflightComesAfterTheHostsAndAddresses() throws {
        for (top, status) in [
            ("hosts: [other]", 421), ("clients: { deny: [127.0.0.1] }", 403),
            ("hosts: [gateway]", 204),
        ] {
            let harness = try GatewayHarness(
                "one: { from: a, get: /1 }",
                endpoint: "clients: { deny: [127.0.0.1] }\nparams: { q: { required: true } }",
                top: top + "\ndefaults: { cors: { origins: [\"\(Self.shop)\"] } }")
            let response = try harness.fetch(
                request(
                    "OPTIONS", "/x", ["Origin: \(Self.shop)", "Access-Control-Request-Method: GET"])
            )
            #expect(response.status == status)
            // A refusal carries the headers, too.
            #expect(response["Access-Control-Allow-Origin"] == Self.shop)
            harness.expectQuiet()
        }
    }

    // MARK: Responses

    private static let exposed =
        "Expose-Headers: X-Request-Id, Gateway-Complete, Gateway-Failures, Retry-After, RateLimit"

    /// Successes, errors of endpoints, and responses without an endpoint.
    @Test func everyResponseHasTheHeaders() throws {
        let harness = try harness()
        let origin = "Origin: \(Self.shop)"
        var responses: [(Int, ReceivedResponse)] = []
        responses.append((200, try harness.fetch(get("/x", origin))))
        responses.append((404, try harness.fetch(get("/unknown", origin))))
        responses.append((405, try harness.fetch(request("PATCH", "/x", [origin]))))
        harness.on("/1", .status(500))
        responses.append((502, try harness.fetch(get("/x", origin))))
        harness.on("/1", .hangs)
        let first = try harness.send(get("/x", origin))
        harness.pass(1)
        responses.append((503, try harness.fetch(get("/x", origin))))
        responses.append((504, harness.response(of: first)))
        for (status, response) in responses {
            #expect(response.status == status)
            #expect(
                lines(response) == [
                    "Allow-Origin: \(Self.shop)", "Allow-Credentials: true", Self.exposed,
                    "Vary: Origin",
                ], "\(status)")
        }
        harness.expectQuiet()
    }

    @Test(arguments: [[], ["Origin: https://evil.test"]])
    func otherRequestsOnlyVary(_ origin: [String]) throws {
        let harness = try harness()
        for target in ["/x", "/unknown"] {
            #expect(lines(try harness.fetch(request("GET", target, origin))) == ["Vary: Origin"])
        }
        // No request is refused because of its origin: that is the browser's task.
        #expect(harness.seen.count == 1)
        // The origin of malformed input is unknown: the server does not read its headers.
        #expect(lines(try harness.fetch("BAD\r\n\r\n")) == ["Vary: Origin"])
        #expect(lines(try harness.fetch(request("GET", "/none", origin))) == [])
        #expect(
            lines(try harness.fetch(request("GET", "/open", origin)))
                == ["Allow-Origin: *", Self.exposed])
        harness.expectQuiet()
    }

    /// Backends that answer for their own origins must not contradict the gateway.
    @Test func headersOfBackendsAreNotRelayed() throws {
        for (cors, expected) in [("cors: { origins: [\"*\"] }", "*"), ("", "https://backend.test")]
        {
            let harness = try GatewayHarness(
                "one: { from: a, get: /1, relay_headers: [Access-Control-Allow-Origin] }",
                endpoint: cors)
            harness.on("/1", .ok("1", "Access-Control-Allow-Origin: https://backend.test"))
            #expect(try harness.fetch()["Access-Control-Allow-Origin"] == expected)
            harness.expectQuiet()
        }
    }
}
