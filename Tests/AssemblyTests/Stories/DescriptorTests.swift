import Assembly
import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// The process runs out of file descriptors: clients wait to be accepted, calls fail with
/// `connection_limit_reached`, and backends are not blamed.
@Suite(.watched) struct DescriptorTests {
    static let failure = #"[{"call":"one","kind":"connection_limit_reached"}]"#

    // MARK: Accepting

    @Test func acceptingPausesAtTheCeilingAndResumesWhenDescriptorsAreFree() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        // The listener has one; the third client gets the descriptor at the ceiling and is the
        // last.
        harness.loop.descriptors.acceptCeiling = 3
        let clients = try (0..<4).map { _ in try harness.connect() }
        harness.pass(50)
        #expect(harness.instance?.snapshot.connections == 3)
        #expect(harness.loop.descriptors.shortages.accepts == 1)
        clients[3].send(get())
        harness.pass(1_000)
        #expect(clients[3].responses.isEmpty)
        #expect(harness.loop.descriptors.shortages.accepts == 1, "a pause counts once")

        clients[0].leave()
        harness.pass(100)
        #expect(clients[3].responses.isEmpty, "two and the one at the ceiling are still open")
        clients[1].leave()
        #expect(harness.response(of: clients[3]).status == 200)
        harness.expectQuiet()
    }

    @Test func connectedClientsAreServedWhileAcceptingIsPaused() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        // No connection to the backend is kept, so that only clients hold descriptors.
        harness.on("/1", .ok("1", "Connection: close"))
        harness.loop.descriptors.acceptCeiling = 2
        let first = try harness.connect()
        let others = try (0..<5).map { _ in try harness.connect() }
        harness.pass(10)
        for client in [first] + others { client.send(get()) }
        #expect(harness.response(of: first).status == 200)
        harness.pass(1_000)
        let waiting = others.filter(\.responses.isEmpty)
        #expect(waiting.count >= 4, "no more connections than the ceiling are accepted")
        first.leave()
        for client in others where !client.responses.isEmpty { client.leave() }
        harness.pass(1_000)
        #expect(waiting.contains { $0.responses.map(\.status) == [200] }, "accepting resumes")
        harness.expectQuiet()
    }

    // MARK: Calls

    @Test func aCallWithoutADescriptorIsConnectionLimitReached() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1, required: true }")
        let client = try harness.connect()
        harness.loop.descriptors.connectCeiling = 2
        client.send(get())
        let response = harness.response(of: client)
        #expect(response.status == 503)
        #expect(response["Retry-After"] == "1")
        #expect(response.failures == Self.failure)
        #expect(harness.seen.isEmpty)
        #expect(harness.loop.descriptors.shortages.connects == 1)
        #expect(try harness.outcomes() == "connection_limit_reached 1")

        harness.loop.descriptors.connectCeiling = .max
        client.send(get())
        #expect(harness.response(of: client).status == 200)
        harness.expectQuiet()
    }

    @Test func systemShortageIsConnectionLimitReached() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1, required: true }")
        harness.network.connectBehaviors[.ip(.v4(0x7F00_0001), port: 7001)] = .fails(
            .outOfDescriptors)
        #expect(try harness.fetch().failures == Self.failure)
        harness.network.connectBehaviors[.ip(.v4(0x7F00_0001), port: 7001)] = .fails(.outOfMemory)
        #expect(try harness.fetch().failures == Self.failure)
        // The control: a refusal by the peer keeps its kind.
        harness.network.connectBehaviors[.ip(.v4(0x7F00_0001), port: 7001)] = .fails(
            .connectionRefused)
        #expect(try harness.fetch().failures == #"[{"call":"one","kind":"connection_refused"}]"#)
        harness.expectQuiet()
    }

    @Test func aShortageIsNotRetried() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true, retry: { attempts: 3, backoff: 10ms } }")
        let client = try harness.connect()
        harness.loop.descriptors.connectCeiling = 2
        client.send(get())
        #expect(harness.response(of: client).failures == Self.failure)
        #expect(harness.loop.descriptors.shortages.connects == 1)
        harness.expectQuiet()
    }

    @Test(arguments: [true, false])
    func aShortageDoesNotOpenTheBreaker(_ isShort: Bool) throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true }",
            backend: "breaker: { open_at: 50%, min_requests: 2, try_again_after: 10s }")
        let client = try harness.connect()
        if isShort {
            harness.loop.descriptors.connectCeiling = 2
        } else {
            harness.backend()?.refuse()
        }
        for _ in 0..<5 {
            client.send(get())
            #expect(harness.response(of: client).status == (isShort ? 503 : 502) || !isShort)
        }
        #expect(try harness.isBreakerOpen() == !isShort)
        harness.expectQuiet()
    }

    @Test(arguments: [true, false])
    func aShortageDoesNotEjectAHost(_ isShort: Bool) throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true }",
            backend: "urls: [\"http://127.0.0.1:7001\", \"http://127.0.0.1:7002\"],"
                + " balance: round_robin, eject: { after: 1, for: 5s }")
        let client = try harness.connect()
        if isShort {
            harness.loop.descriptors.connectCeiling = 2
        } else {
            harness.backend(7001)?.refuse()
        }
        for _ in 0..<4 {
            client.send(get())
            _ = harness.response(of: client)
        }
        #expect(try harness.unavailableHosts() == (isShort ? 0 : 1))
        if isShort {
            #expect(
                harness.loop.descriptors.shortages.connects == 4, "the other host is not tried")
        }
        harness.expectQuiet()
    }

    @Test func healthCheckWithoutADescriptorIsIgnored() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true }", backend: "health: { path: /up, every: 1s }"
        )
        harness.on("/up", .closes())
        harness.pass(500)
        harness.loop.descriptors.connectCeiling = 0
        harness.pass(5_000)
        #expect(harness.loop.descriptors.shortages.connects >= 4)
        #expect(try harness.unavailableHosts() == 0)
        // The control: one failed check before and one after make two.
        harness.loop.descriptors.connectCeiling = .max
        harness.pass(1_000)
        #expect(try harness.unavailableHosts() == 1)
        harness.expectQuiet()
    }

    // MARK: Report

    @Test func shortagesAreLoggedAtMostEveryTenSeconds() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1, required: true }")
        let client = try harness.connect()
        harness.loop.descriptors.connectCeiling = 2
        let fail = { (count: Int) in
            for _ in 0..<count {
                client.send(get())
                _ = harness.response(of: client)
            }
        }
        let lines = { harness.logged.filter { $0.contains(#""msg":"out of file descriptors""#) } }
        fail(3)
        #expect(lines().count == 1)
        #expect(
            lines().first?.contains(
                #""level":"warning","msg":"out of file descriptors","accepting_paused":0,"connections_not_opened":1"#
            ) == true)
        harness.pass(9_900)
        fail(1)
        #expect(lines().count == 1)
        harness.pass(100)
        fail(1)
        #expect(lines().count == 2)
        #expect(lines().last?.contains(#""connections_not_opened":4"#) == true)
        #expect(harness.instance?.snapshot.descriptorShortages.connects == 5)
        harness.expectQuiet()
    }
}
