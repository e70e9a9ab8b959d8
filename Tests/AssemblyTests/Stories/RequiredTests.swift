import TestSupport
import Testing
import WorkerSupport

/// Required and optional calls in parallel: which failure decides, and what happens to other calls.
@Suite(.watched) struct RequiredTests {
    static let mixed = """
        one: { from: a, get: /1, required: true }
        two: { from: b, get: /2 }
        """

    static let bothRequired = """
        one: { from: a, get: /1, required: true }
        two: { from: b, get: /2, required: true }
        """

    @Test func requiredFailureEndsTheRequestAtOnce() throws {
        let harness = try GatewayHarness(Self.mixed)
        harness.on("/1", .status(500, after: 20))
        harness.on("/2", .ok("2", after: 500))
        #expect(try harness.fetch().outcome == "502 at 20")
        harness.expectQuiet()
    }

    @Test func cancelsRemainingCallsWhenRequiredCallFails() throws {
        let harness = try GatewayHarness(Self.mixed)
        harness.on("/1", .status(500, after: 20))
        harness.on("/2", .ok("2", after: 500))
        _ = try harness.fetch()
        #expect(harness.events == ["0 GET /1", "0 GET /2", "20 cancelled /2"])
        #expect(harness.backend(7002)?.openCount == 0)
        #expect(try harness.outcomes(of: "b") == "cancelled 1")
        harness.expectQuiet()
    }

    /// A required call that is skipped ends the request before any other call starts, also one that is
    /// ready at once because of its condition: no connection is used, and closed, for it.
    @Test(arguments: [
        "two: { from: b, get: /2 }",
        "two: { from: b, get: /2, after: [one] }",
        """
        two: { from: b, get: /2, when: { not: { value: "{one.a}", is: "1" } } }
        three: { from: c, get: "/3/{two}" }
        four: { from: c, get: /4, when: { value: "{two}", is: "{three}" } }
        five: { from: c, get: "/5/{four}" }
        """,
    ])
    func noCallStartsBehindAFailedRequiredOne(_ others: String) throws {
        let one = #"one: { from: a, get: "/1/{request.header.X-A}", required: true }"#
        let harness = try GatewayHarness(one + "\n" + others, endpoint: "succeed_when: all")
        harness.on("/1/a", .ok(#"{"a":2}"#))
        _ = try harness.fetch(get("/x", "X-A: a"))
        #expect(harness.events.contains("0 GET /2"))
        let (open, before) = (harness.backend(7002)?.openCount, harness.events.count)
        #expect(open == 1)
        #expect(try harness.fetch().outcome == "400 at 0")
        #expect(harness.events.count == before && harness.backend(7002)?.openCount == open)
        harness.expectQuiet()
    }

    /// `two` is skipped because of `zero`. Its failure passes more promises than the error of `one`, which
    /// does not start any more.
    @Test func theFailureThatEndsTheRequestIsReported() throws {
        let harness = try GatewayHarness(
            """
            zero: { from: a, get: /0 }
            one: { from: b, get: /1, required: true, when: { not: { value: "{zero}", is: a } } }
            two: { from: c, get: /2, required: true, after: [zero, one] }
            """)
        harness.on("/0", .status(500, after: 10))
        let response = try harness.fetch()
        #expect(response.outcome == "502 at 10")
        #expect(response.failures == #"[{"call":"two","kind":"skipped","because":"zero"}]"#)
        #expect(harness.events == ["0 GET /0"])
        harness.expectQuiet()
    }

    @Test func optionalFailureWaitsForTheRequiredCall() throws {
        let harness = try GatewayHarness(Self.mixed)
        harness.on("/1", .ok("1", after: 50))
        harness.on("/2", .status(500, after: 20))
        #expect(try harness.fetch().outcome == "200 at 50")
        harness.expectQuiet()
    }

    @Test func requiredResponseWaitsForOptionalCalls() throws {
        let harness = try GatewayHarness(Self.mixed)
        harness.on("/2", .ok("2", after: 50))
        #expect(try harness.fetch().summary == #"200 at 50 {"one":"/1","two":2}"#)
        harness.expectQuiet()
    }

    @Test func anOptionalFailureBeforeTheRequiredOneIsNotListed() throws {
        let harness = try GatewayHarness(Self.mixed)
        harness.on("/1", .status(500, after: 20))
        harness.on("/2", .status(500, after: 10))
        #expect(
            try harness.fetch().failures
                == #"[{"call":"one","kind":"unexpected_status","status":500}]"#
        )
        harness.expectQuiet()
    }

    /// The second call in the file fails first, and gives the status.
    @Test func theFirstFailureInTimeDecides() throws {
        let harness = try GatewayHarness(Self.bothRequired)
        harness.on("/1", .status(500, after: 20))
        harness.on("/2", .status(404, after: 10))
        let response = try harness.fetch()
        #expect(response.outcome == "404 at 10")
        #expect(response.failures == #"[{"call":"two","kind":"unexpected_status","status":404}]"#)
        #expect(harness.events.last == "10 cancelled /1")
        harness.expectQuiet()
    }

    /// The optional call has already failed: the required call's failure decides, not "all failed".
    @Test func requiredFailureDecidesWhenAllCallsFail() throws {
        let harness = try GatewayHarness(Self.mixed, endpoint: "timeout: 30ms")
        harness.on("/1", .status(404, after: 20))
        harness.on("/2", .status(500, after: 10))
        #expect(try harness.fetch().outcome == "404 at 20")
        harness.expectQuiet()
    }

    @Test func succeedWhenAllMakesEveryCallRequired() throws {
        let harness = try GatewayHarness(StatusTableTests.two, endpoint: "succeed_when: all")
        harness.on("/2", .status(500, after: 20))
        let response = try harness.fetch()
        #expect(response.outcome == "502 at 20")
        #expect(response.failures == #"[{"call":"two","kind":"unexpected_status","status":500}]"#)
        harness.expectQuiet()
    }

    @Test func oneIsEnoughByDefault() throws {
        let harness = try GatewayHarness(StatusTableTests.two)
        harness.on("/2", .status(500, after: 20))
        #expect(try harness.fetch().status == 200)
        harness.expectQuiet()
    }

    /// A failing call counts as one failure, whatever depends on it.
    @Test func aFailureIsCountedOnce() throws {
        let harness = try GatewayHarness(Self.mixed)
        harness.on("/1", .status(500))
        _ = try harness.fetch()
        #expect(try harness.outcomes() == "unexpected_status 1")
        harness.expectQuiet()
    }

    @Test func successIsCountedOnce() throws {
        let harness = try GatewayHarness(Self.mixed)
        _ = try harness.fetch()
        #expect(try harness.outcomes() == "ok 1")
        harness.expectQuiet()
    }

    @Test func invalidShapeIsCountedAsFailureOnly() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1, take: items }")
        harness.on("/1", .ok("{}"))
        _ = try harness.fetch()
        #expect(try harness.outcomes() == "invalid_shape 1")
        harness.expectQuiet()
    }
}
