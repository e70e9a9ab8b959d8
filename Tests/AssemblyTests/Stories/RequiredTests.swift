import TestSupport
import Testing

/// Required and optional calls side by side: who decides, and what becomes of the others.
@Suite(.watched) struct RequiredTests {
    static let mixed = """
        one: { from: a, get: /1, required: true }
        two: { from: b, get: /2 }
        """

    static let bothRequired = """
        one: { from: a, get: /1, required: true }
        two: { from: b, get: /2, required: true }
        """

    @Test func aRequiredFailureIsAnsweredAtOnce() throws {
        let stage = try Stage(Self.mixed)
        stage.on("/1", .status(500, after: 20))
        stage.on("/2", .ok("2", after: 500))
        #expect(try stage.ask().outcome == "502 at 20")
        stage.expectQuiet()
    }

    @Test func aRequiredFailureCancelsTheOtherCalls() throws {
        let stage = try Stage(Self.mixed)
        stage.on("/1", .status(500, after: 20))
        stage.on("/2", .ok("2", after: 500))
        _ = try stage.ask()
        #expect(stage.events == ["0 GET /1", "0 GET /2", "20 given up /2"])
        #expect(stage.backend(7002)?.openCount == 0)
        #expect(try stage.outcomes(of: "b") == "")
        stage.expectQuiet()
    }

    @Test func anOptionalFailureWaitsForTheRequiredAnswer() throws {
        let stage = try Stage(Self.mixed)
        stage.on("/1", .ok("1", after: 50))
        stage.on("/2", .status(500, after: 20))
        #expect(try stage.ask().outcome == "200 at 50")
        stage.expectQuiet()
    }

    @Test func aRequiredAnswerWaitsForTheOptionalOnes() throws {
        let stage = try Stage(Self.mixed)
        stage.on("/2", .ok("2", after: 50))
        #expect(try stage.ask().summary == #"200 at 50 {"one":"/1","two":2}"#)
        stage.expectQuiet()
    }

    @Test func anOptionalFailureBeforeTheRequiredOneIsNotListed() throws {
        let stage = try Stage(Self.mixed)
        stage.on("/1", .status(500, after: 20))
        stage.on("/2", .status(500, after: 10))
        #expect(
            try stage.ask().failures == #"[{"call":"one","kind":"unexpected_status","status":500}]"#
        )
        stage.expectQuiet()
    }

    /// The second call in the file fails first, and gives the status.
    @Test func theFirstFailureInTimeDecides() throws {
        let stage = try Stage(Self.bothRequired)
        stage.on("/1", .status(500, after: 20))
        stage.on("/2", .status(404, after: 10))
        let answer = try stage.ask()
        #expect(answer.outcome == "404 at 10")
        #expect(answer.failures == #"[{"call":"two","kind":"unexpected_status","status":404}]"#)
        #expect(stage.events.last == "10 given up /1")
        stage.expectQuiet()
    }

    /// One call, required, and one optional that has failed already: the required one's failure is
    /// heard, not that of all.
    @Test func theLastFailureOfAllIsStillTheRequiredOnes() throws {
        let stage = try Stage(Self.mixed, endpoint: "timeout: 30ms")
        stage.on("/1", .status(404, after: 20))
        stage.on("/2", .status(500, after: 10))
        #expect(try stage.ask().outcome == "404 at 20")
        stage.expectQuiet()
    }

    @Test func succeedWhenAllMakesEveryCallRequired() throws {
        let stage = try Stage(StatusTableTests.two, endpoint: "succeed_when: all")
        stage.on("/2", .status(500, after: 20))
        let answer = try stage.ask()
        #expect(answer.outcome == "502 at 20")
        #expect(answer.failures == #"[{"call":"two","kind":"unexpected_status","status":500}]"#)
        stage.expectQuiet()
    }

    @Test func oneIsEnoughByDefault() throws {
        let stage = try Stage(StatusTableTests.two)
        stage.on("/2", .status(500, after: 20))
        #expect(try stage.ask().status == 200)
        stage.expectQuiet()
    }

    /// A failing call is one failure in the numbers, whatever waits for it.
    @Test func aFailureIsCountedOnce() throws {
        let stage = try Stage(Self.mixed)
        stage.on("/1", .status(500))
        _ = try stage.ask()
        #expect(try stage.outcomes() == "unexpected_status 1")
        stage.expectQuiet()
    }

    @Test func anAnswerIsCountedOnce() throws {
        let stage = try Stage(Self.mixed)
        _ = try stage.ask()
        #expect(try stage.outcomes() == "ok 1")
        stage.expectQuiet()
    }

    @Test func aMissedShapeIsAFailureAndNoSuccess() throws {
        let stage = try Stage("one: { from: a, get: /1, take: items }")
        stage.on("/1", .ok("{}"))
        _ = try stage.ask()
        #expect(try stage.outcomes() == "invalid_shape 1")
        stage.expectQuiet()
    }
}
