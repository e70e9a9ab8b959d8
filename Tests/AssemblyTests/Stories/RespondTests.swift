import TestSupport
import Testing
import WorkerSupport

/// `respond`: what a response has beside the parts of the calls.
@Suite(.watched) struct RespondTests {
    private static let user = #"{ "first":"A\"b", "n":1.50, "tags":["x"], "gone":null }"#

    /// The response of the calls `user` and `order` with this `respond`. A call fails where its body is nil.
    private func fetch(
        _ respond: String, endpoint: String = "", user: String? = user,
        order: String? = #"{"id":7}"#, request: String = get("/x?q=1&q2=%22")
    ) throws -> ReceivedResponse {
        let harness = try GatewayHarness(
            """
            user: { from: a, get: /u }
            order: { from: b, get: /o }
            """, endpoint: "respond: \(respond)\n\(endpoint)")
        harness.on("/u", user.map { .ok($0) } ?? .status(500))
        harness.on("/o", order.map { .ok($0) } ?? .status(500))
        let response = try harness.fetch(request)
        harness.expectQuiet()
        return response
    }

    private func body(
        _ respond: String, endpoint: String = "", user: String? = user,
        order: String? = #"{"id":7}"#
    ) throws -> String {
        let body = try fetch(respond, endpoint: endpoint, user: user, order: order).body
        return body.firstRange(of: #","_gateway""#).map { String(body[..<$0.lowerBound]) + "}" }
            ?? body
    }

    private static let parts = #""user":\#(user),"order":{"id":7}"#

    static let put: [(String, String)] = [
        ("{ a: EUR }", #","a":"EUR""#),
        ("{ a: 1.50, b: null, c: [true] }", #","a":1.50,"b":null,"c":[true]"#),
        (#"{ a: "{user.n}" }"#, #","a":1.50"#),
        (#"{ a: "{user.first} {order.id}" }"#, #","a":"A\"b 7""#),
        (#"{ a: "{user.tags}", b: "{order}" }"#, #","a":["x"],"b":{"id":7}"#),
        (#"{ a: "{request.query.q}", b: "{request.query.q2}" }"#, #","a":"1","b":"\"""#),
        // Missing ones leave their entry out, a text as a whole.
        (#"{ a: "{user.none}", b: "{user.none} x", c: "{user.gone}" }"#, ""),
        (#"{ a: "{request.query.none}", b: "{request.header.X-None}" }"#, ""),
        (
            #"{ a: { x: "{user.none}", y: "{user.n}", z: ["{user.none}", "{user.n}", "{user.none}"] } }"#,
            #","a":{"y":1.50,"z":[1.50]}"#
        ),
        (#"{ a: { x: "{user.none}" }, b: ["{user.none}"] }"#, #","a":{},"b":[]"#),
        (#"{ "a\"b": 1 }"#, #","a\"b":1"#),
    ]

    @Test(arguments: put) func putAddsMembersBehindTheParts(_ put: String, _ added: String) throws {
        #expect(try body("{ put: \(put) }") == "{\(Self.parts)\(added)}")
    }

    @Test func putReadsThePartsAsTheyWere() throws {
        #expect(
            try body(
                #"{ drop: [user.n, order], put: { n: "{user.n}", id: "{order.id}", m: "{order.n}" } }"#
            )
                == #"{"user":{"first":"A\"b","tags":["x"],"gone":null},"n":1.50,"id":7}"#)
    }

    @Test func aKeyThatExistsStaysAndIsReported() throws {
        let response = try fetch("{ put: { order: 1, x: 2 } }")
        #expect(
            response.body
                == "{\(Self.parts),\"x\":2,\"_gateway\":{\"complete\":true,\"failures\":"
                + #"[{"kind":"collision","key":"order"}]}}"#)
        #expect(response["Gateway-Complete"] == "true")
        let inHeader = try fetch("{ put: { order: 1 } }", endpoint: "report: header")
        #expect(inHeader.body == "{\(Self.parts)}")
        #expect(inHeader["Gateway-Failures"] == "*;kind=collision")
        // A dropped one does not exist.
        #expect(
            try body("{ drop: [order], put: { order: 1 } }")
                == "{\"user\":\(Self.user),\"order\":1}")
    }

    static let defaults: [(String, String)] = [
        (
            #"{ user.avatar: none }"#,
            #""user":{ "first":"A\"b", "n":1.50, "tags":["x"], "gone":null,"avatar":"none"},"order":{"id":7}"#
        ),
        (
            #"{ user.gone: [1] }"#,
            #""user":{ "first":"A\"b", "n":1.50, "tags":["x"], "gone":[1] },"order":{"id":7}"#
        ),
        (#"{ user.n: 2, none.x: 1, user.n.x: 3 }"#, parts), (#"{ x: {} }"#, parts + #","x":{}"#),
    ]

    @Test(arguments: defaults) func defaultsFillMissingMembers(_ rule: String, _ members: String)
        throws
    {
        #expect(try body("{ default: \(rule) }") == "{\(members)}")
    }

    /// The `null` of a failed call is null, and `put` comes before `default`.
    @Test func defaultsAreLast() throws {
        #expect(
            try body("{ put: { x: null }, default: { user: {}, x: 1, y: 2 } }", user: nil)
                == #"{"user":{},"order":{"id":7},"x":1,"y":2}"#)
    }

    @Test func aFailedCallHasNoValues() throws {
        let response = try fetch(
            #"{ put: { a: "{user.n}", b: "{order.id}" }, headers: { X-N: "{user.n}", X-I: "{order.id}" } }"#,
            user: nil)
        #expect(response.body.hasPrefix(#"{"user":null,"order":{"id":7},"b":7,"_gateway""#))
        #expect(response["X-N"] == nil)
        #expect(response["X-I"] == "7")
    }

    /// Its part is not used: that is the failure.
    @Test func aCollisionThatFailsHidesTheValue() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /u, at: x }
            two: { from: b, get: /o, at: x, on_collision: fail }
            """, endpoint: #"respond: { put: { a: "{two.id}", b: "{one.n}" } }"#)
        harness.on("/u", .ok(#"{"n":1}"#))
        harness.on("/o", .ok(#"{"id":7}"#))
        let response = try harness.fetch()
        #expect(response.body.hasPrefix(#"{"x":{"n":1},"b":1,"_gateway""#))
    }

    // MARK: Root

    static let roots: [(String, String)] = [
        (#""{user.tags}""#, #"["x"]"#), (#""{user.none}""#, "null"), (#""{user.none} x""#, "null"),
        (#""{user}""#, user), (#"[1, "{order.id}", "{user.none}"]"#, "[1,7]"),
        (#"{ id: "{order.id}" }"#, #"{"id":7}"#), ("text", #""text""#),
    ]

    @Test(arguments: roots) func rootIsTheWholeBody(_ root: String, _ body: String) throws {
        let response = try fetch("{ root: \(root) }")
        #expect(response.body == body)
        #expect(response["Content-Type"] == "application/json")
    }

    @Test func aReportOfRootIsInTheHeader() throws {
        let response = try fetch(#"{ root: "{order}" }"#, user: nil)
        #expect(response.body == #"{"id":7}"#)
        #expect(response["Gateway-Failures"] == "user;kind=unexpected_status;status=500")
        #expect(response["Gateway-Complete"] == "false")
    }

    // MARK: Head

    @Test func theStatusIsOfCompleteResponses() throws {
        #expect(try fetch("{ status: 201 }").status == 201)
        #expect(try fetch("{ status: 201 }", user: nil).status == 200)
        #expect(
            try fetch("{ status: 201 }", endpoint: "partial_status: 207", user: nil).status == 207)
    }

    @Test func headersHaveReferences() throws {
        let headers =
            #"{ Location: "/orders/{order.id}", X-A: "{request.query.none}", X-B: "{user.tags,}" }"#
        let response = try fetch("{ headers: \(headers) }")
        #expect(response["Location"] == "/orders/7")
        #expect(response["X-A"] == nil)
        #expect(response["X-B"] == "x")
        // Not with a problem.
        #expect(try fetch("{ headers: \(headers) }", user: nil, order: nil)["Location"] == nil)
    }

    @Test func aValueWithALineBreakLeavesTheLineOut() throws {
        let headers = #"{ headers: { X-A: "{order.id}" } }"#
        #expect(try fetch(headers, order: #"{"id":"a\r\nX-B: c"}"#)["X-A"] == nil)
        #expect(try fetch(headers, order: #"{"id":"a b"}"#)["X-A"] == "a b")
    }

    @Test func aHeaderReplacesARelayedOne() throws {
        let harness = try GatewayHarness(
            "user: { from: a, get: /u, relay_headers: [Location, ETag] }",
            endpoint: "respond: { headers: { location: /own } }")
        harness.on("/u", .ok("{}", "Location: /theirs", "ETag: \"1\""))
        let response = try harness.fetch()
        #expect(response["Location"] == "/own")
        #expect(response["ETag"] == "\"1\"")
    }

    // MARK: Without calls

    private func fixed(
        _ respond: String, endpoint: String = "", request: String = get("/s/7")
    ) throws -> ReceivedResponse {
        let harness = try GatewayHarness(
            config: """
                version: 1
                endpoints:
                  - route: GET /s/{id}
                    params: { id: { type: integer } }
                    \(endpoint)
                    respond: \(respond)
                """)
        let response = try harness.fetch(request)
        harness.expectQuiet()
        return response
    }

    @Test func aTextIsSentAsItIs() throws {
        let response = try fixed(#"{ body: "User-agent: *\nDisallow: {none}\n" }"#)
        #expect(response.status == 200)
        #expect(response.body == "User-agent: *\nDisallow: {none}\n")
        #expect(response["Content-Type"] == "text/plain; charset=utf-8")
        #expect(response["Gateway-Complete"] == nil)
        let html = try fixed(#"{ body: "<p>", headers: { Content-Type: text/html } }"#)
        #expect(html["Content-Type"] == "text/html")
    }

    @Test func aValueIsSentAsJSON() throws {
        let response = try fixed(
            #"{ status: 404, body: { id: "{id}", q: "{request.query.q}", l: [1.0] } }"#)
        #expect(response.status == 404)
        #expect(response.body == #"{"id":7,"l":[1.0]}"#)
        #expect(response["Content-Type"] == "application/json")
    }

    @Test func aRedirectHasAReference() throws {
        let response = try fixed(#"{ status: 308, headers: { Location: "/new/{id}" } }"#)
        #expect(response.status == 308)
        #expect(response["Location"] == "/new/7")
        #expect(response["Content-Length"] == "0")
        #expect(response["Content-Type"] == nil)
    }

    /// A value does not change where the client is sent.
    @Test(arguments: [
        ("/new/{id}", "/new/%2Fevil.example%3Fa"), ("/{id}", "/%2Fevil.example%3Fa"),
        ("{id}", "/evil.example?a"), ("/{id}/{id}#x", "/%2Fevil.example%3Fa/%2Fevil.example%3Fa#x"),
    ])
    func valuesInALocationAreEscaped(_ location: String, _ expected: String) throws {
        let harness = try GatewayHarness(
            config: """
                version: 1
                endpoints:
                  - route: GET /s/{id}
                    respond: { status: 308, headers: { Location: "\(location)", X-Id: "{id}" } }
                """)
        let response = try harness.fetch(get("/s/%2Fevil.example%3Fa"))
        #expect(response["Location"] == expected)
        #expect(response["X-Id"] == "/evil.example?a")
    }

    /// The value would change the path.
    @Test(arguments: [
        ("/a/{request.query.v}/b", "v=", nil), ("/a/{request.query.v}", "v=..", nil),
        ("/{request.query.v}/{request.query.w}", "v=&w=evil.example", nil),
        ("/a/{request.query.v}", "v=x", "/a/x"), ("/a?v={request.query.v}", "v=..", "/a?v=.."),
    ])
    func aValueThatChangesThePathLeavesTheLineOut(
        _ location: String, _ query: String, _ expected: String?
    ) throws {
        let response = try fixed(
            #"{ status: 308, headers: { Location: "\#(location)" } }"#,
            request: get("/s/7?\(query)"))
        #expect(response.status == 308)
        #expect(response["Location"] == expected)
    }

    @Test func valuesThatCannotBeTextAreLeftOut() throws {
        let respond =
            #"{ body: { v: "{request.query.v}", t: "x {request.query.v}", r: "{request.header.X-A}" } }"#
        #expect(try fixed(respond, request: get("/s/7?v=%ff", "X-A: \"")).body == #"{"r":"\""}"#)
        #expect(try fixed(respond, request: get("/s/7?v=a&v=b")).body == "{}")
        #expect(
            try fixed(respond, request: get("/s/7?v=%00")).body == #"{"v":"\u0000","t":"x \u0000"}"#
        )
    }

    @Test func parametersAreChecked() throws {
        #expect(try fixed("{ status: 204 }").status == 204)
        #expect(try fixed("{ status: 204 }", request: get("/s/x")).status == 400)
    }

    @Test func headHasNoBody() throws {
        let response = try fixed(
            "{ body: text }", request: "HEAD /s/7 HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n")
        #expect(response.status == 200)
        #expect(response.body == "")
        #expect(response["Content-Length"] == "4")
    }

    @Test func cachingAndPaddingApply() throws {
        let response = try fixed("{ body: text }", endpoint: "cache_control: max-age=60")
        #expect(response["Cache-Control"] == "max-age=60")
        #expect(try fixed("{ body: text }", endpoint: "min_duration: 50ms").outcome == "200 at 50")
        let strict = try fixed(
            #"{ body: { q: "{request.query.q}" } }"#, endpoint: "unknown_query: refuse",
            request: get("/s/7?q=1"))
        #expect(strict.body == #"{"q":"1"}"#)
    }
}
