import TestSupport
import Testing
import WorkerSupport

/// `max_concurrent` and `queue`: a limited number of calls at a time, a limited number in the
/// queue.
@Suite(.watched) struct BulkheadTests {
    static let call = "one: { from: a, get: /1, required: true }"
    static let queue = "max_concurrent: 1, queue: { size: 2, wait: 1s }"

    @Test func callWaitsForAPermit() throws {
        let harness = try GatewayHarness(Self.call, backend: Self.queue)
        harness.on("/1", .ok("1", after: 100))
        let clients = try (1...3).map { _ in try harness.send(get()) }
        #expect(
            clients.map { harness.response(of: $0).outcome } == [
                "200 at 100", "200 at 200", "200 at 300",
            ])
        #expect(harness.events == ["0 GET /1", "100 GET /1", "200 GET /1"])
        harness.expectQuiet()
    }

    @Test func queueIsServedInOrder() throws {
        let harness = try GatewayHarness(
            #"one: { from: a, get: "/{n}", required: true }"#,
            endpoint: "params: { n: { type: string } }",
            backend: "max_concurrent: 1, queue: { size: 9, wait: 1s }")
        for name in ["/1", "/2", "/3", "/4"] { harness.on(name, .ok("0", after: 10)) }
        for name in ["1", "2", "3", "4"] { _ = try harness.send(get("/x?n=\(name)")) }
        harness.pass(100)
        #expect(harness.events == ["0 GET /1", "10 GET /2", "20 GET /3", "30 GET /4"])
        harness.expectQuiet()
    }

    @Test func refusesACallWhenTheQueueIsFull() throws {
        let harness = try GatewayHarness(Self.call, backend: Self.queue)
        harness.on("/1", .ok("1", after: 100))
        for _ in 1...3 { _ = try harness.send(get()) }
        let response = try harness.fetch()
        #expect(response.outcome == "503 at 0")
        #expect(response.failures == #"[{"call":"one","kind":"queue_full"}]"#)
        harness.expectQuiet()
    }

    @Test func refusesAQueuedCallAfterTheMaximumWait() throws {
        let harness = try GatewayHarness(
            Self.call, backend: "max_concurrent: 1, queue: { size: 9, wait: 50ms }")
        harness.on("/1", .ok("1", after: 100))
        _ = try harness.send(get())
        let response = try harness.fetch()
        #expect(response.outcome == "503 at 50")
        #expect(response["Retry-After"] == "1")
        #expect(try harness.load() == "1 running, 0 waiting")
        harness.expectQuiet()
    }

    /// The ways in which a call can end.
    static let endings: [(String, Reply)] = [
        ("success", .ok("1", after: 10)), ("a bad status", .status(500, after: 10)),
        ("closed", .closes(after: 10)), ("reset", .resets(after: 10)),
        ("cut off", .breaksOff(after: 10)), ("not HTTP", .raw("?\r\n\r\n", after: 10)),
        ("bad JSON", .ok("{", after: 10)), ("its timeout", .hangs),
    ]

    @Test(arguments: endings) func permitIsReleasedHoweverTheCallEnds(
        _ ending: String, _ reply: Reply
    ) throws {
        let harness = try GatewayHarness(
            Self.call, endpoint: "timeout: 200ms",
            backend: "max_concurrent: 1, queue: { size: 9, wait: 1s }")
        harness.on("/1", reply, .ok("1"))
        _ = try harness.send(get())
        harness.pass(5)
        #expect(try harness.fetch().status == 200)
        #expect(try harness.load() == "0 running, 0 waiting")
        harness.expectQuiet()
    }

    @Test func permitIsReleasedWhenTheHostRefuses() throws {
        let harness = try GatewayHarness(Self.call, backend: Self.queue)
        harness.backend()?.refuse()
        _ = try harness.fetch()
        #expect(try harness.load() == "0 running, 0 waiting")
        harness.expectQuiet()
    }

    @Test func permitIsReleasedWhenTheClientDisconnects() throws {
        let harness = try GatewayHarness(Self.call, backend: Self.queue)
        harness.on("/1", .hangs, .ok("1"))
        let first = try harness.send(get())
        let second = try harness.send(get())
        harness.pass(10)
        first.reset()
        #expect(harness.response(of: second).outcome == "200 at 10")
        harness.expectQuiet()
    }

    @Test func permitIsReleasedWhenARequiredCallFails() throws {
        let harness = try GatewayHarness(
            """
            one: { from: b, get: /1, required: true }
            two: { from: a, get: /2 }
            """, backend: Self.queue)
        harness.on("/1", .status(500, after: 10))
        harness.on("/2", .hangs)
        _ = try harness.fetch()
        #expect(try harness.load() == "0 running, 0 waiting")
        harness.expectQuiet()
    }

    @Test func disconnectedClientLeavesTheQueue() throws {
        let harness = try GatewayHarness(Self.call, backend: Self.queue)
        harness.on("/1", .ok("1", after: 100))
        let first = try harness.send(get())
        let second = try harness.send(get())
        let third = try harness.send(get())
        harness.pass(10)
        second.reset()
        harness.pass(1)
        #expect(try harness.load() == "1 running, 1 waiting")
        #expect(harness.response(of: first).outcome == "200 at 100")
        #expect(harness.response(of: third).outcome == "200 at 200")
        #expect(harness.events == ["0 GET /1", "100 GET /1"])
        harness.expectQuiet()
    }

    /// The second call gets the permit at the moment of its client's reset, in any order of the
    /// events: the third call gets the permit.
    @Test(arguments: 0...6) func permitOfADisconnectingClientPassesToTheNextCall(
        _ eventsBefore: Int
    ) throws {
        let harness = try GatewayHarness(Self.call, backend: Self.queue)
        harness.on("/1", .ok("1", after: 100), .ok("2", after: 280), .ok("3", after: 50))
        let first = try harness.send(get())
        let second = try harness.send(get())
        let third = try harness.send(get())
        func reset(after events: Int) {
            if events == 0 {
                second.reset()
            } else {
                harness.after(0) { reset(after: events - 1) }
            }
        }
        harness.after(100) { reset(after: eventsBefore) }
        #expect(harness.response(of: first).outcome == "200 at 100")
        harness.pass(300)
        #expect(third.responses.first?.status == 200)
        #expect(try harness.load() == "0 running, 0 waiting")
        harness.expectQuiet()
    }

    @Test func hedgeTakesItsOwnPermit() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, hedge: { after: 50ms } }", backend: "max_concurrent: 2")
        harness.on("/1", .hangs)
        let client = try harness.send(get())
        harness.pass(100)
        #expect(try harness.load() == "2 running, 0 waiting")
        client.reset()
        harness.pass(1)
        #expect(try harness.load() == "0 running, 0 waiting")
        harness.expectQuiet()
    }

    @Test func retryWaitsWithoutAPermit() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, retry: { attempts: 2, backoff: 200ms } }",
            backend: "max_concurrent: 1")
        harness.on("/1", .closes(after: 10), .ok("1"))
        _ = try harness.send(get())
        harness.pass(50)
        #expect(try harness.load() == "0 running, 0 waiting")
        harness.expectQuiet()
    }

    /// Many clients connect and disconnect at random; at the end no permit is held.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func allPermitsAreReleasedUnderRandomLoad(
        _ seed: UInt64
    )
        throws
    {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true, timeout: 60ms }",
            backend: "max_concurrent: 2, queue: { size: 5, wait: 40ms }", seed: seed)
        harness.randomizeLatency(upTo: 3)
        harness.on(
            "/1", .ok("1", after: 20), .closes(after: 5), .hangs, .ok("1", after: 40),
            .resets(after: 30),
            .hangs, .ok("1", after: 10))
        for _ in 1...60 {
            let client = try harness.send(get())
            let when = harness.random(below: 60)
            switch harness.random(below: 4) {
            case 0: harness.after(when) { client.reset() }
            case 1: harness.after(when) { client.leave() }
            default: break
            }
            harness.pass(Double(harness.random(below: 20)))
        }
        harness.pass(500)
        #expect(try harness.load() == "0 running, 0 waiting")
        harness.expectQuiet()
    }
}
