import TestSupport
import Testing

/// `max_concurrent` and `queue`: a bounded number of calls at a time, a bounded number in line.
@Suite(.watched) struct BulkheadTests {
    static let call = "one: { from: a, get: /1, required: true }"
    static let queue = "max_concurrent: 1, queue: { size: 2, wait: 1s }"

    @Test func aCallWaitsForASlot() throws {
        let stage = try Stage(Self.call, backend: Self.queue)
        stage.on("/1", .ok("1", after: 100))
        let clients = try (1...3).map { _ in try stage.send(get()) }
        #expect(
            clients.map { stage.answer(of: $0).outcome } == [
                "200 at 100", "200 at 200", "200 at 300",
            ])
        #expect(stage.events == ["0 GET /1", "100 GET /1", "200 GET /1"])
        stage.expectQuiet()
    }

    @Test func theLineIsServedInOrder() throws {
        let stage = try Stage(
            #"one: { from: a, get: "/{n}", required: true }"#,
            endpoint: "params: { n: { type: string } }",
            backend: "max_concurrent: 1, queue: { size: 9, wait: 1s }")
        for name in ["/1", "/2", "/3", "/4"] { stage.on(name, .ok("0", after: 10)) }
        for name in ["1", "2", "3", "4"] { _ = try stage.send(get("/x?n=\(name)")) }
        stage.pass(100)
        #expect(stage.events == ["0 GET /1", "10 GET /2", "20 GET /3", "30 GET /4"])
        stage.expectQuiet()
    }

    @Test func oneMoreThanTheLineHoldsIsRefused() throws {
        let stage = try Stage(Self.call, backend: Self.queue)
        stage.on("/1", .ok("1", after: 100))
        for _ in 1...3 { _ = try stage.send(get()) }
        let answer = try stage.ask()
        #expect(answer.outcome == "503 at 0")
        #expect(answer.failures == #"[{"call":"one","kind":"queue_full"}]"#)
        stage.expectQuiet()
    }

    @Test func waitingHasALimit() throws {
        let stage = try Stage(
            Self.call, backend: "max_concurrent: 1, queue: { size: 9, wait: 50ms }")
        stage.on("/1", .ok("1", after: 100))
        _ = try stage.send(get())
        let answer = try stage.ask()
        #expect(answer.outcome == "503 at 50")
        #expect(answer["Retry-After"] == "1")
        #expect(try stage.load() == "1 running, 0 waiting")
        stage.expectQuiet()
    }

    /// The slot comes back on every way in which a call can end.
    static let endings: [(String, Reply)] = [
        ("answered", .ok("1", after: 10)), ("a bad status", .status(500, after: 10)),
        ("closed", .closes(after: 10)), ("reset", .resets(after: 10)),
        ("cut off", .breaksOff(after: 10)), ("no HTTP", .raw("?\r\n\r\n", after: 10)),
        ("bad JSON", .ok("{", after: 10)), ("its timeout", .hangs),
    ]

    @Test(arguments: endings) func theSlotComesBack(_ ending: String, _ reply: Reply) throws {
        let stage = try Stage(
            Self.call, endpoint: "timeout: 200ms",
            backend: "max_concurrent: 1, queue: { size: 9, wait: 1s }")
        stage.on("/1", reply, .ok("1"))
        _ = try stage.send(get())
        stage.pass(5)
        #expect(try stage.ask().status == 200)
        #expect(try stage.load() == "0 running, 0 waiting")
        stage.expectQuiet()
    }

    @Test func theSlotComesBackFromAHostThatRefuses() throws {
        let stage = try Stage(Self.call, backend: Self.queue)
        stage.backend()?.refuse()
        _ = try stage.ask()
        #expect(try stage.load() == "0 running, 0 waiting")
        stage.expectQuiet()
    }

    @Test func theSlotComesBackWhenTheClientGoes() throws {
        let stage = try Stage(Self.call, backend: Self.queue)
        stage.on("/1", .hangs, .ok("1"))
        let first = try stage.send(get())
        let second = try stage.send(get())
        stage.pass(10)
        first.reset()
        #expect(stage.answer(of: second).outcome == "200 at 10")
        stage.expectQuiet()
    }

    @Test func theSlotComesBackWhenARequiredCallFails() throws {
        let stage = try Stage(
            """
            one: { from: b, get: /1, required: true }
            two: { from: a, get: /2 }
            """, backend: Self.queue)
        stage.on("/1", .status(500, after: 10))
        stage.on("/2", .hangs)
        _ = try stage.ask()
        #expect(try stage.load() == "0 running, 0 waiting")
        stage.expectQuiet()
    }

    @Test func whoGoesAwayLeavesTheLine() throws {
        let stage = try Stage(Self.call, backend: Self.queue)
        stage.on("/1", .ok("1", after: 100))
        let first = try stage.send(get())
        let second = try stage.send(get())
        let third = try stage.send(get())
        stage.pass(10)
        second.reset()
        stage.pass(1)
        #expect(try stage.load() == "1 running, 1 waiting")
        #expect(stage.answer(of: first).outcome == "200 at 100")
        #expect(stage.answer(of: third).outcome == "200 at 200")
        #expect(stage.events == ["0 GET /1", "100 GET /1"])
        stage.expectQuiet()
    }

    /// The slot is handed to the second call and the second client's reset is there in the same
    /// moment, in any order of their events: the third call gets it.
    @Test(arguments: 0...6) func aSlotHandedToOneWhoGoesPassesOn(_ eventsBefore: Int) throws {
        let stage = try Stage(Self.call, backend: Self.queue)
        stage.on("/1", .ok("1", after: 100), .ok("2", after: 280), .ok("3", after: 50))
        let first = try stage.send(get())
        let second = try stage.send(get())
        let third = try stage.send(get())
        func reset(behind events: Int) {
            if events == 0 { second.reset() } else { stage.after(0) { reset(behind: events - 1) } }
        }
        stage.after(100) { reset(behind: eventsBefore) }
        #expect(stage.answer(of: first).outcome == "200 at 100")
        stage.pass(300)
        #expect(third.answers.first?.status == 200)
        #expect(try stage.load() == "0 running, 0 waiting")
        stage.expectQuiet()
    }

    @Test func aHedgeTakesASlotOfItsOwn() throws {
        let stage = try Stage(
            "one: { from: a, get: /1, hedge: { after: 50ms } }", backend: "max_concurrent: 2")
        stage.on("/1", .hangs)
        let client = try stage.send(get())
        stage.pass(100)
        #expect(try stage.load() == "2 running, 0 waiting")
        client.reset()
        stage.pass(1)
        #expect(try stage.load() == "0 running, 0 waiting")
        stage.expectQuiet()
    }

    @Test func aRetryWaitsWithoutASlot() throws {
        let stage = try Stage(
            "one: { from: a, get: /1, retry: { attempts: 2, backoff: 200ms } }",
            backend: "max_concurrent: 1")
        stage.on("/1", .closes(after: 10), .ok("1"))
        _ = try stage.send(get())
        stage.pass(50)
        #expect(try stage.load() == "0 running, 0 waiting")
        stage.expectQuiet()
    }

    /// Many clients come and go at random; at the end nothing is held.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func nothingIsLostInACrowd(_ seed: UInt64)
        throws
    {
        let stage = try Stage(
            "one: { from: a, get: /1, required: true, timeout: 60ms }",
            backend: "max_concurrent: 2, queue: { size: 5, wait: 40ms }", seed: seed)
        stage.roughen(upTo: 3)
        stage.on(
            "/1", .ok("1", after: 20), .closes(after: 5), .hangs, .ok("1", after: 40),
            .resets(after: 30),
            .hangs, .ok("1", after: 10))
        for _ in 1...60 {
            let client = try stage.send(get())
            let when = stage.chance(below: 60)
            switch stage.chance(below: 4) {
            case 0: stage.after(when) { client.reset() }
            case 1: stage.after(when) { client.leave() }
            default: break
            }
            stage.pass(Double(stage.chance(below: 20)))
        }
        stage.pass(500)
        #expect(try stage.load() == "0 running, 0 waiting")
        stage.expectQuiet()
    }
}
