import TestSupport
import Testing
import WorkerSupport

/// `hosts`, `listener` and `when` of endpoints.
@Suite(.watched) struct MatchingTests {
    private static let config = """
        version: 1
        listen:
          - 127.0.0.1:8080
          - { name: internal, address: "127.0.0.1:8081" }
        backends:
          a: { url: "http://127.0.0.1:7001" }
          b: { url: "http://127.0.0.1:7002" }
        endpoints:
          - { route: GET /x, calls: { one: { from: a, get: /any } } }
          - { route: GET /x, hosts: [shop.test], calls: { one: { from: a, get: /shop } } }
          - { route: GET /x, hosts: ["*.shop.test"], calls: { one: { from: a, get: /label } } }
          - { route: GET /x, listener: internal, calls: { one: { from: a, get: /internal } } }
          - { route: GET /jobs, listener: internal, calls: { one: { from: a, get: /jobs } } }
          - { route: GET /only, hosts: [shop.test], calls: { one: { from: a, get: /only } } }
          - route: ANY /cart/*
            when: { value: "{request.header.X-Canary}", is: "1" }
            response_headers: { X-Canary: "1" }
            proxy: { to: b, path: "/*" }
          - route: ANY /cart/*
            when: { value: "{request.query.v}", one_of: ["2", "3"] }
            proxy: { to: b, path: "/v/*" }
          - { route: ANY /cart/*, cors: { origins: ["*"] }, proxy: { to: a, path: "/*" } }
          - route: GET /items/{id}
            params: { id: { type: integer } }
            when: { value: "{id}", is: 7 }
            calls: { one: { from: a, get: "/seven/{id}" } }
          - { route: "GET /items/{name}", calls: { one: { from: a, get: "/items/{name}" } } }
        """

    private func harness() throws -> GatewayHarness { try GatewayHarness(config: Self.config) }

    @Test(arguments: [
        ("/x", "/any"), ("http://shop.test/x", "/shop"), ("http://SHOP.test:8080/x", "/shop"),
        ("http://nl.shop.test/x", "/label"), ("http://a.nl.shop.test/x", "/any"),
        ("http://other.test/x", "/any"),
    ])
    func routesByHost(_ target: String, _ received: String) throws {
        let harness = try harness()
        #expect(try harness.fetch(get(target)).body == #"{"one":"\#(received)"}"#)
        harness.expectQuiet()
    }

    @Test func routeOfAnotherHostIsNotFound() throws {
        let harness = try harness()
        #expect(try harness.fetch(get("http://shop.test/only")).status == 200)
        #expect(try harness.fetch(get("/only")).status == 404)
        #expect(try harness.fetch(get("http://nl.shop.test/only")).status == 404)
        harness.expectQuiet()
    }

    @Test func routeOfAnotherListenerIsNotFound() throws {
        #expect(try harness().fetch(get("/jobs")).status == 404)
        for (target, received) in [
            ("/jobs", "/jobs"), ("/x", "/internal"), ("http://shop.test/x", "/shop"),
        ] {
            let harness = try harness()
            let response = try harness.fetchFromUnixSocket(get(target), listener: 1)
            #expect(response.body == #"{"one":"\#(received)"}"#)
            harness.expectQuiet()
        }
    }

