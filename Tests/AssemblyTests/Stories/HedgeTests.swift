import TestSupport
import Testing
import WorkerSupport

/// `hedge`: without a response after a delay a second request is sent; the first response wins.
@Suite(.watched) struct HedgeTests {
    private func harness(_ replies: [Reply], more: String = "", backend: String = "") throws
        -> GatewayHarness
    {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true, hedge: { after: 100ms }\(more) }",
            backend: backend)
        harness.on("/1", replies)
        return harness
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let replies: [Reply]
        let outcome: String
        let events: [String]

        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(
            name: "a fast response needs no second request", replies: [.ok("1", after: 99)],
            outcome: "200 at 99", events: ["0 GET /1"]),
        Row(
            name: "the second wins, the first is closed",
            replies: [.ok("1", after: 500), .ok("2", after: 50)],
            outcome: "200 at 150", events: ["0 GET /1", "100 GET /1", "150 cancelled /1"]),
        Row(
            name: "the first wins, the second is closed",
            replies: [.ok("1", after: 120), .ok("2", after: 500)],
            outcome: "200 at 120", events: ["0 GET /1", "100 GET /1", "120 cancelled /1"]),
        Row(
            name: "a failure before the second request is the failure",
            replies: [.closes(after: 50), .ok("2")],
            outcome: "502 at 50", events: ["0 GET /1"]),
        Row(
            name: "the first fails late, the second succeeds",
            replies: [.closes(after: 150), .ok("2", after: 100)],
            outcome: "200 at 200", events: ["0 GET /1", "100 GET /1"]),
        Row(
            name: "the second fails, the first succeeds",
            replies: [.ok("1", after: 200), .closes(after: 20)],
            outcome: "200 at 200", events: ["0 GET /1", "100 GET /1"]),
        Row(
            name: "both fail, the first one later",
            replies: [.closes(after: 200), .closes(after: 20)],
            outcome: "502 at 200", events: ["0 GET /1", "100 GET /1"]),
        Row(
            name: "both fail, the second one later",
            replies: [.closes(after: 150), .closes(after: 100)],
            outcome: "502 at 200", events: ["0 GET /1", "100 GET /1"]),
        Row(
            name: "the second cannot be served, the first succeeds",
            replies: [.ok("1", after: 200), .status(503)],
            outcome: "200 at 200", events: ["0 GET /1", "100 GET /1"]),
        Row(
            name: "the first cannot be served, the second succeeds later",
            replies: [.status(429, after: 120), .ok("2", after: 100)],
            outcome: "200 at 200", events: ["0 GET /1", "100 GET /1"]),
        Row(
            name: "neither can be served",
            replies: [.status(503, after: 200), .status(500)],
            outcome: "502 at 200", events: ["0 GET /1", "100 GET /1"]),
        Row(
            name: "a status that is not a server error decides",
            replies: [.ok("1", after: 200), .status(404)],
            outcome: "404 at 100", events: ["0 GET /1", "100 GET /1", "100 cancelled /1"]),
    ]

    /// An accepted server error is a response like others.
    @Test func acceptedServerErrorDecides() throws {
        let harness = try harness(
            [.ok("1", after: 200), .status(503)], more: ", accept: [200, 503]")
        #expect(try harness.fetch().outcome == "200 at 100")
        harness.expectQuiet()
    }

    @Test(arguments: rows) func firstResponseWins(_ row: Row) throws {
        let harness = try harness(row.replies)
        let outcome = try harness.fetch().outcome
        #expect(outcome == row.outcome)
        #expect(harness.events == row.events)
        harness.expectQuiet()
    }

    @Test func timeoutCancelsBothRequests() throws {
        let harness = try harness([.hangs], more: ", timeout: 300ms")
        #expect(try harness.fetch().outcome == "504 at 300")
        #expect(
            harness.events == ["0 GET /1", "100 GET /1", "300 cancelled /1", "300 cancelled /1"])
        harness.expectQuiet()
    }

    @Test func clientDisconnectCancelsBothRequests() throws {
        let harness = try harness([.hangs])
        let client = try harness.send(get())
        harness.pass(150)
        client.reset()
        harness.pass(1)
        #expect(
            harness.events == ["0 GET /1", "100 GET /1", "150 cancelled /1", "150 cancelled /1"])
        harness.expectQuiet()
    }

    @Test func secondRequestWithoutAPermitLeavesTheFirstRunning() throws {
        let harness = try harness([.ok("1", after: 200)], backend: "max_concurrent: 1")
        #expect(try harness.fetch().outcome == "200 at 200")
        #expect(harness.events == ["0 GET /1"])
        harness.expectQuiet()
    }

    /// The permit that the first response releases goes to the second request, which the same
    /// response cancels.
    @Test(arguments: ["", ", retry: { attempts: 3 }"])
    func secondRequestInTheQueueIsNotSentAfterTheFirstResponse(_ retry: String) throws {
        let harness = try harness(
            [.ok("1", after: 200)], more: retry,
            backend: "max_concurrent: 1, queue: { size: 1, wait: 2s }")
        #expect(try harness.fetch().outcome == "200 at 200")
        #expect(try harness.fetch().outcome == "200 at 200")
        #expect(harness.events == ["0 GET /1", "200 GET /1"])
        #expect(harness.seen.map(\.connection) == [1, 1])
        harness.expectQuiet()
    }

    @Test func secondRequestInTheQueueIsSentWithThePermitOfAnotherCall() throws {
        let harness = try harness(
            [.ok("1", after: 500), .ok("2", after: 150), .ok("3", after: 20)],
            backend: "max_concurrent: 2, queue: { size: 2, wait: 2s }")
        let clients = [try harness.send(get()), try harness.send(get())]
        harness.pass(200)
        #expect(
            clients.compactMap { $0.responses.first?.summary } == [
                #"200 at 170 {"one":3}"#, #"200 at 150 {"one":2}"#,
            ])
        #expect(
            harness.events == ["0 GET /1", "0 GET /1", "150 GET /1", "170 cancelled /1"])
        #expect(harness.seen.map(\.connection) == [1, 2, 2])
        harness.expectQuiet()
    }

    @Test func hedgedCallIsCountedOnce() throws {
        let harness = try harness([.ok("1", after: 500), .ok("2", after: 50)])
        _ = try harness.fetch()
        #expect(try harness.outcomes() == "ok 1")
        harness.expectQuiet()
    }
}
