import Assembly
import Reactor
import SimReactor
import TestSupport
import Testing

/// The process runs short of file descriptors: clients wait to be accepted, calls fail as what they
/// are, and nothing is held against the backends.
@Suite(.watched) struct DescriptorTests {
    static let failure = #"[{"call":"one","kind":"connection_limit_reached"}]"#

    // MARK: Accepting

    @Test func acceptingPausesAtTheCeilingAndResumesWhenDescriptorsAreFree() throws {
        let stage = try Stage("one: { from: a, get: /1 }")
        // The listener is one; the third client gets the number at the ceiling and is the last.
        stage.loop.descriptors.acceptCeiling = 3
        let clients = try (0..<4).map { _ in try stage.connect() }
        stage.pass(50)
        #expect(stage.core?.snapshot.connections == 3)
        #expect(stage.loop.descriptors.shortages.accepts == 1)
        clients[3].send(get())
        stage.pass(1_000)
        #expect(clients[3].answers.isEmpty)
        #expect(stage.loop.descriptors.shortages.accepts == 1, "a pause counts once")

        clients[0].leave()
        stage.pass(100)
        #expect(clients[3].answers.isEmpty, "two are open still, and the ceiling's one: full")
        clients[1].leave()
        #expect(stage.answer(of: clients[3]).status == 200)
        stage.expectQuiet()
    }

    @Test func clientsThatAreConnectedAreServedWhileAcceptingIsPaused() throws {
        let stage = try Stage("one: { from: a, get: /1 }")
        // No connection to the backend stays, so that only clients hold descriptors.
        stage.on("/1", .ok("1", "Connection: close"))
        stage.loop.descriptors.acceptCeiling = 2
        let first = try stage.connect()
        let others = try (0..<5).map { _ in try stage.connect() }
        stage.pass(10)
        for client in [first] + others { client.send(get()) }
        #expect(stage.answer(of: first).status == 200)
        stage.pass(1_000)
        let waiting = others.filter(\.answers.isEmpty)
        #expect(waiting.count >= 4, "no more connections than the ceiling are accepted")
        first.leave()
        for client in others where !client.answers.isEmpty { client.leave() }
        stage.pass(1_000)
        #expect(waiting.contains { $0.answers.map(\.status) == [200] }, "accepting goes on")
        stage.expectQuiet()
    }

    // MARK: Calls

    @Test func aCallWithoutADescriptorIsConnectionLimitReached() throws {
        let stage = try Stage("one: { from: a, get: /1, required: true }")
        let client = try stage.connect()
        stage.loop.descriptors.connectCeiling = 2
        client.send(get())
        let answer = stage.answer(of: client)
        #expect(answer.status == 503)
        #expect(answer["Retry-After"] == "1")
        #expect(answer.failures == Self.failure)
        #expect(stage.seen.isEmpty)
        #expect(stage.loop.descriptors.shortages.connects == 1)
        #expect(try stage.outcomes() == "connection_limit_reached 1")

        stage.loop.descriptors.connectCeiling = .max
        client.send(get())
        #expect(stage.answer(of: client).status == 200)
        stage.expectQuiet()
    }

    @Test func whatTheSystemRefusesIsConnectionLimitReached() throws {
        let stage = try Stage("one: { from: a, get: /1, required: true }")
        stage.network.fates[.ip(.v4(0x7F00_0001), port: 7001)] = .fails(.outOfDescriptors)
        #expect(try stage.ask().failures == Self.failure)
        stage.network.fates[.ip(.v4(0x7F00_0001), port: 7001)] = .fails(.outOfMemory)
        #expect(try stage.ask().failures == Self.failure)
        // The control: a refusal by the other side keeps its name.
        stage.network.fates[.ip(.v4(0x7F00_0001), port: 7001)] = .fails(.connectionRefused)
        #expect(try stage.ask().failures == #"[{"call":"one","kind":"connection_refused"}]"#)
        stage.expectQuiet()
    }

    @Test func aShortageIsNotRetried() throws {
        let stage = try Stage(
            "one: { from: a, get: /1, required: true, retry: { attempts: 3, backoff: 10ms } }")
        let client = try stage.connect()
        stage.loop.descriptors.connectCeiling = 2
        client.send(get())
        #expect(stage.answer(of: client).failures == Self.failure)
        #expect(stage.loop.descriptors.shortages.connects == 1)
        stage.expectQuiet()
    }

    @Test(arguments: [true, false])
    func aShortageDoesNotOpenTheBreaker(_ isShort: Bool) throws {
        let stage = try Stage(
            "one: { from: a, get: /1, required: true }",
            backend: "breaker: { open_at: 50%, min_requests: 2, try_again_after: 10s }")
        let client = try stage.connect()
        if isShort {
            stage.loop.descriptors.connectCeiling = 2
        } else {
            stage.backend()?.refuse()
        }
        for _ in 0..<5 {
            client.send(get())
            #expect(stage.answer(of: client).status == (isShort ? 503 : 502) || !isShort)
        }
        #expect(try stage.isBreakerOpen() == !isShort)
        stage.expectQuiet()
    }

    @Test(arguments: [true, false])
    func aShortageDoesNotEjectAHost(_ isShort: Bool) throws {
        let stage = try Stage(
            "one: { from: a, get: /1, required: true }",
            backend: "urls: [\"http://127.0.0.1:7001\", \"http://127.0.0.1:7002\"],"
                + " balance: round_robin, eject: { after: 1, for: 5s }")
        let client = try stage.connect()
        if isShort {
            stage.loop.descriptors.connectCeiling = 2
        } else {
            stage.backend(7001)?.refuse()
        }
        for _ in 0..<4 {
            client.send(get())
            _ = stage.answer(of: client)
        }
        #expect(try stage.leftOut() == (isShort ? 0 : 1))
        if isShort {
            #expect(
                stage.loop.descriptors.shortages.connects == 4, "the other host is not tried")
        }
        stage.expectQuiet()
    }

    @Test func aHealthCheckWithoutADescriptorSaysNothingAboutTheHost() throws {
        let stage = try Stage(
            "one: { from: a, get: /1, required: true }", backend: "health: { path: /up, every: 1s }"
        )
        stage.on("/up", .closes())
        stage.pass(500)
        stage.loop.descriptors.connectCeiling = 0
        stage.pass(5_000)
        #expect(stage.loop.descriptors.shortages.connects >= 4)
        #expect(try stage.leftOut() == 0)
        // The control: a bad check each from before and after make two.
        stage.loop.descriptors.connectCeiling = .max
        stage.pass(1_000)
        #expect(try stage.leftOut() == 1)
        stage.expectQuiet()
    }

    // MARK: Report

    @Test func shortagesAreLoggedAtMostEveryTenSeconds() throws {
        let stage = try Stage("one: { from: a, get: /1, required: true }")
        let client = try stage.connect()
        stage.loop.descriptors.connectCeiling = 2
        let fail = { (count: Int) in
            for _ in 0..<count {
                client.send(get())
                _ = stage.answer(of: client)
            }
        }
        let lines = { stage.logged.filter { $0.contains("out of file descriptors") } }
        fail(3)
        #expect(lines().count == 1)
        #expect(
            lines().first?.contains(
                #""level":"warning","msg":"out of file descriptors","accepting_paused":0,"connections_not_opened":1"#
            ) == true)
        stage.pass(10_000)
        fail(1)
        #expect(lines().count == 2)
        #expect(lines().last?.contains(#""connections_not_opened":3"#) == true)
        #expect(stage.core?.snapshot.descriptorShortages.connects == 4)
        stage.expectQuiet()
    }
}