    @Test func firstEndpointWhoseConditionHoldsGetsTheRequest() throws {
        let harness = try harness()
        let responses = try [
            get("/cart/1"), get("/cart/1", "X-Canary: 1"), get("/cart/1", "X-Canary: 2"),
            get("/cart/1?v=3"), get("/cart/1?v=3", "X-Canary: 1"),
            // Of two values, a backend might read another one.
            get("/cart/1", "X-Canary: 1", "X-Canary: 1"), get("/cart/1?v=2&v=3"),
        ].map { try harness.fetch($0) }
        #expect(
            harness.seen.map { "\($0.port) \($0.target)" } == [
                "7001 /1", "7002 /1", "7001 /1", "7002 /v/1?v=3", "7002 /1?v=3", "7001 /1",
                "7001 /1?v=2&v=3",
            ])
        #expect(responses.map { $0["X-Canary"] } == [nil, "1", nil, nil, "1", nil, nil])
        harness.expectQuiet()
    }

    @Test func conditionUsesParameters() throws {
        let harness = try harness()
        #expect(try harness.fetch(get("/items/7")).body == #"{"one":"/seven/7"}"#)
        #expect(try harness.fetch(get("/items/8")).body == #"{"one":"/items/8"}"#)
        #expect(try harness.fetch(get("/items/x")).body == #"{"one":"/items/x"}"#)
        harness.expectQuiet()
    }

    /// Another endpoint may accept the value that one refuses: it meets no condition, not even inside `not`.
    @Test(arguments: [
        (
            "{ v: { type: integer, default: 1 } }", #"{ value: "{v}", is: 1 }"#,
            ["", "?v=1"], ["?v=2", "?v=abc", "?v=1&v=1"]
        ),
        (
            "{ v: { type: boolean } }", "{ not: { param: v } }",
            [""], ["?v=true", "?v=zzz", "?v=true&v=true"]
        ),
    ])
    func invalidAndRepeatedParametersMeetNoCondition(
        _ params: String, _ condition: String, _ meeting: [String], _ others: [String]
    ) throws {
        let harness = try GatewayHarness(
            config: """
                version: 1
                backends: { a: { url: "http://127.0.0.1:7001" } }
                endpoints:
                  - route: GET /x
                    params: \(params)
                    when: \(condition)
                    calls: { one: { from: a, get: /one } }
                  - { route: GET /x, calls: { one: { from: a, get: /other } } }
                """)
        for (queries, received) in [(meeting, "/one"), (others, "/other")] {
            for query in queries {
                let response = try harness.fetch(get("/x" + query))
                #expect(response.body == #"{"one":"\#(received)"}"#, "\(query)")
            }
        }
        harness.expectQuiet()
    }

    /// A preflight has none of the headers that the request will have: also for `exists: false`.
    @Test(arguments: [#"is: "1""#, "exists: false"])
    func preflightGetsTheRulesOfTheLastEndpoint(_ test: String) throws {
        let harness = try GatewayHarness(
            config: Self.config.replacing(
                #"when: { value: "{request.header.X-Canary}", is: "1" }"#,
                with: #"when: { value: "{request.header.X-Canary}", \#(test) }"#))
        let response = try harness.fetch(
            request(
                "OPTIONS", "/cart/1",
                ["Origin: https://a.test", "Access-Control-Request-Method: PUT"]))
        #expect(response.status == 204)
        #expect(response["Access-Control-Allow-Origin"] == "*")
        harness.expectQuiet()
    }

    /// The header that chooses is not sent in another spelling that a backend could read.
    @Test func namesThatChooseAreUsedForADecision() throws {
        let harness = try GatewayHarness(
            config: Self.config.replacing(
                "path: \"/*\" }", with: "path: \"/*\", underscores: pass }"))
        _ = try harness.fetch(
            get("/cart/1?v[]=2&x=3", "X_Canary: 1", "X.Canary: 1", "X_Other: 1"))
        let seen = try #require(harness.seen.first)
        #expect(seen.port == 7001)
        #expect(seen["X_Canary"] == nil)
        #expect(seen["X.Canary"] == nil)
        #expect(seen["X_Other"] == "1")
        #expect(seen.target == "/1?x=3")
        harness.expectQuiet()
    }

    @Test func responsesVaryByTheHeadersOfConditions() throws {
        let harness = try harness()
        #expect(try harness.fetch(get("/cart/1"))["Vary"] == "X-Canary")
        #expect(try harness.fetch(get("/cart/1", "X-Canary: 1"))["Vary"] == "X-Canary")
        #expect(try harness.fetch(get("/x"))["Vary"] == nil)
        harness.expectQuiet()
    }

    /// The query parameter that selects the endpoint is known to it.
    @Test func unknownQueryKnowsTheParameterOfTheCondition() throws {
        let harness = try GatewayHarness(
            config: """
                version: 1
                backends: { a: { url: "http://127.0.0.1:7001" } }
                endpoints:
                  - route: GET /x
                    unknown_query: refuse
                    when: { value: "{request.query.v}", is: "2" }
                    calls: { one: { from: a, get: /two } }
                  - { route: GET /x, unknown_query: refuse, calls: { one: { from: a, get: /1 } } }
                """)
        #expect(try harness.fetch(get("/x?v=2")).status == 200)
        #expect(try harness.fetch(get("/x?v=3")).status == 200)
        #expect(try harness.fetch(get("/x?w=3")).status == 400)
        harness.expectQuiet()
    }

    @Test func logHasTheNameOfTheEndpoint() throws {
        let harness = try harness()
        _ = try harness.fetch(get("http://nl.shop.test/x"))
        _ = try harness.fetch(get("/cart/1?v=2"))
        _ = try harness.fetchFromUnixSocket(get("/jobs"), listener: 1)
        for (line, name) in zip(
            harness.logged,
            ["GET *.shop.test/x", "ANY /cart/* (when 2)", "GET /jobs (internal)"])
        {
            #expect(line.contains(#""endpoint":"\#(name)""#), "\(line)")
        }
        #expect(harness.logged.count == 3)
        harness.expectQuiet()
    }

    /// A request that the server itself rejects belongs to an endpoint, too.
    @Test func rejectionHasTheHeadersOfTheEndpoint() throws {
        let harness = try harness()
        let response = try harness.fetch(
            request("POST", "/cart/1", ["X-Canary: 1", "Expect: more"]))
        #expect(response.status == 417)
        #expect(response["X-Canary"] == "1")
        harness.expectQuiet()
    }

    /// A reload moves a route to another host; requests in flight stay where they are.
    @Test func reloadReplacesHosts() throws {
        let harness = try harness()
        try harness.install(Self.config.replacing("shop.test", with: "store.test"))
        #expect(try harness.fetch(get("http://shop.test/only")).status == 404)
        #expect(try harness.fetch(get("http://store.test/only")).status == 200)
        harness.expectQuiet()
    }
}
