import TestSupport
import Testing

/// What is in an answer: `if_failed`, `at`, collisions, `when`, reports, head lines.
@Suite(.watched) struct AnswerTests {
    /// `{"one":1}` and what the second, failing call leaves.
    private func afterFailure(_ call: String, endpoint: String = "report: off") throws
        -> ReceivedResponse
    {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2\(call) }
            """, endpoint: endpoint)
        harness.on("/1", .ok(#"{"x":1}"#))
        harness.on("/2", .status(500))
        let answer = try harness.ask()
        harness.expectQuiet()
        return answer
    }

    static let fallbacks: [(String, String)] = [
        ("", #"{"one":{"x":1},"two":null}"#),
        (", if_failed: null", #"{"one":{"x":1},"two":null}"#),
        (", if_failed: omit", #"{"one":{"x":1}}"#),
        (", if_failed: []", #"{"one":{"x":1},"two":[]}"#),
        (", if_failed: { a: [1, \"b\"] }", #"{"one":{"x":1},"two":{"a":[1,"b"]}}"#),
        (
            ", if_failed: { a: 1, b: { c: 2, d: [3, 4] } }",
            #"{"one":{"x":1},"two":{"a":1,"b":{"c":2,"d":[3,4]}}}"#
        ),
        (", if_failed: 0", #"{"one":{"x":1},"two":0}"#),
        (", at: .", #"{"one":{"x":1}}"#),
        (", at: ., if_failed: omit", #"{"one":{"x":1}}"#),
        (", at: ., if_failed: { a: 1 }", #"{"one":{"x":1},"a":1}"#),
    ]

    @Test(arguments: fallbacks) func aFailedCallLeaves(_ call: String, _ body: String) throws {
        #expect(try afterFailure(call).body == body)
    }

    @Test func aFallbackDoesNotMakeAFailedRequestGood() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1, if_failed: [] }")
        harness.on("/1", .status(500), .ok("1"))
        #expect(try harness.ask().status == 502)
        #expect(try harness.ask().status == 200, "the call failed, not the request")
        harness.expectQuiet()
    }

    // MARK: At the root

    private func merged(
        _ first: String, _ second: String, more: String = "", endpoint: String = ""
    ) throws -> ReceivedResponse {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, at: . }
            two: { from: b, get: /2, at: .\(more) }
            """, endpoint: endpoint)
        harness.on("/1", .ok(first))
        harness.on("/2", .ok(second))
        let answer = try harness.ask()
        harness.expectQuiet()
        return answer
    }

    @Test func objectsAreMergedInFileOrder() throws {
        let answer = try merged(#"{"a":1.0}"#, #"{ "b" : [2] }"#)
        #expect(answer.body == #"{"a":1.0,"b" : [2]}"#)
        #expect(answer["Gateway-Complete"] == "true")
    }

    @Test func theEarlierCallKeepsAKey() throws {
        let answer = try merged(#"{"id":1}"#, #"{"id":2,"b":3}"#)
        #expect(
            answer.body == #"{"id":1,"b":3,"_gateway":{"complete":true,"failures":["#
                + #"{"call":"two","kind":"collision","key":"id"}]}}"#)
        #expect(answer["Gateway-Complete"] == "true")
        #expect(answer.status == 200)
    }

    @Test func aCollisionMayBeAFailure() throws {
        let answer = try merged(#"{"id":1}"#, #"{"id":2,"b":3}"#, more: ", on_collision: fail")
        #expect(
            answer.body == #"{"id":1,"_gateway":{"complete":false,"failures":["#
                + #"{"call":"two","kind":"collision","key":"id"}]}}"#)
        #expect(answer["Gateway-Complete"] == "false")
    }

    @Test func aCollisionThatIsAFailureLeavesItsFallback() throws {
        let answer = try merged(
            #"{"id":1}"#, #"{"id":2,"b":3}"#, more: ", on_collision: fail, if_failed: { c: 4 }",
            endpoint: "report: off")
        #expect(answer.body == #"{"id":1,"c":4}"#)
    }

    @Test func aCollisionOfARequiredCallFailsTheRequest() throws {
        let answer = try merged(
            #"{"id":1}"#, #"{"id":2}"#, more: ", on_collision: fail, required: true")
        #expect(answer.status == 502)
        #expect(answer.failures == #"[{"call":"two","kind":"collision","key":"id"}]"#)
    }

    /// The earlier call in the file keeps the key, whichever answer came first.
    @Test func timeDoesNotDecideACollision() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, at: . }
            two: { from: b, get: /2, at: . }
            """, endpoint: "report: off")
        harness.on("/1", .ok(#"{"id":1}"#, after: 50))
        harness.on("/2", .ok(#"{"id":2}"#))
        #expect(try harness.ask().body == #"{"id":1}"#)
        harness.expectQuiet()
    }

    @Test func aNameCollidesWithAKeyBeforeIt() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, at: . }
            two: { from: b, get: /2 }
            """)
        harness.on("/1", .ok(#"{"tw\u006f":1}"#))
        #expect(
            try harness.ask().body == #"{"tw\u006f":1,"_gateway":{"complete":true,"failures":["#
                + #"{"call":"two","kind":"collision","key":"two"}]}}"#)
        harness.expectQuiet()
    }

    @Test(arguments: ["[1]", "1", "\"a\"", "true"]) func whatIsNoObjectHasNoPlaceAtTheRoot(
        _ body: String
    ) throws {
        let answer = try merged(#"{"a":1}"#, body)
        #expect(answer.failures == #"[{"call":"two","kind":"invalid_shape"}]"#)
    }

    @Test func anEmptyBodyAtTheRootAddsNoMember() throws {
        let answer = try merged(#"{"a":1}"#, "")
        #expect(answer.body == #"{"a":1}"#)
        #expect(answer["Gateway-Complete"] == "true", "the call did not fail")
    }

    // MARK: The reserved key

    @Test(arguments: [#"_gateway"#, #"_g\u0061teway"#]) func aBackendsOwnReportIsDroppedAndReported(
        _ key: String
    ) throws {
        let answer = try merged(#"{"a":1}"#, #"{"\#(key)":{"complete":true},"b":2}"#)
        #expect(
            answer.body == #"{"a":1,"b":2,"_gateway":{"complete":true,"failures":["#
                + #"{"call":"two","kind":"collision","key":"_gateway"}]}}"#)
    }

    @Test(arguments: ["off", "header"]) func itIsDroppedWhereverTheReportGoes(_ report: String)
        throws
    {
        let answer = try merged(#"{"_gateway":1}"#, #"{"b":2}"#, endpoint: "report: \(report)")
        #expect(answer.body == #"{"b":2}"#)
    }

    @Test func insideAValueItMeansNothing() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        harness.on("/1", .ok(#"{"_gateway":1}"#))
        #expect(try harness.ask().body == #"{"one":{"_gateway":1}}"#)
        harness.expectQuiet()
    }

    @Test func aFallbackCannotBringItEither() throws {
        let answer = try afterFailure(", at: ., if_failed: { _gateway: 1, c: 2 }")
        #expect(answer.body == #"{"one":{"x":1},"c":2}"#)
    }

    // MARK: When

    private func withLang(_ condition: String, _ target: String) throws -> (
        ReceivedResponse, [String]
    ) {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, when: \(condition) }
            """, endpoint: "params: { lang: { type: string, default: en } }")
        let answer = try harness.ask(get(target))
        let events = harness.events
        harness.expectQuiet()
        return (answer, events)
    }

    @Test func aCallIsLeftOutWithoutAWord() throws {
        let (answer, events) = try withLang("{ param: lang }", "/x")
        #expect(answer.body == #"{"one":"/1"}"#)
        #expect(answer["Gateway-Complete"] == "true")
        #expect(events == ["0 GET /1"])
        let (other, both) = try withLang("{ param: lang }", "/x?lang=en")
        #expect(other.body == #"{"one":"/1","two":"/2"}"#)
        #expect(both == ["0 GET /1", "0 GET /2"])
    }

    static let conditions: [(String, String, Bool)] = [
        ("{ param: lang }", "/x?lang=en", true), ("{ param: lang }", "/x", false),
        ("{ param: lang, is: de }", "/x?lang=de", true),
        ("{ param: lang, is: de }", "/x?lang=en", false),
        ("{ param: lang, is: de }", "/x", false), ("{ param: lang, is: en }", "/x", true),
    ]

    @Test(arguments: conditions) func aConditionDecides(
        _ condition: String, _ target: String, _ isMade: Bool
    ) throws {
        #expect(try withLang(condition, target).1.contains("0 GET /2") == isMade)
    }

    @Test func whenAllAreLeftOutTheAnswerIsAnEmptyObject() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, when: { param: lang } }",
            endpoint: "params: { lang: { type: string } }")
        let answer = try harness.ask()
        #expect(answer.summary == "200 at 0 {}")
        #expect(answer["Gateway-Complete"] == "true")
        harness.expectQuiet()
    }

    @Test func whatIsLeftOutDoesNotMakeAFailedRequestGood() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, when: { param: lang } }
            """, endpoint: "params: { lang: { type: string } }")
        harness.on("/1", .status(500))
        #expect(try harness.ask().status == 502)
        #expect(
            try harness.ask(get("/x?lang=en")).status == 200, "with the other call it is partial")
        harness.expectQuiet()
    }

    @Test func aRequiredCallMayBeLeftOut() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, required: true, when: { param: lang } }
            """, endpoint: "params: { lang: { type: string } }")
        #expect(try harness.ask().summary == #"200 at 0 {"one":"/1"}"#)
        harness.expectQuiet()
    }

    @Test func whoWaitsForACallThatIsLeftOutIsSkipped() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, when: { param: lang } }
            two: { from: b, get: "/2/{one}" }
            three: { from: c, get: /3 }
            """, endpoint: "params: { lang: { type: string } }")
        #expect(
            try harness.ask().body == #"{"two":null,"three":"/3","_gateway":{"complete":false,"#
                + #""failures":[{"call":"two","kind":"skipped","because":"one"}]}}"#)
        harness.expectQuiet()
    }

    // MARK: Reports

    @Test func aReportMayStandInTheHead() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2 }
            three: { from: c, get: /3, timeout: 50ms }
            """, endpoint: "report: header")
        harness.on("/2", .status(500))
        harness.on("/3", .hangs)
        let answer = try harness.ask()
        #expect(answer.body == #"{"one":"/1","two":null,"three":null}"#)
        #expect(
            answer["Gateway-Failures"]
                == "two;kind=unexpected_status;status=500, three;kind=http_response_timeout")
        #expect(answer["Gateway-Complete"] == "false")
        harness.expectQuiet()
    }

    @Test(arguments: [("off", false, false), ("header", true, false), ("body", false, true)])
    func aReportStandsWhereItIsConfigured(_ report: String, _ isInHead: Bool, _ isInBody: Bool)
        throws
    {
        let answer = try afterFailure("", endpoint: "report: \(report)")
        #expect((answer["Gateway-Failures"] != nil) == isInHead)
        #expect((answer.failures != nil) == isInBody)
        #expect(answer["Gateway-Complete"] == "false")
    }

    static let reports: [(String, String?, String?)] = [
        ("body", #"[{"call":"one","kind":"unexpected_status","status":500}]"#, nil),
        ("header", nil, "one;kind=unexpected_status;status=500"), ("off", nil, nil),
    ]

    @Test(arguments: reports) func aProblemReportsInTheSamePlace(
        _ report: String, _ body: String?, _ field: String?
    ) throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }", endpoint: "report: \(report)")
        harness.on("/1", .status(500))
        let answer = try harness.ask()
        #expect(answer.failures == body)
        #expect(answer["Gateway-Failures"] == field)
        harness.expectQuiet()
    }

    @Test func aProblemNamesTheRequest() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1, required: true }")
        harness.on("/1", .status(500))
        #expect(
            try harness.ask(get("/x", "X-Request-Id: abc")).body
                == #"{"type":"about:blank","title":"Bad Gateway","status":502,"instance":"abc","#
                + #""failures":[{"call":"one","kind":"unexpected_status","status":500}]}"#)
        harness.expectQuiet()
    }

    @Test func detailsAreNotExposedByDefault() throws {
        let harness = try GatewayHarness(RequiredTests.mixed)
        harness.backend(7002)?.refuse()
        #expect(try harness.ask().failures == #"[{"call":"two","kind":"connection_refused"}]"#)
        harness.expectQuiet()
    }

    static let details: [(Reply?, String)] = [
        (
            nil,
            #"{"call":"two","kind":"connection_refused","host":"127.0.0.1:7002","detail":"connection refused"}"#
        ),
        (
            .status(500),
            #"{"call":"two","kind":"unexpected_status","status":500,"host":"127.0.0.1:7002"}"#
        ),
        (
            .closes(),
            #"{"call":"two","kind":"connection_terminated","host":"127.0.0.1:7002","detail":"closed without an answer"}"#
        ),
        (
            .hangs,
            #"{"call":"two","kind":"http_response_timeout","limit_ms":100,"host":"127.0.0.1:7002"}"#
        ),
    ]

    @Test(arguments: details) func detailsMayBeExposed(_ reply: Reply?, _ failure: String) throws {
        let harness = try GatewayHarness(
            RequiredTests.mixed, endpoint: "expose: details\ntimeout: 100ms")
        if let reply { harness.on("/2", reply) } else { harness.backend(7002)?.refuse() }
        #expect(try harness.ask().failures == "[\(failure)]")
        harness.expectQuiet()
    }

    // MARK: The head

    @Test func aPartialAnswerMayHaveItsOwnStatus() throws {
        let answer = try afterFailure("", endpoint: "partial_status: 207")
        #expect(answer.status == 207)
    }

    @Test func aCompleteAnswerHasItsOwnStatusStill() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2 }
            """, endpoint: "partial_status: 207")
        harness.on("/2", .ok("2"), .status(500))
        #expect(try harness.ask().status == 200)
        #expect(try harness.ask().status == 207, "the same endpoint, with a failed call")
        harness.expectQuiet()
    }

    @Test func completeAnswersMayBeCached() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", endpoint: "cache_control: max-age=60")
        #expect(try harness.ask()["Cache-Control"] == "max-age=60")
        harness.expectQuiet()
    }

    @Test func partialAnswersMayNot() throws {
        let answer = try afterFailure("", endpoint: "cache_control: max-age=60")
        #expect(answer.status == 200)
        #expect(answer["Cache-Control"] == "no-store")
    }

    @Test func timesMayBeTold() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: "/2/{one}" }
            three: { from: c, get: "/3/{request.header.Nobody}" }
            """, endpoint: "server_timing: true")
        harness.on("/1", .ok("1", after: 12))
        harness.on("/2/1", .status(500, after: 30))
        #expect(try harness.ask()["Server-Timing"] == "one;dur=12.0, two;dur=30.0, total;dur=42.0")
        harness.expectQuiet()
    }

    @Test(arguments: [("", false), ("server_timing: false", false), ("server_timing: true", true)])
    func timesAreReportedOnlyWhereConfigured(_ endpoint: String, _ isReported: Bool) throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }", endpoint: endpoint)
        #expect((try harness.ask()["Server-Timing"] != nil) == isReported)
        harness.expectQuiet()
    }

    // MARK: Bytes

    @Test func valuesAreSplicedByteForByte() throws {
        let body = #"{ "a" : 9007199254740993, "b":1e400,"c":"\u00e4\/" ,"a":19.90}"#
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        harness.on("/1", .ok("\n \(body)\t"))
        #expect(try harness.ask().body == #"{"one":\#(body)}"#)
        harness.expectQuiet()
    }

    @Test func whatIsReshapedKeepsItsBytes() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, take: items, drop: [\"[].c\"], rename: { \"[].b\": x } }")
        harness.on("/1", .ok(#"{"items":[{"a":19.90,"c":0,"b":1E1}]}"#))
        #expect(try harness.ask().body == #"{"one":[{"a":19.90,"x":1E1}]}"#)
        harness.expectQuiet()
    }
}
