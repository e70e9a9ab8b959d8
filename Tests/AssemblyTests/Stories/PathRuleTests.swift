import Foundation
import HTTP
import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// `paths`: a route with a parameter or `*` is no way around a longer one with more protection.
@Suite(.watched) struct PathRuleTests {
    /// - Parameter wide: the keys of the route that could bypass the protected one
    private func harness(
        _ wide: String = "route: ANY /api/*, auth: none, proxy: a",
        protected: String = "route: ANY /api/admin/*, auth: k, proxy: a", top: String = ""
    ) throws -> GatewayHarness {
        try GatewayHarness(
            config: """
                version: 1
                listen: { address: 127.0.0.1:8080, protocols: [http2, http1] }
                auth: { k: { api_key: { keys: keys.yaml } } }
                rate_limits: { slow: { rate: 1/m } }
                \(top)
                backends: { a: { url: "http://127.0.0.1:7001" } }
                endpoints:
                  - { \(wide) }
                  - { \(protected) }
                """, files: ["keys.yaml": Keys.entry("ann", "key")])
    }

    private func status(_ harness: GatewayHarness, _ target: String) throws -> Int {
        try harness.fetch(get(target)).status
    }

    static let bypasses = [
        "/api//admin/x", "//api/admin/x", "/api/admin%2Fx", "/api/%2Fadmin/x",
        "/api/admin;v=1/x",
        "/api/;/admin/x", "/api/admin;/x", "/api/admin%3B/x", "/api/x/../admin/x",
        "/api/%2e/admin/x",
        "/api/x/..;/admin/x", "/api/admin%20/x", "/api/%20admin/x", "/api/admin%09/x",
        "/api/admin%00/x",
        "/api/admin%5Cx", "/api/admin./x", "/api/admin%252Fx", "/api/%2561dmin/x",
        "/api/admin%3F/x",
        "/api/admin%23/x", "/api/%C0%AFadmin/x", "/api/%EF%BC%8Fadmin/x", "/api/%EF%BD%81dmin/x",
        "/api/admin%0A/x",
        "/api/admin%FF/x",
    ]

