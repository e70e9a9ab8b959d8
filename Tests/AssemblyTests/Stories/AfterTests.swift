import TestSupport
import Testing

/// `after`: a call waits for others without using their answers.
@Suite(.watched) struct AfterTests {
    static let two = """
        one: { from: a, get: /1 }
        two: { from: b, get: /2, after: [one] }
        three: { from: c, get: /3 }
        """

    @Test func callStartsWhenTheNamedCallHasSettled() throws {
        let stage = try Stage(Self.two)
        stage.on("/1", .ok("1", after: 30))
        stage.on("/2", .ok("2", after: 20))
        #expect(try stage.ask().summary == #"200 at 50 {"one":1,"two":2,"three":"/3"}"#)
        #expect(stage.events == ["0 GET /1", "0 GET /3", "30 GET /2"])
        stage.expectQuiet()
    }

    /// The control: without `after` it starts at once.
    @Test func callWithoutAfterStartsAtOnce() throws {
        let stage = try Stage(Self.two.replacing(", after: [one]", with: ""))
        stage.on("/1", .ok("1", after: 30))
        _ = try stage.ask()
        #expect(stage.events == ["0 GET /1", "0 GET /2", "0 GET /3"])
        stage.expectQuiet()
    }

    @Test func callWaitsForAllNamedCalls() throws {
        let stage = try Stage(
            """
            three: { from: c, get: /3, after: [two, one] }
            one: { from: a, get: /1 }
            two: { from: b, get: /2 }
            """)
        stage.on("/1", .ok("1", after: 30))
        stage.on("/2", .ok("2", after: 50))
        #expect(try stage.ask().summary == #"200 at 50 {"three":"/3","one":1,"two":2}"#)
        #expect(stage.events == ["0 GET /1", "0 GET /2", "50 GET /3"])
        stage.expectQuiet()
    }

    @Test func callWaitsForBothItsReferencesAndItsAfter() throws {
        let stage = try Stage(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2 }
            three: { from: c, get: "/3/{one}", after: [two] }
            """)
        stage.on("/1", .ok("1", after: 50))
        stage.on("/2", .ok("2", after: 30))
        _ = try stage.ask()
        #expect(stage.events == ["0 GET /1", "0 GET /2", "50 GET /3/1"])
        stage.expectQuiet()
    }

    @Test func failureOfTheNamedCallSkipsTheCallAtOnce() throws {
        let stage = try Stage(Self.two)
        stage.on("/1", .status(500, after: 30))
        let answer = try stage.ask()
        #expect(answer.outcome == "200 at 30")
        #expect(
            answer.failures == #"[{"call":"one","kind":"unexpected_status","status":500},"#
                + #"{"call":"two","kind":"skipped","because":"one"}]"#)
        #expect(stage.events == ["0 GET /1", "0 GET /3"])
        stage.expectQuiet()
    }

    /// A sequence of calls stops at the first failure.
    @Test func skippedCallSkipsTheCallsAfterIt() throws {
        let stage = try Stage(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, after: [one] }
            three: { from: c, get: /3, after: [two] }
            four: { from: c, get: /4 }
            """)
        stage.on("/1", .status(500))
        #expect(
            try stage.ask().failures == #"[{"call":"one","kind":"unexpected_status","status":500},"#
                + #"{"call":"two","kind":"skipped","because":"one"},"#
                + #"{"call":"three","kind":"skipped","because":"two"}]"#)
        #expect(stage.events == ["0 GET /1", "0 GET /4"])
        stage.expectQuiet()
    }

    @Test func requiredCallAfterAFailedCallFailsTheRequest() throws {
        let stage = try Stage(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, after: [one], required: true }
            """)
        stage.on("/1", .status(500, after: 10))
        let answer = try stage.ask()
        #expect(answer.outcome == "502 at 10")
        #expect(answer.failures == #"[{"call":"two","kind":"skipped","because":"one"}]"#)
        stage.expectQuiet()
    }

    /// `when` left the named call out: there is nothing to wait for.
    @Test(arguments: [
        (path: "/x", events: ["0 GET /2"], body: #"{"two":"/2"}"#),
        (path: "/x?q=1", events: ["0 GET /1", "30 GET /2"], body: #"{"one":"/1","two":"/2"}"#),
    ])
    func callThatIsLeftOutCountsAsSettled(_ path: String, _ events: [String], _ body: String)
        throws
    {
        let stage = try Stage(
            """
            one: { from: a, get: /1, when: { param: q } }
            two: { from: b, get: /2, after: [one] }
            """, endpoint: "params: { q: {} }")
        stage.on("/1", .ok(#""/1""#, after: 30))
        let answer = try stage.ask(get(path))
        #expect(answer.status == 200)
        #expect(answer.body == body)
        #expect(stage.events == events)
        stage.expectQuiet()
    }

    /// The control: a reference to a call that is left out has no value.
    @Test func referenceToACallThatIsLeftOutSkips() throws {
        let stage = try Stage(
            """
            one: { from: a, get: /1, when: { param: q } }
            two: { from: b, get: "/2/{one}" }
            three: { from: c, get: /3 }
            """, endpoint: "params: { q: {} }")
        #expect(try stage.ask().failures == #"[{"call":"two","kind":"skipped","because":"one"}]"#)
        stage.expectQuiet()
    }

    @Test func clientThatLeavesCancelsTheWaitingCall() throws {
        let stage = try Stage(Self.two)
        stage.on("/1", .ok("1", after: 30))
        let client = try stage.send(get())
        stage.pass(10)
        client.leave()
        stage.pass(100)
        #expect(stage.events == ["0 GET /1", "0 GET /3", "10 given up /1"])
        stage.expectQuiet()
    }
}
