import TestSupport
import Testing
import WorkerSupport

/// `when` with values of earlier responses: the call waits until they have settled. The values of a
/// call that failed, or was not made, are missing.
@Suite(.watched) struct ResponseConditionTests {
    private static let two = """
        one: { from: a, get: /1 }
        two: { from: b, get: /2, when: { value: "{one.kind}", is: big } }
        three: { from: c, get: /3 }
        """

    @Test func callWaitsForTheValue() throws {
        let harness = try GatewayHarness(Self.two)
        harness.on("/1", .ok(#"{"kind":"big"}"#, after: 30), .ok(#"{"kind":"small"}"#, after: 30))
        harness.on("/2", .ok("2", after: 20))
        let made = try harness.fetch()
        #expect(made.summary == #"200 at 50 {"one":{"kind":"big"},"two":2,"three":"/3"}"#)
        #expect(harness.events == ["0 GET /1", "0 GET /3", "30 GET /2"])
        let other = try harness.fetch()
        #expect(other.body == #"{"one":{"kind":"small"},"three":"/3"}"#)
        #expect(other["Gateway-Complete"] == "true")
        #expect(harness.seen.count { $0.target == "/2" } == 1)
        harness.expectQuiet()
    }

    /// The control: a condition on the request delays nothing.
    @Test func conditionOnTheRequestDelaysNothing() throws {
        let harness = try GatewayHarness(
            Self.two.replacing("{one.kind}", with: "{request.header.X}"))
        harness.on("/1", .ok("1", after: 30))
        _ = try harness.fetch(get("/x", "X: big"))
        #expect(harness.events == ["0 GET /1", "0 GET /2", "0 GET /3"])
        harness.expectQuiet()
    }

    @Test func failedCallHasNoValues() throws {
        let harness = try GatewayHarness(Self.two)
        harness.on("/1", .status(500, #"{"kind":"big"}"#, after: 30))
        let response = try harness.fetch()
        #expect(response.outcome == "200 at 30")
        #expect(
            response.failures == #"[{"call":"one","kind":"unexpected_status","status":500}]"#)
        #expect(harness.events == ["0 GET /1", "0 GET /3"])
        harness.expectQuiet()
    }

    /// A second source that is used only if the first one failed.
    @Test(arguments: [
        (Reply.ok("1", after: 30), "200", ["0 GET /1"]),
        (.status(500, after: 30), "200", ["0 GET /1", "30 GET /2"]),
        (.hangs, "200", ["0 GET /1", "100 GET /2"]),
    ])
    func callCanReplaceAFailedOne(_ reply: Reply, _ status: String, _ events: [String]) throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, timeout: 100ms }
            two: { from: b, get: /2, when: { value: "{one}", exists: false } }
            """)
        harness.on("/1", reply)
        #expect("\(try harness.fetch().status)" == status)
        #expect(harness.events.filter { !$0.contains("cancelled") } == events)
        harness.expectQuiet()
    }

    // MARK: What a disabled call counts for

    private static let required = """
        one: { from: a, get: /1 }
        two: { from: b, get: /2, required: true, when: { value: "{one.kind}", is: big } }
        """

    @Test func requiredCallThatIsNotMadeIsNoFailure() throws {
        let harness = try GatewayHarness(Self.required)
        harness.on("/1", .ok(#"{"kind":"small"}"#), .ok(#"{"kind":"big"}"#))
        harness.on("/2", .status(500))
        #expect(try harness.fetch().summary == #"200 at 0 {"one":{"kind":"small"}}"#)
        #expect(try harness.fetch().status == 502, "the control: it is made, and fails")
        harness.expectQuiet()
    }

    /// Where all calls fail and the required one is the last, its failure decides the status: as one
    /// of all failures, the timeout would give a 504.
    @Test(arguments: [
        ("exists: false", 502, #"[{"call":"two","kind":"skipped","because":"one"}]"#),
        (
            "exists: true", 504,
            #"[{"call":"one","kind":"http_response_timeout","limit_ms":50}]"#
        ),
    ])
    func failureOfARequiredCallDecidesTheStatus(
        _ test: String, _ status: Int, _ failures: String
    ) throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, timeout: 50ms }
            two: { from: b, get: "/2/{one.id}", required: true, when: { value: "{one}", \(test) } }
            """)
        harness.on("/1", .hangs)
        let response = try harness.fetch()
        #expect(response.outcome == "\(status) at 50")
        #expect(response.failures == failures)
        harness.expectQuiet()
    }

    /// A call that is not made is no success: all calls that were made failed.
    @Test(arguments: ["", ", required: true"])
    func callThatIsNotMadeIsNoSuccess(_ required: String) throws {
        let harness = try GatewayHarness(
            Self.required.replacing(", required: true", with: required))
        harness.on("/1", .status(503))
        let response = try harness.fetch()
        #expect(response.status == 502)
        #expect(response.failures == #"[{"call":"one","kind":"unexpected_status","status":503}]"#)
        harness.expectQuiet()
    }

    private static let dependent = """
        one: { from: a, get: /1 }
        two: { from: b, get: /2, when: { value: "{one.kind}", is: big } }
        three: { from: c, get: "/3/{two}" }
        four: { from: c, get: /4, after: [two] }
        five: { from: c, get: /5, when: { value: "{two}", exists: false } }
        """

    @Test func referenceToACallThatIsNotMadeSkips() throws {
        let harness = try GatewayHarness(Self.dependent)
        harness.on("/1", .ok(#"{"kind":"small"}"#, after: 30))
        let response = try harness.fetch()
        #expect(response.failures == #"[{"call":"three","kind":"skipped","because":"two"}]"#)
        #expect(harness.events == ["0 GET /1", "30 GET /4", "30 GET /5"])
        harness.expectQuiet()
    }

    /// The control of the previous test.
    @Test func referenceToACallThatIsMadeIsUsed() throws {
        let harness = try GatewayHarness(Self.dependent)
        harness.on("/1", .ok(#"{"kind":"big"}"#, after: 30))
        harness.on("/2", .ok("2", after: 20))
        let response = try harness.fetch()
        #expect(response.failures == nil)
        #expect(
            harness.events == ["0 GET /1", "30 GET /2", "50 GET /3/2", "50 GET /4"])
        harness.expectQuiet()
    }

    /// What else a call needs matters only if it is made.
    @Test(arguments: [
        ("small", "200 at 30", nil),
        ("big", "200 at 30", #"{"call":"three","kind":"skipped","because":"two"}"#),
    ])
    func failureOfAnotherCallCountsOnlyIfTheCallIsMade(
        _ kind: String, _ outcome: String, _ skipped: String?
    ) throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2 }
            three: { from: c, get: "/3/{two}", when: { value: "{one.kind}", is: big } }
            """)
        harness.on("/1", .ok(#"{"kind":"\#(kind)"}"#, after: 30))
        harness.on("/2", .status(500, after: 10))
        let response = try harness.fetch()
        #expect(response.outcome == outcome)
        let failed = #"{"call":"two","kind":"unexpected_status","status":500}"#
        #expect(
            response.failures == "[\([failed, skipped].compactMap { $0 }.joined(separator: ","))]")
        harness.expectQuiet()
    }

    @Test func conditionCanComparePartsOfTwoResponses() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2 }
            three: { from: c, get: /3, when: { value: "{one.id}", is: "{two.id}" } }
            """)
        harness.on("/1", .ok(#"{"id":7}"#, after: 10))
        harness.on("/2", .ok(#"{"id":7}"#, after: 40), .ok(#"{"id":"7"}"#, after: 40))
        _ = try harness.fetch()
        #expect(harness.events == ["0 GET /1", "0 GET /2", "40 GET /3"])
        _ = try harness.fetch()
        #expect(harness.seen.count { $0.target == "/3" } == 1)
        harness.expectQuiet()
    }

    /// The values of the request in its path are checked when it starts.
    @Test(arguments: [("small", 200, false), ("big", 400, true)])
    func pathIsCheckedWhenTheCallStarts(_ kind: String, _ status: Int, _ isListed: Bool) throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: "/{request.header.X-Id}", required: true, when: { value: "{one.kind}", is: big } }
            """)
        harness.on("/1", .ok(#"{"kind":"\#(kind)"}"#))
        let response = try harness.fetch(get("/x", "X-Id: .."))
        #expect(response.status == status)
        #expect((response.failures != nil) == isListed)
        #expect(harness.seen.count == 1)
        harness.expectQuiet()
    }

    @Test func clientDisconnectEndsTheWait() throws {
        let harness = try GatewayHarness(Self.two)
        harness.on("/1", .ok(#"{"kind":"big"}"#, after: 30))
        let client = try harness.send(get())
        harness.pass(10)
        client.leave()
        harness.pass(100)
        #expect(harness.events == ["0 GET /1", "0 GET /3", "10 cancelled /1"])
        harness.expectQuiet()
    }

    @Test func failureOfARequiredCallCancelsTheOthers() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, when: { value: "{one.kind}", is: big } }
            three: { from: c, get: /3, required: true }
            """)
        harness.on("/1", .hangs)
        harness.on("/3", .status(500, after: 20))
        #expect(try harness.fetch().outcome == "502 at 20")
        #expect(harness.events == ["0 GET /1", "0 GET /3", "20 cancelled /1"])
        harness.expectQuiet()
    }
}