    @Test(arguments: bypasses) func unusualSpellingsGet400(_ target: String) throws {
        let harness = try harness()
        let response = try harness.fetch(get(target))
        // Two slashes at the beginning match no route.
        #expect(response.status == (target.hasPrefix("//") ? 404 : 400), "\(target)")
        if response.status == 400 { #expect(response.body.contains(#""reason":"path""#)) }
        #expect(harness.seen.isEmpty)
        harness.expectQuiet()
    }

    /// Servers that ignore the case of letters, a slash at the end, or an extension.
    @Test(arguments: [
        "/api/ADMIN/x", "/api/%41dmin/x", "/api/admin", "/api/Admin", "/api/admin.json",
    ])
    func readingsOfThePathThatAreTheOtherRouteGet400(_ target: String) throws {
        let harness = try harness()
        #expect(try status(harness, target) == 400)
        #expect(harness.seen.isEmpty)
        harness.expectQuiet()
    }

    /// Of several endpoints of a route, each one counts: here only the last one has more protection than `/api/*`.
    @Test func everyEndpointOfARouteWithConditionsCounts() throws {
        let harness = try GatewayHarness(
            config: """
                version: 1
                auth: { k: { api_key: { keys: keys.yaml } } }
                rate_limits: { slow: { rate: 1/m } }
                backends: { a: { url: "http://127.0.0.1:7001" } }
                endpoints:
                  - { route: ANY /*, auth: none, proxy: a }
                  - { route: ANY /api/*, auth: k, proxy: a }
                  - route: ANY /api/admin/*
                    auth: k
                    when: { value: "{request.header.X-Canary}", is: "1" }
                    proxy: a
                  - { route: ANY /api/admin/*, auth: k, rate_limits: [slow], proxy: a }
                """, files: ["keys.yaml": Keys.entry("ann", "key")])
        let key = "X-Api-Key: key"
        for path in ["/api/ADMIN/x", "/api/admin.json"] {
            #expect(try harness.fetch(get(path, key)).status == 400)
        }
        #expect(try harness.fetch(get("/api/users/x", key)).status == 200)
        #expect(try harness.fetch(get("/api/admin/x", key)).status == 200)
        harness.expectQuiet()
    }

    @Test(arguments: [
        "/api/x", "/api/", "/api/x/", "/api/x.json", "/api/x%20y/%C3%A9", "/api/users/admin",
        "/api/administrator", "/api/x/ADMIN/y", "/api/100%25",
    ])
    func otherPathsPass(_ target: String) throws {
        let harness = try harness()
        #expect(try status(harness, target) == 200)
        #expect(harness.seen.map(\.target) == [target])
        harness.expectQuiet()
    }

    // MARK: Suffixes

    private func expect(
        _ expected: Int, of target: String, _ wide: String, protected: String
    ) throws {
        let harness = try harness(wide, protected: protected)
        #expect(try status(harness, target) == expected)
        harness.expectQuiet()
    }

    /// A route beside it that has no suffix is another one, and not its reading without an extension.
    @Test(arguments: [
        ("/r/x.json", 200), ("/r/x.y.json", 200), ("/r/x", 401), ("/r/x.JSON", 401),
        ("/r/x;.json", 400), ("/r/x%20.json", 400), ("/r/x..json", 400),
    ])
    func aSuffixIsNoWayAroundTheRouteWithout(_ target: String, _ expected: Int) throws {
        try expect(
            expected, of: target, "route: \"GET /r/{id}.json\", auth: none, proxy: a",
            protected: "route: \"GET /r/{id}\", auth: k, proxy: a")
    }

    /// What stands before the suffix may be the name of a protected route.
    @Test(arguments: [
        ("/r/x.tar.gz", 200), ("/r/admin.tar.gz", 400), ("/r/ADMIN.tar.gz", 400),
        ("/r/%61dmin.tar.gz", 400), ("/r/admin.x.tar.gz", 400), ("/r/admin..tar.gz", 400),
        ("/r/admin%20.tar.gz", 400), ("/r/admin", 401), ("/r/xadmin.tar.gz", 200),
    ])
    func aSuffixIsNoWayAroundALiteral(_ target: String, _ expected: Int) throws {
        try expect(
            expected, of: target,
            "route: \"GET /r/{id}.tar.gz\", auth: none, proxy: { to: a, path: \"/r/{id}\" }",
            protected: "route: GET /r/admin, auth: k, proxy: a")
    }

    @Test(arguments: [
        ("/r/x.json", 401), ("/r/x.JSON", 400), ("/r/x.json/", 400), ("/r/x.json;a", 400),
        ("/r/x%2ejson", 401), ("/r/x", 200),
    ])
    func aProtectedSuffixIsNotBypassed(_ target: String, _ expected: Int) throws {
        try expect(
            expected, of: target, "route: ANY /r/*, auth: none, proxy: a",
            protected: "route: \"GET /r/{id}.json\", auth: k, proxy: a")
    }

    @Test(arguments: ["/api/admin/x", "/api/%61dmin/x"])
    func theProtectedRouteIsProtected(_ target: String) throws {
        let harness = try harness()
        #expect(try status(harness, target) == 401)
        #expect(try harness.fetch(get(target, "X-Api-Key: key")).status == 200)
        harness.expectQuiet()
    }

    /// Any other protection counts, and only where the other route has more of it.
    @Test(arguments: [
        ("route: ANY /api/*, proxy: a", "route: ANY /api/b/*, proxy: a", 200),
        (
            "route: ANY /api/*, proxy: a",
            "route: ANY /api/b/*, proxy: a, clients: { allow: [127.0.0.1] }", 400
        ),
        ("route: ANY /api/*, proxy: a", "route: ANY /api/b/*, proxy: a, rate_limits: [slow]", 400),
        ("route: ANY /api/*, proxy: a", "route: ANY /api/b/*, proxy: a, max_in_flight: 1", 400),
        ("route: ANY /api/*, proxy: a, rate_limits: [slow]", "route: ANY /api/b/*, proxy: a", 200),
        ("route: GET /api/*, proxy: a", "route: POST /api/b/*, proxy: a, rate_limits: [slow]", 200),
        ("route: ANY /api/*, proxy: a", "route: ANY /other/*, proxy: a, rate_limits: [slow]", 200),
        // The route of the path is the more exact one.
        ("route: ANY /api/b/*, proxy: a", "route: ANY /api/*, proxy: a, rate_limits: [slow]", 200),
        (
            "route: \"ANY /api/{a}\", proxy: a",
            "route: ANY /api/b/c, proxy: a, rate_limits: [slow]", 400
        ),
        (
            "route: \"ANY /api/{a}\", proxy: a",
            "route: ANY /api/b/*, proxy: a, rate_limits: [slow]", 400
        ),
    ])
    func protectionsAreCompared(_ wide: String, _ other: String, _ expected: Int) throws {
        let harness = try harness(wide + ", auth: none", protected: other + ", auth: none")
        let path = wide.contains("/b/*") ? "/api/b/x;y" : "/api/x;y"
        #expect(try status(harness, path) == expected)
        harness.expectQuiet()
    }

    @Test func keysDecideWithoutRegardToOtherRoutes() throws {
        let lenient = try harness("route: ANY /api/*, auth: none, proxy: a, paths: lenient")
        #expect(try status(lenient, "/api/admin;v=1/x") == 200)
        // What leaves a folder passes in no case.
        #expect(try status(lenient, "/api/x/..;/admin/x") == 400)
        lenient.expectQuiet()
        let strict = try harness(
            "route: ANY /api/*, auth: none, proxy: a",
            protected: "route: GET /x, auth: none, proxy: a",
            top: "defaults: { paths: strict }")
        #expect(try status(strict, "/api/x;y") == 400)
        #expect(try status(strict, "/api/ADMIN") == 200)
        strict.expectQuiet()
        let own = try harness(
            "route: ANY /api/*, auth: none, proxy: a, paths: lenient",
            top: "defaults: { paths: strict }")
        #expect(try status(own, "/api/x;y") == 200)
        own.expectQuiet()
    }

    /// A parameter of an endpoint with calls.
    @Test func parameterOfCallsIsNoWayAround() throws {
        let harness = try harness(
            #"route: "GET /users/{id}", auth: none, calls: { one: { from: a, get: "/users/{id}", at: . } }"#,
            protected:
                #"route: "GET /users/{id}/keys", auth: k, calls: { one: { from: a, get: "/users/{id}/keys", at: . } }"#
        )
        harness.on("/users/ann", .ok("{}"))
        for target in [
            "/users/ann%2Fkeys", "/users/ann%252Fkeys", "/users/ann;/keys", "/users/ann;",
        ] {
            let status = try status(harness, target)
            #expect(target.hasSuffix("/keys") && status == 401 || status == 400, "\(target)")
        }
        #expect(harness.seen.isEmpty)
        #expect(try status(harness, "/users/ann") == 200)
        harness.expectQuiet()
    }

    /// Whatever the text, an integer is an integer: such a parameter is refused by its type.
    @Test func typedParametersNeedNoRule() throws {
        let harness = try harness(
            #"route: "GET /users/{id}", params: { id: { type: integer } }, auth: none, calls: { one: { from: a, get: "/users/{id}", at: . } }"#,
            protected:
                #"route: "GET /users/{id}/keys", auth: k, calls: { one: { from: a, get: /keys } }"#)
        let response = try harness.fetch(get("/users/1%2Fkeys"))
        #expect(response.status == 400 && response.body.contains("must be an integer"))
        harness.expectQuiet()
    }

    /// A parameter in the middle that servers take for nothing, or for the end of the path.
    @Test(arguments: [
        ("GET /files/{name}/download", "GET /files/download", "/files/%3B/download"),
        ("GET /files/{name}/download", "GET /files/download", "/files/;a/download"),
        ("GET /files/{name}/download", "GET /files/download", "/files/%20/download"),
        ("GET /files/{name}/download", "GET /files/download", "/files/%C2%A0/download"),
        ("GET /users/{id}/avatar", "GET /users/{id}", "/users/5%3F/avatar"),
        ("GET /users/{id}/avatar", "GET /users/{id}", "/users/5%23/avatar"),
        ("ANY /a/{b}/c/*", "ANY /a/*", "/a/b%3F/c/d"),
    ])
    func parametersInTheMiddleAreNoWayAround(
        _ wide: String, _ protected: String, _ target: String
    ) throws {
        let harness = try harness(
            "route: \"\(wide)\", auth: none, proxy: a",
            protected: "route: \"\(protected)\", auth: k, proxy: a")
        #expect(try status(harness, target) == 400)
        #expect(harness.seen.isEmpty)
        #expect(try status(harness, wide.contains("*") ? "/a/b/c/d" : target.plainSegments) == 200)
        harness.expectQuiet()
    }

    @Test func typedParametersInTheMiddleNeedNoRule() throws {
        let harness = try harness(
            #"route: "GET /users/{id}/{file}", params: { id: { type: integer } }, auth: none, calls: { one: { from: a, get: "/{file}", at: . } }"#,
            protected: #"route: "GET /users/{id}", auth: k, proxy: a"#)
        harness.on("/x%3By", .ok("{}"))
        // The last parameter may be the end of the path.
        #expect(try status(harness, "/users/1/x%3By") == 400)
        let other = try self.harness(
            #"route: "GET /users/{id}/avatar", params: { id: { type: integer } }, auth: none, calls: { one: { from: a, get: "/a", at: . } }"#,
            protected: #"route: "GET /users/{id}", auth: k, proxy: a"#)
        #expect(try other.fetch(get("/users/5%3F/avatar")).body.contains("must be an integer"))
        harness.expectQuiet()
        other.expectQuiet()
    }

    @Test func theLogHasTheReason() throws {
        let harness = try harness()
        _ = try harness.fetch(get("/api/a;b"))
        #expect(harness.logged("reason") == ["path"] && harness.logged("status") == ["400"])
        harness.expectQuiet()
    }

    @Test func streamsOfHTTP2AreRefusedAlike() throws {
        let harness = try harness()
        let client = try ScriptedH2Client(ScriptedPeer(harness.stream()), on: harness.testbed)
        harness.pass(1)
        let refused = try client.side.request(.get, "/api/admin;v=1/x", endsStream: true)
        let passed = try client.side.request(.get, "/api/x", endsStream: true)
        client.flush()
        harness.pass(5)
        #expect(refused.responses.map(\.status.code) == [400])
        #expect(passed.responses.map(\.status.code) == [200])
        client.peer.stream.close()
        harness.expectQuiet()
    }
}

extension String {
    /// The path with usual text for its encoded and unusual segments.
    fileprivate var plainSegments: String {
        split(separator: "/").map { $0.contains { "%;".contains($0) } ? "x" : String($0) }
            .reduce(into: "") { $0 += "/" + $1 }
    }
}
