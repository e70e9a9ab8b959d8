import TestSupport
import Testing

/// `eject`: a host of several that fails again and again is left alone for a while.
@Suite(.watched) struct EjectTests {
    /// Host 7001 has the paths `/a/...`, host 7002 `/b/...`; they take turns.
    private func stage(_ eject: String = "eject: { after: 2, for: 5s }") throws -> Stage {
        try Stage(
            "one: { from: a, get: /1 }",
            backend: "urls: [\"http://127.0.0.1:7001/a\", \"http://127.0.0.1:7002/b\"],"
                + " balance: round_robin, \(eject)")
    }

    /// Which hosts so many requests reach.
    private func hosts(of count: Int, _ stage: Stage) throws -> String {
        let before = stage.seen.count
        for _ in 0..<count { _ = try stage.ask() }
        return stage.seen.dropFirst(before).map { String($0.target.dropFirst().prefix(1)) }.joined()
    }

    @Test func aHostThatFailsTwiceIsLeftAlone() throws {
        let stage = try stage()
        stage.on("/a/1", .status(500))
        #expect(try hosts(of: 6, stage) == "ababbb")
        stage.pass(4_999)
        #expect(try hosts(of: 2, stage) == "bb")
        stage.pass(1)
        #expect(try hosts(of: 2, stage).contains("a"))
        stage.expectQuiet()
    }

    @Test func itComesBackWhenItAnswers() throws {
        let stage = try stage()
        stage.on("/a/1", .status(500), .status(500), .ok("1"))
        #expect(try hosts(of: 4, stage) == "abab")
        stage.pass(5_000)
        #expect(try hosts(of: 6, stage).count { $0 == "a" } == 3)
        stage.expectQuiet()
    }

    @Test func theTimeGrows() throws {
        let stage = try stage()
        stage.on("/a/1", .status(500))
        _ = try hosts(of: 4, stage)
        stage.pass(5_000)
        #expect(try hosts(of: 4, stage).count { $0 == "a" } == 2)
        stage.pass(9_999)
        #expect(try hosts(of: 4, stage) == "bbbb")
        stage.pass(1)
        #expect(try hosts(of: 2, stage).contains("a"))
        stage.expectQuiet()
    }

    @Test func halfOfTheHostsStay() throws {
        let stage = try stage()
        stage.on("/a/1", .status(500))
        stage.on("/b/1", .status(500))
        #expect(Set(try hosts(of: 20, stage).suffix(10)) == ["b"])
        stage.expectQuiet()
    }

    /// A refused call goes to the other host at once, and is counted all the same.
    @Test func aHostThatRefusesIsLeftAlone() throws {
        let stage = try stage()
        stage.backend(7001)?.refuse()
        #expect(try hosts(of: 4, stage) == "bbbb")
        #expect(try stage.leftOut() == 1)
        stage.pass(5_000)
        #expect(try stage.leftOut() == 0)
        stage.expectQuiet()
    }

    @Test(arguments: [404, 429]) func a4xxIsNoFailure(_ status: Int) throws {
        let stage = try stage()
        stage.on("/a/1", .status(status))
        #expect(try hosts(of: 6, stage) == "ababab")
        stage.expectQuiet()
    }

    @Test func withoutItNobodyIsLeftAlone() throws {
        let stage = try stage("max_concurrent: 9")
        stage.on("/a/1", .status(500))
        #expect(try hosts(of: 12, stage) == "abababababab")
        stage.expectQuiet()
    }

    @Test func aReloadForgetsNothing() throws {
        let stage = try stage()
        stage.on("/a/1", .status(500))
        _ = try hosts(of: 4, stage)
        try stage.install(
            Stage.text(
                "one: { from: a, get: /1, timeout: 1s }", "",
                "urls: [\"http://127.0.0.1:7001/a\", \"http://127.0.0.1:7002/b\"],"
                    + " balance: round_robin, eject: { after: 2, for: 5s }"))
        #expect(try hosts(of: 4, stage) == "bbbb")
        stage.expectQuiet()
    }
}
