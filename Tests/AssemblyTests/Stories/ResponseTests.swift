import TestSupport
import Testing
import WorkerSupport

/// The contents of a response: `if_failed`, `at`, collisions, `when`, reports, header lines.
@Suite(.watched) struct ResponseTests {
    /// The response when the second of two calls fails.
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
        let response = try harness.fetch()
        harness.expectQuiet()
        return response
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

    @Test(arguments: fallbacks) func failedCallLeavesItsFallback(_ call: String, _ body: String)
        throws
    {
        #expect(try afterFailure(call).body == body)
    }

    /// In both orders; the report has the failure only.
    @Test(arguments: [true, false])
    func nullOfAFailedCallHidesNoValue(_ isFirst: Bool) throws {
        let failing = "x: { from: a, get: /1 }"
        let merged = "order: { from: b, get: /2, at: . }"
        let harness = try GatewayHarness(
            (isFirst ? [failing, merged] : [merged, failing]).joined(separator: "\n"))
        harness.on("/1", .status(500))
        harness.on("/2", .ok(#"{"a":1,"x":2}"#), .ok(#"{"a":1}"#))
        let failure = #"{"call":"x","kind":"unexpected_status","status":500}"#
        let report = #","_gateway":{"complete":false,"failures":[\#(failure)]}}"#
        #expect(try harness.fetch().body == #"{"a":1,"x":2"# + report)
        harness.on("/1", .status(500))
        let alone = isFirst ? #"{"x":null,"a":1"# : #"{"a":1,"x":null"#
        #expect(try harness.fetch().body == alone + report)
        harness.expectQuiet()
    }

    /// The control: a fallback that the configuration states is a value, and the first one stays.
    @Test func aConfiguredFallbackKeepsItsKey() throws {
        let harness = try GatewayHarness(
            """
            x: { from: a, get: /1, if_failed: 0 }
            order: { from: b, get: /2, at: . }
            """, endpoint: "report: off")
        harness.on("/1", .status(500))
        harness.on("/2", .ok(#"{"x":2}"#))
        #expect(try harness.fetch().body == #"{"x":0}"#)
        harness.expectQuiet()
    }

    @Test func fallbackDoesNotMakeAFailedRequestSucceed() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1, if_failed: [] }")
        harness.on("/1", .status(500), .ok("1"))
        #expect(try harness.fetch().status == 502)
        #expect(try harness.fetch().status == 200, "the call failed, not the request")
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
        let response = try harness.fetch()
        harness.expectQuiet()
        return response
    }

    @Test func objectsAreMergedInFileOrder() throws {
        let response = try merged(#"{"a":1.0}"#, #"{ "b" : [2] }"#)
        #expect(response.body == #"{"a":1.0,"b" : [2]}"#)
        #expect(response["Gateway-Complete"] == "true")
    }

    @Test func earlierCallKeepsAKey() throws {
        let response = try merged(#"{"id":1}"#, #"{"id":2,"b":3}"#)
        #expect(
            response.body == #"{"id":1,"b":3,"_gateway":{"complete":true,"failures":["#
                + #"{"call":"two","kind":"collision","key":"id"}]}}"#)
        #expect(response["Gateway-Complete"] == "true")
        #expect(response.status == 200)
    }

    /// Keys that become equal in camel case are dropped and reported; the response stays complete, and
    /// other calls use the new names.
    @Test func keysCanBeWrittenInCamelCase() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, rename: { "*": camel, d: x_y } }
            two: { from: b, get: "/2/{one.firstName}" }
            """)
        harness.on(
            "/1", .ok(#"{ "first_name" : "a_b", "c":[{"d_e":1}], "d": 2, "dE":3, "d_e":4 }"#))
        let response = try harness.fetch()
        #expect(
            response.body
                == #"{"one":{"firstName":"a_b","c":[{"dE":1}],"x_y":2,"dE":3},"two":"/2/a_b","#
                + #""_gateway":{"complete":true,"failures":["#
                + #"{"call":"one","kind":"collision","key":"d_e"}]}}"#)
        #expect(response["Gateway-Complete"] == "true")
        harness.expectQuiet()
    }

    @Test func collisionCanFailTheCall() throws {
        let response = try merged(#"{"id":1}"#, #"{"id":2,"b":3}"#, more: ", on_collision: fail")
        #expect(
            response.body == #"{"id":1,"_gateway":{"complete":false,"failures":["#
                + #"{"call":"two","kind":"collision","key":"id"}]}}"#)
        #expect(response["Gateway-Complete"] == "false")
    }

    @Test func collisionFailureUsesTheFallback() throws {
        let response = try merged(
            #"{"id":1}"#, #"{"id":2,"b":3}"#, more: ", on_collision: fail, if_failed: { c: 4 }",
            endpoint: "report: off")
        #expect(response.body == #"{"id":1,"c":4}"#)
    }

    @Test func aCollisionOfARequiredCallFailsTheRequest() throws {
        let response = try merged(
            #"{"id":1}"#, #"{"id":2}"#, more: ", on_collision: fail, required: true")
        #expect(response.status == 502)
        #expect(response.failures == #"[{"call":"two","kind":"collision","key":"id"}]"#)
    }

    /// The calls that have succeeded are not skipped.
    @Test func aCollisionLeavesTheOtherCallsAsTheyWere() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, at: . }
            two: { from: b, get: /2, at: ., on_collision: fail, required: true }
            three: { from: b, get: /3, after: [two], required: true }
            """)
        harness.on("/1", .ok(#"{"id":1}"#))
        harness.on("/2", .ok(#"{"id":2}"#))
        let response = try harness.fetch()
        #expect(response.failures == #"[{"call":"two","kind":"collision","key":"id"}]"#)
        harness.expectQuiet()
    }

    /// However many calls are between them.
    @Test func callsBehindAFailedOneAreSkipped() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, required: true }
            two: { from: a, get: "/{one.id}", required: true }
            three: { from: a, get: "/{two.id}", required: true }
            beside: { from: a, get: /4, required: true }
            """)
        harness.on("/1", .status(500))
        harness.on("/4", .ok("{}", after: 100))
        let response = try harness.fetch()
        #expect(response.status == 502)
        #expect(
            response.failures == """
                [{"call":"one","kind":"unexpected_status","status":500},\
                {"call":"two","kind":"skipped","because":"one"},\
                {"call":"three","kind":"skipped","because":"two"}]
                """)
        harness.expectQuiet()
    }

    /// The earlier call in the file keeps the key, whichever response arrives first.
    @Test func fileOrderDecidesACollision() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, at: . }
            two: { from: b, get: /2, at: . }
            """, endpoint: "report: off")
        harness.on("/1", .ok(#"{"id":1}"#, after: 50))
        harness.on("/2", .ok(#"{"id":2}"#))
        #expect(try harness.fetch().body == #"{"id":1}"#)
        harness.expectQuiet()
    }

    @Test func callNameCollidesWithAnEarlierKey() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, at: . }
            two: { from: b, get: /2 }
            """)
        harness.on("/1", .ok(#"{"tw\u006f":1}"#))
        #expect(
            try harness.fetch().body == #"{"tw\u006f":1,"_gateway":{"complete":true,"failures":["#
                + #"{"call":"two","kind":"collision","key":"two"}]}}"#)
        harness.expectQuiet()
    }

    @Test(arguments: ["[1]", "1", "\"a\"", "true"]) func onlyObjectsCanBeMergedIntoTheRoot(
        _ body: String
    ) throws {
        let response = try merged(#"{"a":1}"#, body)
        #expect(response.failures == #"[{"call":"two","kind":"invalid_shape"}]"#)
    }

    @Test func anEmptyBodyAtTheRootAddsNoMember() throws {
        let response = try merged(#"{"a":1}"#, "")
        #expect(response.body == #"{"a":1}"#)
        #expect(response["Gateway-Complete"] == "true", "the call did not fail")
    }

    // MARK: The reserved key

    @Test(arguments: [#"_gateway"#, #"_g\u0061teway"#])
    func reservedKeyOfABackendIsDroppedAndReported(
        _ key: String
    ) throws {
        let response = try merged(#"{"a":1}"#, #"{"\#(key)":{"complete":true},"b":2}"#)
        #expect(
            response.body == #"{"a":1,"b":2,"_gateway":{"complete":true,"failures":["#
                + #"{"call":"two","kind":"collision","key":"_gateway"}]}}"#)
    }

    @Test(arguments: ["off", "header"]) func reservedKeyIsDroppedForEveryReportSetting(
        _ report: String
    )
        throws
    {
        let response = try merged(#"{"_gateway":1}"#, #"{"b":2}"#, endpoint: "report: \(report)")
        #expect(response.body == #"{"b":2}"#)
    }

    @Test func reservedKeyIsAllowedInsideValues() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        harness.on("/1", .ok(#"{"_gateway":1}"#))
        #expect(try harness.fetch().body == #"{"one":{"_gateway":1}}"#)
        harness.expectQuiet()
    }

    @Test func reservedKeyOfAFallbackIsDropped() throws {
        let response = try afterFailure(", at: ., if_failed: { _gateway: 1, c: 2 }")
        #expect(response.body == #"{"one":{"x":1},"c":2}"#)
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
        let response = try harness.fetch(get(target))
        let events = harness.events
        harness.expectQuiet()
        return (response, events)
    }

    @Test func disabledCallIsOmittedAndNotReported() throws {
        let (response, events) = try withLang("{ param: lang }", "/x")
        #expect(response.body == #"{"one":"/1"}"#)
        #expect(response["Gateway-Complete"] == "true")
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

    @Test(arguments: conditions) func conditionEnablesTheCall(
        _ condition: String, _ target: String, _ isMade: Bool
    ) throws {
        #expect(try withLang(condition, target).1.contains("0 GET /2") == isMade)
    }

    @Test func responseIsAnEmptyObjectWhenAllCallsAreDisabled() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, when: { param: lang } }",
            endpoint: "params: { lang: { type: string } }")
        let response = try harness.fetch()
        #expect(response.summary == "200 at 0 {}")
        #expect(response["Gateway-Complete"] == "true")
        harness.expectQuiet()
    }

    @Test func disabledCallDoesNotMakeAFailedRequestSucceed() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, when: { param: lang } }
            """, endpoint: "params: { lang: { type: string } }")
        harness.on("/1", .status(500))
        #expect(try harness.fetch().status == 502)
        #expect(
            try harness.fetch(get("/x?lang=en")).status == 200, "with the other call it is partial")
        harness.expectQuiet()
    }

    @Test func requiredCallCanBeDisabled() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, required: true, when: { param: lang } }
            """, endpoint: "params: { lang: { type: string } }")
        #expect(try harness.fetch().summary == #"200 at 0 {"one":"/1"}"#)
        harness.expectQuiet()
    }

    @Test func callThatUsesADisabledCallIsSkipped() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, when: { param: lang } }
            two: { from: b, get: "/2/{one}" }
            three: { from: c, get: /3 }
            """, endpoint: "params: { lang: { type: string } }")
        #expect(
            try harness.fetch().body == #"{"two":null,"three":"/3","_gateway":{"complete":false,"#
                + #""failures":[{"call":"two","kind":"skipped","because":"one"}]}}"#)
        harness.expectQuiet()
    }

    // MARK: Reports

    @Test func reportCanBeAHeader() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2 }
            three: { from: c, get: /3, timeout: 50ms }
            """, endpoint: "report: header")
        harness.on("/2", .status(500))
        harness.on("/3", .hangs)
        let response = try harness.fetch()
        #expect(response.body == #"{"one":"/1","two":null,"three":null}"#)
        #expect(
            response["Gateway-Failures"]
                == "two;kind=unexpected_status;status=500, three;kind=http_response_timeout")
        #expect(response["Gateway-Complete"] == "false")
        harness.expectQuiet()
    }

    @Test(arguments: [("off", false, false), ("header", true, false), ("body", false, true)])
    func reportIsWhereConfigured(_ report: String, _ isInHead: Bool, _ isInBody: Bool)
        throws
    {
        let response = try afterFailure("", endpoint: "report: \(report)")
        #expect((response["Gateway-Failures"] != nil) == isInHead)
        #expect((response.failures != nil) == isInBody)
        #expect(response["Gateway-Complete"] == "false")
    }

    static let reports: [(String, String?, String?)] = [
        ("body", #"[{"call":"one","kind":"unexpected_status","status":500}]"#, nil),
        ("header", nil, "one;kind=unexpected_status;status=500"), ("off", nil, nil),
    ]

    @Test(arguments: reports) func problemBodyReportsInTheSamePlace(
        _ report: String, _ body: String?, _ field: String?
    ) throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }", endpoint: "report: \(report)")
        harness.on("/1", .status(500))
        let response = try harness.fetch()
        #expect(response.failures == body)
        #expect(response["Gateway-Failures"] == field)
        harness.expectQuiet()
    }

    @Test func problemBodyContainsTheRequestID() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1, required: true }")
        harness.on("/1", .status(500))
        #expect(
            try harness.fetch(get("/x", "X-Request-Id: abc")).body
                == #"{"type":"about:blank","title":"Bad Gateway","status":502,"instance":"abc","#
                + #""failures":[{"call":"one","kind":"unexpected_status","status":500}]}"#)
        harness.expectQuiet()
    }

    @Test func detailsAreNotExposedByDefault() throws {
        let harness = try GatewayHarness(RequiredTests.mixed)
        harness.backend(7002)?.refuse()
        #expect(try harness.fetch().failures == #"[{"call":"two","kind":"connection_refused"}]"#)
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
            #"{"call":"two","kind":"connection_terminated","host":"127.0.0.1:7002","detail":"closed without a response"}"#
        ),
        (
            .hangs,
            #"{"call":"two","kind":"http_response_timeout","limit_ms":100,"host":"127.0.0.1:7002"}"#
        ),
    ]

    @Test(arguments: details) func detailsCanBeExposed(_ reply: Reply?, _ failure: String) throws {
        let harness = try GatewayHarness(
            RequiredTests.mixed, endpoint: "expose: details\ntimeout: 100ms")
        if let reply { harness.on("/2", reply) } else { harness.backend(7002)?.refuse() }
        #expect(try harness.fetch().failures == "[\(failure)]")
        harness.expectQuiet()
    }

    // MARK: The head

    @Test func partialResponseCanHaveItsOwnStatus() throws {
        let response = try afterFailure("", endpoint: "partial_status: 207")
        #expect(response.status == 207)
    }

    @Test func completeResponseKeepsStatus200() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2 }
            """, endpoint: "partial_status: 207")
        harness.on("/2", .ok("2"), .status(500))
        #expect(try harness.fetch().status == 200)
        #expect(try harness.fetch().status == 207, "the same endpoint, with a failed call")
        harness.expectQuiet()
    }

    @Test func completeResponseHasTheConfiguredCacheControl() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", endpoint: "cache_control: max-age=60")
        #expect(try harness.fetch()["Cache-Control"] == "max-age=60")
        harness.expectQuiet()
    }

    @Test func partialResponseIsNotCacheable() throws {
        let response = try afterFailure("", endpoint: "cache_control: max-age=60")
        #expect(response.status == 200)
        #expect(response["Cache-Control"] == "no-store")
    }

    @Test func serverTimingListsTheCalls() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: "/2/{one}" }
            three: { from: c, get: "/3/{request.header.Absent}" }
            """, endpoint: "server_timing: true")
        harness.on("/1", .ok("1", after: 12))
        harness.on("/2/1", .status(500, after: 30))
        #expect(
            try harness.fetch()["Server-Timing"] == "one;dur=12.0, two;dur=30.0, total;dur=42.0")
        harness.expectQuiet()
    }

    @Test(arguments: [("", false), ("server_timing: false", false), ("server_timing: true", true)])
    func serverTimingIsSentOnlyWhereConfigured(_ endpoint: String, _ isReported: Bool) throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }", endpoint: endpoint)
        #expect((try harness.fetch()["Server-Timing"] != nil) == isReported)
        harness.expectQuiet()
    }

    // MARK: Bytes

    @Test func valuesAreCopiedByteForByte() throws {
        let body = #"{ "a" : 9007199254740993, "b":1e400,"c":"\u00e4\/" ,"a":19.90}"#
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        harness.on("/1", .ok("\n \(body)\t"))
        #expect(try harness.fetch().body == #"{"one":\#(body)}"#)
        harness.expectQuiet()
    }

    @Test func reshapedValuesKeepTheirBytes() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, take: items, drop: [\"[].c\"], rename: { \"[].b\": x } }")
        harness.on("/1", .ok(#"{"items":[{"a":19.90,"c":0,"b":1E1}]}"#))
        #expect(try harness.fetch().body == #"{"one":[{"a":19.90,"x":1E1}]}"#)
        harness.expectQuiet()
    }
}
