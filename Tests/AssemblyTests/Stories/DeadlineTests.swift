import TestSupport
import Testing
import WorkerSupport

/// `deadline` limits the request, `timeout` one call; the shorter one applies.
@Suite(.watched) struct DeadlineTests {
    @Test(arguments: [
        ("300ms", "800ms", "504 at 300", 300), ("800ms", "300ms", "504 at 300", 300),
        ("300ms", "300ms", "504 at 300", 300),
    ])
    func shorterLimitApplies(timeout: String, deadline: String, outcome: String, limit: Int) throws
    {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true, timeout: \(timeout) }",
            endpoint: "deadline: \(deadline)")
        harness.on("/1", .hangs)
        let response = try harness.fetch()
        #expect(response.outcome == outcome)
        #expect(
            response.failures
                == #"[{"call":"one","kind":"http_response_timeout","limit_ms":\#(limit)}]"#)
        #expect(harness.events.last == "300 cancelled /1")
        harness.expectQuiet()
    }

    /// The second call has the time that the first one left, so the deadline applies.
    @Test func laterCallHasTheRemainingTime() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: "/2/{one}", required: true }
            """, endpoint: "deadline: 500ms\ntimeout: 400ms")
        harness.on("/1", .ok("7", after: 300))
        harness.on("/2/7", .hangs)
        let response = try harness.fetch()
        #expect(response.outcome == "504 at 500")
        #expect(
            response.failures == #"[{"call":"two","kind":"http_response_timeout","limit_ms":500}]"#)
        harness.expectQuiet()
    }

    @Test func responseInTimeIsUnchanged() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }", endpoint: "deadline: 300ms")
        harness.on("/1", .ok("1", after: 299))
        #expect(try harness.fetch().summary == #"200 at 299 {"one":1}"#)
        harness.expectQuiet()
    }

    @Test func optionalTimeoutGivesAPartialResponse() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, required: true }
            two: { from: b, get: /2, timeout: 300ms }
            """)
        harness.on("/2", .hangs)
        #expect(
            try harness.fetch().summary
                == #"200 at 300 {"one":"/1","two":null,"_gateway":{"complete":"#
                + #"false,"failures":[{"call":"two","kind":"http_response_timeout","limit_ms":300}]}}"#
        )
        harness.expectQuiet()
    }

    /// The clock of the deadline starts with the last byte of the request's body.
    @Test func uploadTimeDoesNotCount() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1, required: true }",
            endpoint: "route: POST /x\ndeadline: 300ms")
        harness.on("/1", .hangs)
        let client = try harness.send(request("POST", "/x", ["Content-Length: 2"]) + "1")
        harness.pass(1000)
        client.send("2")
        #expect(harness.response(of: client).outcome == "504 at 300")
        #expect(harness.events == ["1000 POST /1", "1300 cancelled /1"])
        harness.expectQuiet()
    }

    @Test func waitingForAPermitCounts() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true, timeout: 300ms }",
            backend: "max_concurrent: 1, queue: { size: 9, wait: 1s }")
        harness.on("/1", .ok("1", after: 200))
        let first = try harness.send(get())
        let second = try harness.send(get())
        #expect(harness.response(of: first).outcome == "200 at 200")
        #expect(harness.response(of: second).outcome == "504 at 300")
        harness.expectQuiet()
    }

    @Test func backendsReceiveTheRemainingTime() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: "/2/{one}" }
            """, endpoint: "deadline: 500ms\ntimeout: 400ms")
        harness.on("/1", .ok("7", after: 120))
        _ = try harness.fetch()
        #expect(harness.seen.map { $0["Gateway-Deadline-Ms"] } == ["500", "380"])
        harness.expectQuiet()
    }
}
