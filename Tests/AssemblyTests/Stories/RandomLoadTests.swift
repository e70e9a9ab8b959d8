import TestSupport
import Testing
import WorkerSupport

/// All features at once with random clients and backends: each request has at most one response,
/// and at the end nothing is left. A failing seed reproduces the whole test.
@Suite(.watched) struct RandomLoadTests {
    static func config(_ deadline: Int) -> String {
        GatewayHarness.text(
            """
            one: { from: a, get: /1, timeout: 60ms, hedge: { after: 20ms } }
            two: { from: a, get: /2, retry: { attempts: 3, backoff: 5ms, on: [connect, terminated, 503] } }
            three: { from: b, get: "/3/{one.id}", required: true }
            four: { from: c, get: "/4/{two.id}/{three}", if_failed: omit, at: . }
            """,
            "route: POST /x\ndeadline: \(deadline)ms\nmin_duration: 30ms\nmax_in_flight: 12",
            """
            max_concurrent: 3, queue: { size: 4, wait: 15ms }, \
            breaker: { open_at: 80%, min_requests: 10, try_again_after: 50ms }
            """)
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>) func everyRequestEndsOnceUnderRandomLoad(
        _ seed: UInt64
    ) throws {
        let harness = try GatewayHarness(config: Self.config(90), seed: seed)
        harness.randomizeLatency(upTo: 4)
        script(harness)
        var (clients, staying): ([ScriptedClient], [ScriptedClient]) = ([], [])
        for number in 1...80 {
            let (client, leaves) = try client(harness)
            clients.append(client)
            if !leaves { staying.append(client) }
            harness.pass(Double(harness.random(below: 12)))
            if number % 25 == 0 { try harness.install(Self.config(80 + number)) }
        }
        harness.pass(1000)
        let statuses = clients.flatMap { $0.responses.map(\.status) }
        #expect(clients.allSatisfy { $0.responses.count <= 1 })
        #expect(staying.count >= 30)
        #expect(staying.allSatisfy { $0.responses.count == 1 })
        #expect(Set(statuses).isSubset(of: [200, 502, 503, 504]), "\(statuses)")
        #expect(statuses.contains(200) && Set(statuses).count > 1, "\(statuses)")
        for backend in ["a", "b", "c"] {
            #expect(try harness.load(of: backend) == "0 running, 0 waiting")
        }
        harness.expectQuiet()
    }

    /// A client that may send its body slowly and may disconnect at any time; and whether it does.
    private func client(_ harness: GatewayHarness) throws -> (ScriptedClient, leaves: Bool) {
        let client = try harness.send(request("POST", "/x", ["Content-Length: 2"]))
        harness.after(harness.random(below: 10)) { client.send("{}") }
        let when = harness.random(below: 90)
        let ending = harness.random(below: 5)
        switch ending {
        case 0: harness.after(when) { client.reset() }
        case 1: harness.after(when) { client.leave() }
        default: break
        }
        return (client, ending < 2)
    }

    /// Mostly successful replies, and every kind of failure.
    private func script(_ harness: GatewayHarness) {
        for target in ["/1", "/2"] {
            harness.on(target, (0..<400).map { _ in reply(harness, #"{"id":7}"#) })
        }
        harness.on("/3/7", (0..<200).map { _ in reply(harness, "5") })
        harness.on("/4/7/5", (0..<200).map { _ in reply(harness, #"{"four":4}"#) })
    }

    private func reply(_ harness: GatewayHarness, _ body: String) -> Reply {
        let after = harness.random(below: 40)
        return switch harness.random(below: 16) {
        case 0: .hangs
        case 1: .closes(after: after)
        case 2: .resets(after: after)
        case 3: .breaksOff(after: after)
        case 4: .status(503, after: after)
        case 5: .raw("no HTTP\r\n\r\n", after: after)
        case 6: .ok("{", after: after)
        default: .ok(body, after: after)
        }
    }
}
