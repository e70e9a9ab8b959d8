import TestSupport
import Testing
import WorkerSupport

/// Calls that use the responses of others: they start when their input arrives; other calls do not
/// wait.
@Suite(.watched) struct DependentTests {
    static let chain = """
        one: { from: a, get: /1 }
        two: { from: b, get: "/2/{one.id}" }
        three: { from: c, get: /3 }
        """

    @Test func callStartsWhenItsInputArrives() throws {
        let harness = try GatewayHarness(Self.chain)
        harness.on("/1", .ok(#"{"id":7}"#, after: 30))
        harness.on("/2/7", .ok("2", after: 20))
        harness.on("/3", .ok("3", after: 40))
        #expect(try harness.fetch().summary == #"200 at 50 {"one":{"id":7},"two":2,"three":3}"#)
        #expect(harness.events == ["0 GET /1", "0 GET /3", "30 GET /2/7"])
        harness.expectQuiet()
    }

    @Test func callCanPrecedeItsInputInTheFile() throws {
        let harness = try GatewayHarness(
            """
            two: { from: b, get: "/2/{one.id}" }
            one: { from: a, get: /1 }
            """)
        harness.on("/1", .ok(#"{"id":7}"#, after: 30))
        #expect(try harness.fetch().summary == #"200 at 30 {"two":"/2/7","one":{"id":7}}"#)
        harness.expectQuiet()
    }

    @Test func callCanUseSeveralCalls() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2 }
            three: { from: c, get: "/3/{one}/{two}" }
            """)
        harness.on("/1", .ok("1", after: 30))
        harness.on("/2", .ok("2", after: 50))
        _ = try harness.fetch()
        #expect(harness.events == ["0 GET /1", "0 GET /2", "50 GET /3/1/2"])
        harness.expectQuiet()
    }

    @Test func callsCanFormAChain() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: "/2/{one}" }
            three: { from: c, get: "/3/{two}" }
            """)
        harness.on("/1", .ok("1", after: 10))
        harness.on("/2/1", .ok("2", after: 20))
        harness.on("/3/2", .ok("3", after: 30))
        #expect(try harness.fetch().summary == #"200 at 60 {"one":1,"two":2,"three":3}"#)
        harness.expectQuiet()
    }

    static let values: [(response: String, target: String?)] = [
        (#"{"id":7}"#, "/2/7"), (#"{"id":9007199254740993}"#, "/2/9007199254740993"),
        (#"{"id":19.90}"#, "/2/19.90"), (#"{"id":true}"#, "/2/true"),
        (#"{"id":"a b/c?d#e%"}"#, "/2/a%20b%2Fc%3Fd%23e%25"), (#"{"id":"\u00e4"}"#, "/2/%C3%A4"),
        (#"{"id":1,"id":2}"#, "/2/2"), (#"{"id":null}"#, nil), ("{}", nil), ("[]", nil),
        (#"{"id":{}}"#, nil), (#"{"id":[1]}"#, nil), (#"{"id":".."}"#, nil), (#"{"id":""}"#, nil),
    ]

    @Test(arguments: values) func valueIsInsertedIntoTheTarget(
        _ response: String, _ target: String?
    )
        throws
    {
        let harness = try GatewayHarness(Self.chain)
        harness.on("/1", .ok(response))
        let result = try harness.fetch()
        #expect(harness.seen.first { $0.port == 7002 }?.target == target)
        #expect(
            (result.failures == #"[{"call":"two","kind":"skipped","because":"one"}]"#)
                == (target == nil))
        harness.expectQuiet()
    }

    static let paths: [(path: String, target: String?)] = [
        ("items[1].id", "/2/5"), ("items[0].id", "/2/4"), ("items[2].id", nil), ("items.id", nil),
        ("deep.er.id", "/2/6"),
    ]

    @Test(arguments: paths) func pathsCanIndexArrays(_ path: String, _ target: String?) throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: "/2/{one.\(path)}" }
            """)
        harness.on("/1", .ok(#"{"items":[{"id":4},{"id":5}],"deep":{"er":{"id":6}}}"#))
        _ = try harness.fetch()
        #expect(harness.seen.first { $0.port == 7002 }?.target == target)
        harness.expectQuiet()
    }

    /// A reference uses the call's part after `take`, `keep`, `drop` and `rename`.
    @Test func referenceUsesTheShapedPart() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, take: item }
            two: { from: b, get: "/2/{one.id}" }
            """)
        harness.on("/1", .ok(#"{"item":{"id":7}}"#))
        _ = try harness.fetch()
        #expect(harness.seen.last?.target == "/2/7")
        harness.expectQuiet()
    }

    @Test func failureSkipsDependentCalls() throws {
        let harness = try GatewayHarness(Self.chain)
        harness.on("/1", .status(500, after: 30))
        #expect(
            try harness.fetch().failures
                == #"[{"call":"one","kind":"unexpected_status","status":500},"#
                + #"{"call":"two","kind":"skipped","because":"one"}]"#)
        #expect(harness.events == ["0 GET /1", "0 GET /3"])
        harness.expectQuiet()
    }

    @Test func callThatUsesASkippedCallIsSkipped() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: "/2/{one}" }
            three: { from: c, get: "/3/{two}" }
            four: { from: c, get: /4 }
            """)
        harness.on("/1", .status(500))
        #expect(
            try harness.fetch().failures
                == #"[{"call":"one","kind":"unexpected_status","status":500},"#
                + #"{"call":"two","kind":"skipped","because":"one"},"#
                + #"{"call":"three","kind":"skipped","because":"two"}]"#)
        harness.expectQuiet()
    }

    @Test func firstFailureAmongSeveralInputsSkipsAtOnce() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2 }
            three: { from: c, get: "/3/{one}/{two}", required: true }
            """)
        harness.on("/1", .status(500, after: 10))
        harness.on("/2", .ok("2", after: 500))
        let response = try harness.fetch()
        #expect(response.outcome == "502 at 10")
        #expect(response.failures == #"[{"call":"three","kind":"skipped","because":"one"}]"#)
        #expect(harness.events == ["0 GET /1", "0 GET /2", "10 cancelled /2"])
        harness.expectQuiet()
    }

    @Test func bodyCanUseResponses() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, post: /2, body: { id: "{one.id}", all: "{one}", text: "no. {one.id}" } }
            """, endpoint: "route: POST /x")
        harness.on("/1", .ok(#"{"id":7,"price":19.90}"#))
        _ = try harness.fetch(post("{}"))
        #expect(
            harness.seen.last?.body == #"{"id":7,"all":{"id":7,"price":19.90},"text":"no. 7"}"#)
        #expect(harness.seen.last?["Content-Type"] == "application/json")
        harness.expectQuiet()
    }

    @Test func headerCanUseResponses() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, headers: { X-Token: "Bearer {one.token}" } }
            """)
        harness.on("/1", .ok(#"{"token":"abc"}"#))
        _ = try harness.fetch()
        #expect(harness.seen.last?["X-Token"] == "Bearer abc")
        harness.expectQuiet()
    }

    @Test func headerSplittingValueIsNotSent() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, headers: { X-Token: "{one.token}" } }
            """)
        harness.on("/1", .ok(#"{"token":"a\r\nEvil: 1"}"#))
        #expect(
            try harness.fetch().failures == #"[{"call":"two","kind":"skipped","because":"one"}]"#)
        #expect(harness.seen.count == 1)
        harness.expectQuiet()
    }

    @Test func templatesCanUseTheClientsBody() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, post: "/1/{request.body.user}", body: { all: "{request.body}", n: "{request.body.n}" } }
            """, endpoint: "route: POST /x\nbody: { type: object }")
        _ = try harness.fetch(post(#" {"user":"ann","n":1e400} "#))
        #expect(harness.seen.first?.target == "/1/ann")
        #expect(harness.seen.first?.body == #"{"all":{"user":"ann","n":1e400},"n":1e400}"#)
        harness.expectQuiet()
    }

    /// A call that uses several calls, one of them disabled, waits for none.
    @Test func unneededCallIsCancelledAlthoughASkippedCallUsesIt() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, when: { param: lang } }
            three: { from: c, get: "/3/{one.id}/{two.id}", required: true }
            """, endpoint: "params: { lang: { type: string } }")
        harness.on("/1", .hangs)
        #expect(try harness.fetch().outcome == "502 at 0")
        harness.pass(1)
        #expect(harness.events == ["0 GET /1", "0 cancelled /1"] || harness.events.isEmpty)
        harness.expectQuiet()
    }
}
