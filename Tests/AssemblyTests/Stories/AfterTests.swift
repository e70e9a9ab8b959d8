import TestSupport
import Testing
import WorkerSupport

/// `after`: a call waits for others without using their responses.
@Suite(.watched) struct AfterTests {
    static let two = """
        one: { from: a, get: /1 }
        two: { from: b, get: /2, after: [one] }
        three: { from: c, get: /3 }
        """

    @Test func callStartsWhenTheNamedCallHasSettled() throws {
        let harness = try GatewayHarness(Self.two)
        harness.on("/1", .ok("1", after: 30))
        harness.on("/2", .ok("2", after: 20))
        #expect(try harness.fetch().summary == #"200 at 50 {"one":1,"two":2,"three":"/3"}"#)
        #expect(harness.events == ["0 GET /1", "0 GET /3", "30 GET /2"])
        harness.expectQuiet()
    }

    /// The control: without `after` it starts at once.
    @Test func callWithoutAfterStartsAtOnce() throws {
        let harness = try GatewayHarness(Self.two.replacing(", after: [one]", with: ""))
        harness.on("/1", .ok("1", after: 30))
        _ = try harness.fetch()
        #expect(harness.events == ["0 GET /1", "0 GET /2", "0 GET /3"])
        harness.expectQuiet()
    }

    @Test func callWaitsForAllNamedCalls() throws {
        let harness = try GatewayHarness(
            """
            three: { from: c, get: /3, after: [two, one] }
            one: { from: a, get: /1 }
            two: { from: b, get: /2 }
            """)
        harness.on("/1", .ok("1", after: 30))
        harness.on("/2", .ok("2", after: 50))
        #expect(try harness.fetch().summary == #"200 at 50 {"three":"/3","one":1,"two":2}"#)
        #expect(harness.events == ["0 GET /1", "0 GET /2", "50 GET /3"])
        harness.expectQuiet()
    }

    @Test func callWaitsForBothItsReferencesAndItsAfter() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2 }
            three: { from: c, get: "/3/{one}", after: [two] }
            """)
        harness.on("/1", .ok("1", after: 50))
        harness.on("/2", .ok("2", after: 30))
        _ = try harness.fetch()
        #expect(harness.events == ["0 GET /1", "0 GET /2", "50 GET /3/1"])
        harness.expectQuiet()
    }

    @Test func failureOfTheNamedCallSkipsTheCallAtOnce() throws {
        let harness = try GatewayHarness(Self.two)
        harness.on("/1", .status(500, after: 30))
        let response = try harness.fetch()
        #expect(response.outcome == "200 at 30")
        #expect(
            response.failures == #"[{"call":"one","kind":"unexpected_status","status":500},"#
                + #"{"call":"two","kind":"skipped","because":"one"}]"#)
        #expect(harness.events == ["0 GET /1", "0 GET /3"])
        harness.expectQuiet()
    }

    /// A sequence of calls stops at the first failure.
    @Test func skippedCallSkipsTheCallsAfterIt() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, after: [one] }
            three: { from: c, get: /3, after: [two] }
            four: { from: c, get: /4 }
            """)
        harness.on("/1", .status(500))
        #expect(
            try harness.fetch().failures
                == #"[{"call":"one","kind":"unexpected_status","status":500},"#
                + #"{"call":"two","kind":"skipped","because":"one"},"#
                + #"{"call":"three","kind":"skipped","because":"two"}]"#)
        #expect(harness.events == ["0 GET /1", "0 GET /4"])
        harness.expectQuiet()
    }

    @Test func requiredCallAfterAFailedCallFailsTheRequest() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, after: [one], required: true }
            """)
        harness.on("/1", .status(500, after: 10))
        let response = try harness.fetch()
        #expect(response.outcome == "502 at 10")
        #expect(response.failures == #"[{"call":"two","kind":"skipped","because":"one"}]"#)
        harness.expectQuiet()
    }

    /// `when` disabled the named call: there is nothing to wait for.
    @Test(arguments: [
        (path: "/x", events: ["0 GET /2"], body: #"{"two":"/2"}"#),
        (path: "/x?q=1", events: ["0 GET /1", "30 GET /2"], body: #"{"one":"/1","two":"/2"}"#),
    ])
    func disabledCallCountsAsSettled(_ path: String, _ events: [String], _ body: String)
        throws
    {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, when: { param: q } }
            two: { from: b, get: /2, after: [one] }
            """, endpoint: "params: { q: {} }")
        harness.on("/1", .ok(#""/1""#, after: 30))
        let response = try harness.fetch(get(path))
        #expect(response.status == 200)
        #expect(response.body == body)
        #expect(harness.events == events)
        harness.expectQuiet()
    }

    /// The control: a reference to a disabled call has no value.
    @Test func referenceToADisabledCallSkips() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, when: { param: q } }
            two: { from: b, get: "/2/{one}" }
            three: { from: c, get: /3 }
            """, endpoint: "params: { q: {} }")
        #expect(
            try harness.fetch().failures == #"[{"call":"two","kind":"skipped","because":"one"}]"#)
        harness.expectQuiet()
    }

    @Test func clientDisconnectCancelsTheWaitingCall() throws {
        let harness = try GatewayHarness(Self.two)
        harness.on("/1", .ok("1", after: 30))
        let client = try harness.send(get())
        harness.pass(10)
        client.leave()
        harness.pass(100)
        #expect(harness.events == ["0 GET /1", "0 GET /3", "10 cancelled /1"])
        harness.expectQuiet()
    }
}
