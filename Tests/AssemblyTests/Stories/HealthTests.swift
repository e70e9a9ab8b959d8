import TestSupport
import Testing

/// `health`: hosts are asked how they are, and calls go only to those that are well.
@Suite(.watched) struct HealthTests {
    private static let backend =
        "urls: [\"http://127.0.0.1:7001/a\", \"http://127.0.0.1:7002/b\"],"
        + " balance: round_robin, health: { path: /up, every: 2s }"

    private func stage(_ call: String = "one: { from: a, get: /1 }") throws -> Stage {
        try Stage(call, backend: Self.backend)
    }

    /// Which hosts so many calls reach.
    private func hosts(of count: Int, _ stage: Stage) throws -> String {
        let before = stage.seen.count
        for _ in 0..<count { _ = try stage.ask() }
        return stage.seen.dropFirst(before).filter { $0.target.hasSuffix("1") }
            .map { String($0.target.dropFirst().prefix(1)) }.joined()
    }

    @Test func everyHostIsAskedFromTheStartOn() throws {
        let stage = try stage()
        stage.pass(4_001)
        #expect(
            stage.events == [
                "0 GET /a/up", "0 GET /b/up", "2000 GET /a/up", "2000 GET /b/up", "4000 GET /a/up",
                "4000 GET /b/up",
            ])
        stage.expectQuiet()
    }

    @Test func twoBadAnswersTakeAHostOutAndAGoodOneBringsItBack() throws {
        let stage = try stage()
        stage.on("/a/up", .status(503), .status(503), .ok("1"))
        stage.pass(100)
        #expect(try hosts(of: 4, stage) == "abab")
        stage.pass(2_000)
        #expect(try hosts(of: 4, stage) == "bbbb")
        #expect(try stage.leftOut() == 1)
        stage.pass(2_000)
        #expect(try hosts(of: 4, stage).count { $0 == "a" } == 2)
        stage.expectQuiet()
    }

    @Test(arguments: ["hangs", "closes", "refuses", "redirects"])
    func whatIsNoGoodAnswerIsABadOne(_ how: String) throws {
        let stage = try stage()
        switch how {
        case "hangs": stage.on("/a/up", .hangs)
        case "closes": stage.on("/a/up", .closes())
        case "refuses": stage.backend(7001)?.refuse()
        default: stage.on("/a/up", .status(302))
        }
        stage.pass(3_100)
        #expect(try hosts(of: 4, stage) == "bbbb")
        stage.expectQuiet()
    }

    @Test func whenNobodyIsWellNothingIsSent() throws {
        let stage = try stage("one: { from: a, get: /1, required: true }")
        stage.on("/a/up", .status(500))
        stage.on("/b/up", .status(500))
        stage.pass(2_100)
        let before = stage.seen.count
        let answer = try stage.ask()
        #expect(answer.status == 503 && answer["Retry-After"] == "1")
        #expect(answer.failures == #"[{"call":"one","kind":"destination_unavailable"}]"#)
        #expect(stage.seen.count == before)
        stage.expectQuiet()
    }

    @Test func aReloadForgetsNothing() throws {
        let stage = try stage()
        stage.on("/a/up", .status(500))
        stage.pass(2_100)
        try stage.install(Stage.text("one: { from: a, get: /1, timeout: 1s }", "", Self.backend))
        #expect(try hosts(of: 4, stage) == "bbbb")
        stage.expectQuiet()
    }

    @Test func aReloadMayEndIt() throws {
        let stage = try stage()
        stage.pass(100)
        try stage.install(Stage.text("one: { from: a, get: /1 }"))
        let before = stage.seen.count
        stage.pass(10_000)
        #expect(stage.seen.count == before)
        stage.expectQuiet()
    }

    @Test func theHeadersOfTheBackendGoAlong() throws {
        let stage = try Stage(
            "one: { from: a, get: /1 }",
            backend: "headers: { X-Key: k }, health: { path: \"/up?a=1\" }")
        stage.pass(10)
        #expect(stage.seen.first?.target == "/up?a=1")
        #expect(stage.seen.first?["X-Key"] == "k")
        #expect(stage.seen.first?["Host"] == "127.0.0.1:7001")
        stage.expectQuiet()
    }
}
