import Basics
import Gateway
import HTTP
import Promises
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// `explain --run`: the request is sent, and the lines show what happened.
@Suite(.watched) struct ExplainedRunTests {
    private func explained(
        _ harness: GatewayHarness, _ calls: String, endpoint: String = "", backend: String = "",
        _ target: String = "/x", method: Method = .get, body: String = "", top: String = "",
        files: [String: String] = [:], fields: Fields = Fields()
    ) throws -> [String] {
        let plan = try GatewayHarness.plan(
            GatewayHarness.text(calls, endpoint, backend, top), files: files)
        var head: Fields = [.requestID: "abc"]
        head.append(fields)
        let explanation = Explanation(
            plan, method, try #require(Target(target)), head, body: Bytes(body))
        var text: String?
        let loop = harness.network.makeLoop("explain")
        loop.timer(after: .zero) {
            explanation.sendRequest(on: loop).whenSettled { text = try? $0.get().text }
        }
        harness.network.run(until: { text != nil }, eventsMax: 100_000)
        harness.network.advance(by: .seconds(10))
        #expect(harness.network.leftovers.filter { $0.hasPrefix("explain:") } == [])
        return try #require(text).split(separator: "\n").map(String.init)
    }

    @Test func showsAWaterfall() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        harness.on("/1", .ok(#"{"id":7}"#, after: 30))
        harness.on("/2/7", .ok("2", after: 60))
        harness.on("/3", .status(500, after: 15))
        let lines = try explained(
            harness,
            """
            one: { from: a, get: /1 }
            two: { from: b, get: "/2/{one.id}" }
            three: { from: c, get: /3 }
            """)
        #expect(
            lines == [
                "route     GET /x    c.yaml:9",
                "forwards  headers: none",
                "deadline  5s, one is enough",
                "  0.0ms  one    GET http://127.0.0.1:7001/1     200                     |##########                    |  30.0ms",
                " 30.0ms  two    GET http://127.0.0.1:7002/2/7   200                     |          ####################|  60.0ms",
                "  0.0ms  three  GET http://127.0.0.1:7003/3     500 unexpected_status   |#####                         |  15.0ms",
                "answer    200 after 90.0ms  Gateway-Complete: false",
                #"body      {"one":{"id":7},"two":2,"three":null,"_gateway":{"complete":false,"failures":[{"call":"three","kind":"unexpected_status","status":500}]}}"#,
            ])
    }

    @Test func namesTheConditionOfACallThatWasNotMade() throws {
        let calls = """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, when: { value: "{one.kind}", is: big } }
            three: { from: c, get: /3, when: { value: "{request.header.X}", exists: true } }
            """
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        harness.on("/1", .ok(#"{"kind":"small"}"#), .ok(#"{"kind":"big"}"#))
        let left = try explained(harness, calls)
        #expect(left[4].contains(#"two    left out: 'when' does not hold: {one.kind} is "big""#))
        #expect(
            left[5].contains("three  left out: 'when' does not hold: {request.header.X} exists"))
        let made = try explained(harness, calls)
        #expect(made[4].contains("two    GET http://127.0.0.1:7002/2"))
    }

    /// A digit marks the time of each further request.
    @Test func showsHedgedRequests() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        harness.on("/1", .ok("1", after: 500), .ok("2", after: 50))
        let lines = try explained(
            harness, "one: { from: a, get: /1, hedge: { after: 100ms } }",
            backend: "max_concurrent: 5")
        #expect(
            lines[3]
                == "  0.0ms  one  GET http://127.0.0.1:7001/1   200, 2 requests   |####################2#########|  150.0ms"
        )
    }

