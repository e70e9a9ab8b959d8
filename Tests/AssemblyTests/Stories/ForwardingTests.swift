import HTTP
import TestSupport
import Testing
import WorkerSupport

/// Which parts of a request reach the backends.
@Suite(.watched) struct ForwardingTests {
    private func seen(
        _ calls: String, endpoint: String = "", _ text: String, backend: String = ""
    ) throws -> [ReceivedRequest] {
        let harness = try GatewayHarness(calls, endpoint: endpoint, backend: backend)
        _ = try harness.fetch(text)
        harness.expectQuiet()
        return harness.seen
    }

    static let call = "one: { from: a, get: /1 }"

    @Test func nothingIsForwardedByDefault() throws {
        let seen = try seen(
            Self.call, get("/x?a=1&b=2", "Authorization: me", "Cookie: a", "X-Forwarded-For: 1"))
        #expect(seen.first?.target == "/1")
        #expect(
            seen.first?.names == [
                "Host", "Accept-Encoding", "User-Agent", "Via", "X-Request-Id", "traceparent",
                "Gateway-Deadline-Ms",
            ])
    }

    @Test func listedHeadersAreForwardedWithAllLines() throws {
        let seen = try seen(
            Self.call, endpoint: "forward: { headers: [authorization, Accept-Language] }",
            get(
                "/x", "Authorization: me", "Accept-Language: de", "Accept-Language: en", "Cookie: a"
            ))
        #expect(seen.first?["Authorization"] == "me")
        #expect(seen.first?["Accept-Language"] == "de | en")
        #expect(seen.first?["Cookie"] == nil)
    }

    @Test func listedQueryParametersAreForwarded() throws {
        let seen = try seen(
            Self.call, endpoint: "forward: { query: [a] }", get("/x?b=2&a=1%20x&a=+"))
        #expect(seen.first?.target == "/1?a=1%20x&a=%20")
    }

    /// RFC 9110, section 10.1.5: a user agent should name itself.
    @Test(
        arguments: [
            ("", "", "", "tributary/\(Product.version)"),
            (", headers: { user-agent: shop/1 }", "", "", "shop/1"),
            (", headers: { User-Agent: \"{request.header.X-None?}\" }", "", "", nil),
            ("", "headers: { User-Agent: shop/2 }", "", "shop/2"),
            (", headers: { User-Agent: shop/1 }", "headers: { User-Agent: shop/2 }", "", "shop/1"),
            ("", "", "forward: { headers: [user-agent] }", "client/1"),
            ("", "headers: { User-Agent: shop/2 }", "forward: { headers: [User-Agent] }", "shop/2"),
            (
                ", forward: { headers: [] }", "", "forward: { headers: [User-Agent] }",
                "tributary/\(Product.version)"
            ),
        ] as [(String, String, String, String?)])
    func callsNameTheGatewayUnlessTheConfigurationDoes(
        _ call: String, backend: String, endpoint: String, _ expected: String?
    ) throws {
        let seen = try seen(
            "one: { from: a, get: /1\(call) }", endpoint: endpoint,
            get("/x", "User-Agent: client/1"), backend: backend)
        #expect(seen.map { $0["User-Agent"] } == [expected])
    }

    /// What a client does not send is not invented for it.
    @Test func aForwardedUserAgentMayBeAbsent() throws {
        let seen = try seen(
            Self.call, endpoint: "forward: { headers: [User-Agent] }", get("/x"))
        #expect(seen.map { $0["User-Agent"] } == [nil])
    }

    @Test func callsListReplacesTheEndpoints() throws {
        let seen = try seen(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, forward: { headers: [Cookie] } }
            """, endpoint: "forward: { headers: [Authorization] }",
            get("/x", "Authorization: me", "Cookie: a"))
        #expect(seen.map { $0["Authorization"] } == ["me", nil])
        #expect(seen.map { $0["Cookie"] } == [nil, "a"])
    }

    @Test func headersOfBackendAndCallAreSent() throws {
        let seen = try seen(
            "one: { from: a, get: /1, headers: { X-Call: yes } }", get(),
            backend: "headers: { X-Key: secret }")
        #expect(seen.first?["X-Key"] == "secret")
        #expect(seen.first?["X-Call"] == "yes")
    }

    @Test func parametersAreEscapedForTheirPosition() throws {
        let seen = try seen(
            #"one: { from: a, get: "/1/{id}?q={q}" }"#,
            endpoint: "route: \"GET /x/{id}\"\nparams: { q: { type: string } }",
            get("/x/a%2Fb%25%23@?q=1+2%26%3D"))
        #expect(seen.first?.target == "/1/a%2Fb%25%23%40?q=1%202%26%3D")
    }

    @Test(arguments: ["/x/..", "/x/%2e%2E", "/x/."]) func dotSegmentsAreRefused(_ target: String)
        throws
    {
        let harness = try GatewayHarness(
            #"one: { from: a, get: "/1/{id}/end" }"#, endpoint: "route: \"GET /x/{id}\"")
        #expect([400, 404].contains(try harness.fetch(get(target)).status))
        #expect(harness.seen.isEmpty)
        harness.expectQuiet()
    }

    // MARK: The request's id and its trace

    @Test func validRequestIDIsForwardedAndReturned() throws {
        let harness = try GatewayHarness(Self.call)
        let response = try harness.fetch(get("/x", "X-Request-Id: abc-1"))
        #expect(response["X-Request-Id"] == "abc-1")
        #expect(harness.seen.first?["X-Request-Id"] == "abc-1")
        harness.expectQuiet()
    }

    @Test(arguments: ["a b", "", String(repeating: "x", count: 129), "ä"])
    func invalidRequestIDIsReplaced(_ id: String) throws {
        let harness = try GatewayHarness(Self.call)
        let response = try harness.fetch(get("/x", "X-Request-Id: \(id)"))
        let given = try #require(response["X-Request-Id"])
        #expect(given != id && !given.isEmpty)
        #expect(harness.seen.first?["X-Request-Id"] == given)
        harness.expectQuiet()
    }

    @Test(arguments: ["/nowhere", "/x?n=no"]) func everyResponseHasTheRequestID(_ target: String)
        throws
    {
        let harness = try GatewayHarness(Self.call, endpoint: "params: { n: { type: integer } }")
        #expect(try harness.fetch(get(target, "X-Request-Id: abc"))["X-Request-Id"] == "abc")
        harness.expectQuiet()
    }

    @Test func traceContinuesWithASpanForEachCall() throws {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        let seen = try seen(
            RequiredTests.mixed, get("/x", "traceparent: 00-\(trace)-00f067aa0ba902b7-01"))
        let parents = try seen.map { try #require($0["traceparent"]).split(separator: "-") }
        #expect(parents.map { String($0[1]) } == [trace, trace])
        #expect(parents.map { String($0[3]) } == ["01", "01"])
        #expect(Set(parents.map { $0[2] } + ["00f067aa0ba902b7"]).count == 3)
    }

    @Test func startsATraceIfTheRequestHasNone() throws {
        let seen = try seen(RequiredTests.mixed, get())
        let traces = try seen.map { try #require($0["traceparent"]).split(separator: "-")[1] }
        #expect(traces[0] == traces[1] && traces[0].count == 32)
    }

    @Test(arguments: [("00", ""), ("01", ""), ("cc", "-what-the-future-brings")])
    func traceOfAnyVersionIsContinuedAsVersion00(_ version: String, _ rest: String) throws {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        let seen = try seen(
            Self.call, get("/x", "traceparent: \(version)-\(trace)-00f067aa0ba902b7-01\(rest)"))
        #expect(try #require(seen.first?["traceparent"]).hasPrefix("00-\(trace)-"))
        #expect(seen.first?["traceparent"]?.hasSuffix("-01") == true)
    }

    @Test func traceStateIsPassedOnAsOneLine() throws {
        let trace = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
        let seen = try seen(
            Self.call, get("/x", trace, "tracestate: a=1, b@c=2", "tracestate: ,d=3"))
        #expect(seen.first?["tracestate"] == "a=1,b@c=2,d=3")
        #expect(
            seen.first?.names == [
                "Host", "Accept-Encoding", "User-Agent", "Via", "X-Request-Id", "tracestate",
                "traceparent",
                "Gateway-Deadline-Ms",
            ])
    }

    @Test(arguments: [
        ["tracestate: a=1"],
        ["tracestate: a=1", "traceparent: 00-0-0-01"],
        [
            "tracestate: a=1",
            "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
            "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4737-00f067aa0ba902b7-00",
        ],
    ])
    func traceStateWithoutItsTraceIsDropped(_ lines: [String]) throws {
        let seen = try seen(
            Self.call,
            "GET /x HTTP/1.1\r\nHost: a\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n")
        #expect(seen.first?["tracestate"] == nil)
        let parent = try #require(seen.first?["traceparent"])
        #expect(!parent.contains("4bf92f3577b34da6a3ce929d0e0e473") && parent.hasSuffix("-02"))
    }

    // MARK: Bodies

    @Test func bodyIsSentWithEveryCallThatUsesIt() throws {
        let seen = try seen(
            """
            one: { from: a, post: /1, body: "{request.body}" }
            two: { from: b, post: /2, body: "{request.body}" }
            three: { from: c, get: /3 }
            """, endpoint: "route: POST /x", post(#"{"a":19.90}"#))
        #expect(seen.map(\.body) == [#"{"a":19.90}"#, #"{"a":19.90}"#, ""])
        #expect(seen.map { $0["Content-Length"] } == ["11", "11", nil])
    }

    @Test func postWithoutABodyHasContentLengthZero() throws {
        let seen = try seen("one: { from: a, post: /1 }", endpoint: "route: POST /x", post("{}"))
        #expect(seen.first?["Content-Length"] == "0")
        #expect(seen.first?.body == "")
    }

    @Test(arguments: ["put", "patch", "delete", "head"]) func everyMethodIsSent(_ method: String)
        throws
    {
        let seen = try seen("one: { from: a, \(method): /1 }", get())
        #expect(seen.first?.method == method.uppercased())
    }

    @Test func headCallGivesNull() throws {
        let harness = try GatewayHarness("one: { from: a, head: /1 }")
        harness.on("/1", .raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"))
        #expect(try harness.fetch().body == #"{"one":null}"#)
        harness.expectQuiet()
    }
}
