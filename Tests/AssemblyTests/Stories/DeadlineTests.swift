import TestSupport
import Testing

/// `deadline` limits the request, `timeout` one call, and the smaller one strikes.
@Suite(.watched) struct DeadlineTests {
    @Test(arguments: [
        ("300ms", "800ms", "504 at 300", 300), ("800ms", "300ms", "504 at 300", 300),
        ("300ms", "300ms", "504 at 300", 300),
    ])
    func theSmallerOneStrikes(timeout: String, deadline: String, outcome: String, limit: Int) throws
    {
        let stage = try Stage(
            "one: { from: a, get: /1, required: true, timeout: \(timeout) }",
            endpoint: "deadline: \(deadline)")
        stage.on("/1", .hangs)
        let answer = try stage.ask()
        #expect(answer.outcome == outcome)
        #expect(
            answer.failures
                == #"[{"call":"one","kind":"http_response_timeout","limit_ms":\#(limit)}]"#)
        #expect(stage.events.last == "300 given up /1")
        stage.expectQuiet()
    }

    /// The second call has what the first one left: it is the deadline that strikes.
    @Test func aLaterCallHasTheTimeThatIsLeft() throws {
        let stage = try Stage(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: "/2/{one}", required: true }
            """, endpoint: "deadline: 500ms\ntimeout: 400ms")
        stage.on("/1", .ok("7", after: 300))
        stage.on("/2/7", .hangs)
        let answer = try stage.ask()
        #expect(answer.outcome == "504 at 500")
        #expect(
            answer.failures == #"[{"call":"two","kind":"http_response_timeout","limit_ms":500}]"#)
        stage.expectQuiet()
    }

    @Test func anAnswerInTimeIsNotTouched() throws {
        let stage = try Stage("one: { from: a, get: /1 }", endpoint: "deadline: 300ms")
        stage.on("/1", .ok("1", after: 299))
        #expect(try stage.ask().summary == #"200 at 299 {"one":1}"#)
        stage.expectQuiet()
    }

    @Test func anOptionalTimeoutIsPartOfAPartialAnswer() throws {
        let stage = try Stage(
            """
            one: { from: a, get: /1, required: true }
            two: { from: b, get: /2, timeout: 300ms }
            """)
        stage.on("/2", .hangs)
        #expect(
            try stage.ask().summary == #"200 at 300 {"one":"/1","two":null,"_gateway":{"complete":"#
                + #"false,"failures":[{"call":"two","kind":"http_response_timeout","limit_ms":300}]}}"#
        )
        stage.expectQuiet()
    }

    /// The clock of the deadline starts with the last byte of the request's body.
    @Test func aSlowUploadDoesNotCount() throws {
        let stage = try Stage(
            "one: { from: a, post: /1, required: true }",
            endpoint: "route: POST /x\ndeadline: 300ms")
        stage.on("/1", .hangs)
        let client = try stage.send(request("POST", "/x", ["Content-Length: 2"]) + "1")
        stage.pass(1000)
        client.send("2")
        #expect(stage.answer(of: client).outcome == "504 at 300")
        #expect(stage.events == ["1000 POST /1", "1300 given up /1"])
        stage.expectQuiet()
    }

    @Test func waitingForASlotCounts() throws {
        let stage = try Stage(
            "one: { from: a, get: /1, required: true, timeout: 300ms }",
            backend: "max_concurrent: 1, queue: { size: 9, wait: 1s }")
        stage.on("/1", .ok("1", after: 200))
        let first = try stage.send(get())
        let second = try stage.send(get())
        #expect(stage.answer(of: first).outcome == "200 at 200")
        #expect(stage.answer(of: second).outcome == "504 at 300")
        stage.expectQuiet()
    }

    @Test func backendsAreToldTheTimeThatIsLeft() throws {
        let stage = try Stage(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: "/2/{one}" }
            """, endpoint: "deadline: 500ms\ntimeout: 400ms")
        stage.on("/1", .ok("7", after: 120))
        _ = try stage.ask()
        #expect(stage.seen.map { $0["Gateway-Deadline-Ms"] } == ["500", "380"])
        stage.expectQuiet()
    }
}
