import Assembly
import Gateway
import HTTP
import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// `content_types`, `unknown_query`, `unknown_fields` and `user_agents`: requests that have what the
/// configuration does not expect.
@Suite(.watched) struct InputRulesTests {
    private static let call = #"one: { from: a, post: /1, body: "{request.body?}" }"#

    // MARK: content_types

    private static let types = "route: POST /x\ncontent_types: [application/json, IMAGE/*]"

    @Test(arguments: [
        ("Content-Type: application/json", 200), ("Content-Type: Application/JSON", 200),
        ("Content-Type: application/json ; charset=utf-8", 200), ("Content-Type: image/png", 200),
        ("Content-Type: application/jsonp", 415), ("Content-Type: application/jso", 415),
        ("Content-Type: image/", 415), ("Content-Type: text/plain", 415), ("X-Other: 1", 415),
        ("Content-Type: application/json\r\nContent-Type: text/plain", 415),
        ("Content-Type:", 415),
    ])
    func bodyNeedsAListedType(_ line: String, _ status: Int) throws {
        let harness = try GatewayHarness(Self.call, endpoint: Self.types)
        let response = try harness.fetch(post("{}", to: "/x", line, "X-Request-Id: r"))
        #expect(response.status == status)
        #expect(response["Accept"] == (status == 415 ? "application/json, image/*" : nil))
        if status == 415 {
            #expect(
                response.body
                    == #"{"type":"about:blank","title":"Unsupported Media Type","status":415,"instance":"r","reason":"content_type"}"#
            )
        }
        #expect(harness.seen.count == (status == 200 ? 1 : 0))
        harness.expectQuiet()
    }

    @Test func requestWithoutABodyNeedsNoType() throws {
        let harness = try GatewayHarness(Self.call, endpoint: Self.types)
        #expect(try harness.fetch(post("")).status == 200)
        harness.expectQuiet()
    }

    /// The control: without the key any type is accepted.
    @Test func anyTypeIsAcceptedWithoutTheKey() throws {
        let harness = try GatewayHarness(Self.call, endpoint: "route: POST /x")
        #expect(try harness.fetch(post("{}", to: "/x", "Content-Type: text/plain")).status == 200)
        harness.expectQuiet()
    }

    @Test func refusesBeforeTheBodyArrives() throws {
        let harness = try GatewayHarness(Self.call, endpoint: Self.types)
        let client = try harness.send(
            request(
                "POST", "/x",
                ["Content-Length: 100000", "Expect: 100-continue", "Content-Type: text/plain"]))
        #expect(harness.response(of: client).status == 415)
        let chunked = try harness.send(
            request("POST", "/x", ["Transfer-Encoding: chunked", "Content-Type: text/plain"]))
        #expect(harness.response(of: chunked).status == 415)
        harness.expectQuiet()
    }

    /// Over HTTP/2, it does not matter whether the end of an empty body arrives with its head.
    @Test(arguments: [false, true])
    func emptyBodyOfUnknownLengthNeedsAType(_ arrivesWithHead: Bool) throws {
        let harness = try GatewayHarness(
            Self.call, endpoint: Self.types,
            top: #"listen: { address: "127.0.0.1:8080", protocols: [http2, http1] }"#)
        let client = try ScriptedH2Client(ScriptedPeer(harness.stream()), on: harness.testbed)
        let request = try client.side.request(.post, "/x", endsStream: false)
        if !arrivesWithHead {
            client.flush()
            harness.pass(1)
        }
        try client.send("", on: request, ends: true)
        harness.pass(1)
        #expect(request.responses.map(\.status) == [.unsupportedMediaType])
        let withoutBody = try client.send(.post, "/x")
        harness.pass(1)
        #expect(withoutBody.responses.map(\.status) == [.ok])
        client.peer.stream.close()
        harness.pass(1)
        harness.expectQuiet()
    }

    @Test func refusalIsPadded() throws {
        let harness = try GatewayHarness(
            Self.call, endpoint: Self.types + "\nmin_duration: 300ms\ndeadline: 250ms")
        #expect(
            try harness.fetch(post("{}", to: "/x", "Content-Type: text/plain")).outcome
                == "415 at 300")
        harness.expectQuiet()
    }

    // MARK: unknown_query

    private static let query = """
        params: { lang: { type: string }, X-Tenant: { in: header } }
        forward: { query: [page] }
        """
    private static let queryCall =
        #"one: { from: a, get: "/1?f={request.query.filter?}", when: { not: { value: "{request.query.w}", is: "1" } } }"#

    @Test(arguments: [
        ("", 200), ("?lang=en&page=2&filter=x&w=2", 200), ("?l%61ng=en", 200), ("?&&", 200),
        ("?debug=1", 400), ("?lang=en&debug", 400), ("?X-Tenant=1", 400), ("?Lang=en", 400),
    ])
    func unknownParametersAreRefused(_ query: String, _ status: Int) throws {
        let refusing = try GatewayHarness(
            Self.queryCall, endpoint: Self.query + "\nunknown_query: refuse")
        #expect(try refusing.fetch(get("/x\(query)")).status == status)
        refusing.expectQuiet()
        let dropping = try GatewayHarness(Self.queryCall, endpoint: Self.query)
        #expect(try dropping.fetch(get("/x\(query)")).status == 200)
        dropping.expectQuiet()
    }

    @Test(arguments: [("?tenant=a&level=b&size=c", 200), ("?tenant=a&debug=1", 400)])
    func parametersOfRateLimitsAreKnown(_ query: String, _ status: Int) throws {
        let harness = try GatewayHarness(
            Self.queryCall,
            endpoint: """
                unknown_query: refuse
                rate_limits: [{ limit: it, when: { value: "{request.query.size}", is: c } }]
                """,
            top: """
                rate_limits:
                  it:
                    rate: 100/s
                    key: "{request.query.tenant}"
                    plans: { gold: 200/s }
                    plan: "{request.query.level}"
                """)
        #expect(try harness.fetch(get("/x\(query)")).status == status)
        harness.expectQuiet()
    }

    @Test func errorsNameEachUnknownParameterOnce() throws {
        let harness = try GatewayHarness(
            Self.queryCall,
            endpoint: "params: { n: { type: integer } }\nunknown_query: refuse")
        let response = try harness.fetch(get("/x?b%20c=1&n=x&d=1&b+c=2"))
        #expect(
            response.body.contains(
                #""errors":[{"in":"query","name":"n","reason":"must be an integer"},"#
                    + #"{"in":"query","name":"b c","reason":"is unknown"},"#
                    + #"{"in":"query","name":"d","reason":"is unknown"}]"#))
        harness.expectQuiet()
    }

    // MARK: unknown_fields

    private static let fields = """
        route: POST /x
        body:
          required: [id]
          properties: { name: {}, address: { properties: { city: {} } }, any: { type: object } }
        """

    @Test(arguments: [
        (#"{"id":1,"name":2,"address":{"city":3},"any":{"x":4}}"#, nil),
        (#"{"id":1,"n\u0061me":2}"#, nil),
        (#"{"id":1,"extra":2}"#, #"{"in":"body","name":"extra","reason":"is unknown"}"#),
        (
            #"{"id":1,"address":{"city":1,"zip":2}}"#,
            #"{"in":"body","name":"address.zip","reason":"is unknown"}"#
        ),
    ])
    func unknownMembersAreRefused(_ body: String, _ error: String?) throws {
        let refusing = try GatewayHarness(
            Self.call, endpoint: Self.fields + "\n  unknown_fields: refuse")
        let response = try refusing.fetch(post(body))
        #expect(response.status == (error == nil ? 200 : 400))
        if let error { #expect(response.body.contains(#""errors":[\#(error)]"#)) }
        refusing.expectQuiet()
        let keeping = try GatewayHarness(Self.call, endpoint: Self.fields)
        #expect(try keeping.fetch(post(body)).status == 200)
        #expect(keeping.seen.first?.body == body)
        keeping.expectQuiet()
    }

    /// A body can have any number of members, but the response must stay small.
    @Test func numberOfNamesInTheResponseIsLimited() throws {
        let harness = try GatewayHarness(
            Self.call, endpoint: Self.fields + "\n  unknown_fields: refuse")
        let members = (0..<1000).map { #""x\#($0)":1"# }.joined(separator: ",")
        let response = try harness.fetch(post(#"{"id":1,\#(members)}"#))
        #expect(response.status == 400)
        #expect(response.body.components(of: "is unknown") == 20)
        harness.expectQuiet()
    }

    // MARK: user_agents

    private static let agents = #"user_agents: { deny: ["[Bb]ot/.*", ".*curl.*", ""] }"#

    @Test(arguments: [
        ("User-Agent: Bot/1.0", 403), ("User-Agent: bot/", 403), ("User-Agent: x curl/8", 403),
        ("User-Agent: Mozilla", 200), ("User-Agent: a bot/1", 200), ("User-Agent:", 403),
        ("X-Other: 1", 403),
    ])
    func deniedAgentsAreRefused(_ line: String, _ status: Int) throws {
        for (target, accepted) in [("/x", 200), ("/unknown", 404)] {
            let harness = try GatewayHarness("one: { from: a, get: /1 }", top: Self.agents)
            let response = try harness.fetch(get(target, line, "X-Request-Id: r"))
            #expect(response.status == (status == 200 ? accepted : status))
            if status == 403 {
                #expect(
                    response.body
                        == #"{"type":"about:blank","title":"Forbidden","status":403,"instance":"r","reason":"user_agent"}"#
                )
            }
            #expect(harness.seen.count == (response.status == 200 ? 1 : 0))
            harness.expectQuiet()
        }
    }

    /// Otherwise a long value would evade the patterns.
    @Test func valueTooLongForThePatternsIsRefused() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", top: #"user_agents: { deny: ["(a|b|c|d){1,100}x"] }"#)
        let long = String(repeating: "y", count: 20_000)
        #expect(try harness.fetch(get("/x", "User-Agent: \(long)")).status == 403)
        #expect(try harness.fetch(get("/x", "User-Agent: yyy")).status == 200)
        harness.expectQuiet()
    }

    // MARK: Log and metrics

    @Test func countsAndLogsTheReasons() throws {
        let harness = try GatewayHarness(Self.call, endpoint: Self.types, top: Self.agents)
        _ = try harness.fetch(post("{}", to: "/x", "User-Agent: Mozilla"))
        _ = try harness.fetch(post("{}", to: "/x", "User-Agent: curl"))
        let refusals = harness.instance?.snapshot.meter.refusals
        #expect(refusals?[.contentType] == 1 && refusals?[.userAgent] == 1)
        let reasons = harness.logged.compactMap { line in
            line.firstMatch(of: /"status":(\d+),"outcome":"rejected","reason":"(\w+)"/).map {
                "\($0.1) \($0.2)"
            }
        }
        #expect(reasons == ["415 content_type", "403 user_agent"])
        harness.expectQuiet()
    }
}

extension String {
    /// How often it has the text.
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