    @Test func showsTheFailureOfARequiredCall() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        harness.on("/1", .ok("1", after: 400))
        harness.on("/2", .status(404, after: 100))
        let lines = try explained(
            harness,
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, required: true }
            three: { from: c, get: "/3/{one.id}" }
            """)
        #expect(lines[3].contains("cancelled"))
        #expect(lines[4].contains("404 unexpected_status"))
        #expect(lines[5].contains("skipped"))
        #expect(lines[6] == "answer    404 after 100.0ms  Gateway-Complete: false")
    }

    @Test func responseTimeIncludesPadding() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        harness.on("/1", .ok("1", after: 90))
        let lines = try explained(
            harness, "one: { from: a, get: /1 }",
            endpoint: "deadline: 200ms\nmin_duration: 300ms")
        #expect(lines[3].hasSuffix("|#########                     |  90.0ms"))
        #expect(lines[4] == "answer    200 after 300.0ms  Gateway-Complete: true")
    }

    @Test func refusedRequestSendsNoCalls() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        let lines = try explained(
            harness, "one: { from: a, post: /1, body: \"{request.body}\" }",
            endpoint: "route: POST /x\nbody: { required: [a] }", method: .post, body: "{}")
        #expect(lines[3] == "refused   400: body a is required")
        #expect(lines[4] == "answer    400 after 0.0ms")
        #expect(harness.events == [])
    }

    @Test func sendsTheBody() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        _ = try explained(
            harness, "one: { from: a, post: \"/{request.body.b}\", body: \"{request.body}\" }",
            endpoint: "route: POST /x", method: .post, body: #"{"b":"c d"}"#)
        #expect(harness.events == ["0 POST /c%20d"])
        #expect(harness.seen.first?.body == #"{"b":"c d"}"#)
        #expect(harness.seen.first?["X-Request-Id"] == "abc")
    }

    /// As without `--run`, a body without a type is one of an accepted type.
    @Test func sendsTheBodyWithAnAcceptedType() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        let lines = try explained(
            harness, "one: { from: a, post: /1, body: \"{request.body}\" }",
            endpoint: "route: POST /x\ncontent_types: [image/*]", method: .post, body: "x")
        #expect(lines.contains { $0.hasPrefix("answer    200") }, "\(lines)")
        #expect(harness.events == ["0 POST /1"])
    }

    @Test func showsThatTheTypeOfTheBodyIsRefused() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        let lines = try explained(
            harness, "one: { from: a, post: /1, body: \"{request.body}\" }",
            endpoint: "route: POST /x\ncontent_types: [image/*]", method: .post, body: "x",
            fields: ["Content-Type": "text/html"])
        #expect(lines[3] == "refused   415: content_type")
        #expect(lines[4] == "answer    415 after 0.0ms")
        #expect(harness.events == [])
    }

    @Test(arguments: [("/nowhere", "404"), ("/x", "405")])
    func requestWithoutARouteSendsNoCalls(_ target: String, _ status: String) throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        let lines = try explained(
            harness, "one: { from: a, get: /1 }", target, method: .delete)
        #expect(lines[0].hasPrefix("route     none"))
        #expect(lines[1].hasPrefix("answer    \(status) after 0.0ms"))
        #expect(harness.events == [])
    }

    // MARK: Authentication

    private func authenticated(_ fields: Fields) throws -> [String] {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        let lines = try explained(
            harness, "one: { from: a, get: \"/{request.caller}\" }",
            endpoint: "auth: { any: [partners], scopes: [write] }", top: AuthTests.top,
            files: AuthTests.files, fields: fields)
        #expect(harness.events.isEmpty == !lines.contains { $0.contains("7001/ann") })
        return lines.filter { line in
            ["auth", "caller", "refused", "answer"].contains { line.hasPrefix($0) }
        }
    }

    @Test func showsWhoTheCallerIs() throws {
        #expect(
            try authenticated(["X-Api-Key": "key-of-ann"]) == [
                "auth      partners, with write; others get 401 or 403",
                "caller    ann, accepted by partners, with read write; plan gold",
                "answer    200 after 0.0ms  Gateway-Complete: true",
            ])
    }

    private static let issuer = """
        auth:
          customers:
            jwt:
              issuer: https://id.test/
              audience: shop
              algorithms: [EdDSA]
              keys: { from: c, get: /jwks }
        """

    private func authorized(_ harness: GatewayHarness, auth: String = "customers") throws -> String
    {
        let token = try #require(FieldValue("Bearer \(TestIssuer.token())"))
        let lines = try explained(
            harness, "one: { from: a, get: /1 }", endpoint: "auth: \(auth)", top: Self.issuer,
            fields: auth == "none" ? Fields() : [.authorization: token])
        return try #require(lines.first { $0.hasPrefix("answer") })
    }

    /// The keys of an issuer are fetched as in the gateway, when the token needs them.
    @Test func fetchesTheKeysOfAnIssuer() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        harness.on("/jwks", .ok(TestIssuer.keys("k1"), after: 50))
        #expect(try authorized(harness).hasPrefix("answer    200 after 50.0ms"))
        #expect(harness.events == ["0 GET /jwks", "50 GET /1"])
    }

    @Test func fetchesNoKeysForARequestWithoutAToken() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        #expect(try authorized(harness, auth: "none").hasPrefix("answer    200"))
        #expect(harness.events == ["0 GET /1"])
    }

    @Test func showsThatKeysAreNotAvailable() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        harness.on("/jwks", .hangs)
        #expect(try authorized(harness).hasPrefix("answer    503 after 1000.0ms"))
    }

    @Test func showsWhyACredentialIsRefused() throws {
        #expect(
            try authenticated([:]) == [
                "auth      partners, with write; others get 401 or 403", "refused   401: missing",
                #"answer    401 after 0.0ms  WWW-Authenticate: ApiKey realm="partners""#,
            ])
        #expect(
            try authenticated(["X-Api-Key": "key-of-ben"]).prefix(3) == [
                "auth      partners, with write; others get 401 or 403",
                "caller    ben, accepted by partners",
                "refused   403: scope",
            ])
    }
}
