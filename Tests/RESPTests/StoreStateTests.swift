import Basics
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import RESP

/// When the store is down, and when it is up again.
@Suite(.watched) struct StoreStateTests {
    @Test func threeTimeoutsInARowMarkTheStoreAsDown() throws {
        let harness = try ClientHarness()
        harness.store.script = { _ in nil }
        for count in 1...3 {
            #expect(harness.client.isUp, "\(count)")
            _ = harness.send("GET", "a")
            harness.advance(51)
        }
        #expect(harness.changes == ["no reply in time"])
        let sent = harness.send("GET", "b")
        let start = harness.ms
        harness.advance(1)
        #expect(sent.outcome == "the store is down")
        #expect(sent.ms == start)
        harness.expectQuiet()
    }

    @Test func aReplyInTimeStartsTheCountAgain() throws {
        let harness = try ClientHarness()
        for _ in 1...5 {
            harness.store.script = { _ in nil }
            let failed = [harness.send("GET", "a"), harness.send("GET", "a")]
            harness.advance(51)
            #expect(failed.map(\.outcome) == ["no reply in time", "no reply in time"])
            harness.store.script = { _ in "+OK\r\n" }
            harness.store.send("+late\r\n+late\r\n")
            harness.advance(1)
            let sent = harness.send("GET", "b")
            harness.advance(1)
            #expect(sent.outcome == "+OK")
        }
        #expect(harness.changes == [])
        harness.expectQuiet()
    }

    @Test(arguments: [
        "LOADING Redis is loading the dataset in memory", "READONLY You can't write", "OOM command",
        "MISCONF Redis is configured", "CLUSTERDOWN The cluster is down",
        "MOVED 3999 127.0.0.1:6381",
        "NOAUTH Authentication required.", "WRONGPASS invalid", "NOPERM this user",
        "ERR max number of clients reached",
    ])
    func anErrorThatMeansAnOutageMarksTheStoreAsDownAtOnce(_ text: String) throws {
        let harness = try ClientHarness()
        harness.store.script = { _ in "-\(text)\r\n" }
        let sent = [harness.send("GET", "a"), harness.send("GET", "b")]
        harness.advance(1)
        #expect(sent[0].outcome == "-\(text)")
        #expect(harness.changes == [text])
        harness.expectQuiet()
    }

    /// The positive control of the list.
    @Test func anUnknownScriptIsNoFailureAndOtherErrorsAreAfterThree() throws {
        let harness = try ClientHarness()
        harness.store.script = { _ in "-NOSCRIPT No matching script.\r\n" }
        for _ in 1...5 { _ = harness.send("EVALSHA", "a") }
        harness.advance(1)
        #expect(harness.changes == [])
        harness.store.script = { _ in "-ERR unknown command\r\n" }
        for count in 1...3 {
            #expect(harness.changes == [], "\(count)")
            _ = harness.send("EVALSHA", "a")
            harness.advance(1)
        }
        #expect(harness.changes == ["ERR unknown command"])
        harness.expectQuiet()
    }

    // MARK: Connecting

    @Test func aRefusedConnectionMarksTheStoreAsDown() throws {
        let harness = try ClientHarness(starts: false, listens: false)
        harness.client.start()
        let sent = harness.send("GET", "a")
        harness.advance(1)
        #expect(harness.changes == ["connection refused"])
        #expect(sent.outcome == "the store is down")
        harness.expectQuiet()
    }

    @Test func aRefusedFirstCommandMarksTheStoreAsDown() throws {
        let harness = try ClientHarness(starts: false)
        harness.store.scriptsFirstCommands = true
        harness.store.script = { _ in "-NOAUTH Authentication required.\r\n" }
        harness.client.start()
        harness.advance(1)
        #expect(harness.changes == ["NOAUTH Authentication required."])
        harness.expectQuiet()
    }

    /// Redis sends it on connect and closes.
    @Test func aGreetingWithAnErrorMarksTheStoreAsDown() throws {
        let harness = try ClientHarness(starts: false)
        harness.store.greeting = "-ERR max number of clients reached\r\n"
        harness.client.start()
        harness.advance(1)
        let change = try #require(harness.changes.first)
        #expect(change.hasSuffix("ERR max number of clients reached"))
        #expect(!harness.client.isUp)
        harness.expectQuiet()
    }

    @Test func aConnectionThatIsNotMadeInTimeMarksTheStoreAsDown() throws {
        let harness = try ClientHarness(starts: false)
        harness.network.connectBehaviors[ClientHarness.address] = .silent
        harness.client.start()
        harness.advance(999)
        #expect(harness.changes == [])
        harness.advance(2)
        #expect(harness.changes == ["no connection in time"])
        harness.expectQuiet()
    }

    /// A frozen process: the kernel accepts the connection.
    @Test func aStoreThatNeverRepliesToItsFirstCommandsIsDown() throws {
        let harness = try ClientHarness(starts: false)
        harness.store.scriptsFirstCommands = true
        harness.store.script = { _ in nil }
        harness.client.start()
        harness.advance(1_001)
        #expect(harness.changes == ["no connection in time"])
        harness.expectQuiet()
    }

    @Test func aNameWithSeveralAddressesIsTriedInOrder() throws {
        let harness = try ClientHarness(
            { $0.destination = .host("store.internal", port: 6379) }, starts: false)
        harness.network.names["store.internal"] = .addresses([.v4(0x0A00_0001), .v4(0x7F00_0001)])
        harness.network.connectBehaviors[.ip(.v4(0x0A00_0001), port: 6379)] = .silent
        harness.client.start()
        harness.advance(499)
        #expect(harness.store.log == [])
        harness.advance(3)
        #expect(harness.store.log == ["1: PING"])
        harness.expectQuiet()
    }

    @Test func anUnknownNameMarksTheStoreAsDown() throws {
        let harness = try ClientHarness(
            { $0.destination = .host("missing.internal", port: 6379) }, starts: false)
        harness.client.start()
        harness.advance(10)
        #expect(harness.changes == ["host not found"])
        harness.expectQuiet()
    }

    // MARK: Probes

    @Test func oneProbeASecondFindsTheStoreAgain() throws {
        let harness = try ClientHarness()
        harness.store.kill()
        harness.advance(5)
        #expect(harness.changes.count == 1)
        harness.advance(2_500)
        try harness.store.listen()
        harness.store.clearLog()
        harness.advance(1_000)
        #expect(harness.changes.last == "up")
        #expect(harness.store.log == ["2: PING"])
        let sent = harness.send("GET", "a")
        harness.advance(1)
        #expect(sent.outcome == "+OK")
        harness.expectQuiet()
    }

    @Test func aStoreThatRefusesTheTrialStaysDownWithoutFurtherChanges() throws {
        let harness = try ClientHarness({ $0.trial = RESPCommand("TRIAL") })
        harness.store.scriptsFirstCommands = true
        harness.store.script = { words in
            words[0] == "PING" ? "+PONG\r\n" : "-READONLY You can't write\r\n"
        }
        _ = harness.send("GET", "a")
        harness.advance(1)
        harness.store.clearLog()
        harness.advance(5_000)
        #expect(harness.changes == ["READONLY You can't write"])
        #expect(harness.store.log.count { $0.hasSuffix("PING") } == 5)
        harness.store.script = { ScriptedStore.firstReplies[$0[0]] }
        harness.advance(1_000)
        #expect(harness.changes.last == "up")
        harness.expectQuiet()
    }

    /// It would be up and down in turn, and requests would wait for it.
    @Test func aStoreThatIsSlowerThanTheTimeoutStaysDown() throws {
        let harness = try ClientHarness()
        let store = harness.store
        store.scriptsFirstCommands = true
        store.script = { _ in
            harness.after(80) { store.send("+PONG\r\n") }
            return nil
        }
        for _ in 1...3 { _ = harness.send("GET", "a") }
        harness.advance(10_000)
        #expect(harness.changes == ["no reply in time"])
        store.script = { ScriptedStore.firstReplies[$0[0]] }
        harness.advance(1_000)
        #expect(harness.changes == ["no reply in time", "up"])
        harness.expectQuiet()
    }

    /// The trial would otherwise take the second PONG for its reply.
    @Test func aStoreThatRepeatsItsRepliesIsNotUsed() throws {
        let harness = try ClientHarness({ $0.trial = RESPCommand("TRIAL") }, starts: false)
        harness.store.scriptsFirstCommands = true
        harness.store.script = { words in
            ScriptedStore.firstReplies[words[0]].map { $0 + $0 }
        }
        harness.client.start()
        harness.advance(5_000)
        #expect(harness.changes == ["a reply that does not belong to its command"])
        harness.expectQuiet()
    }

    @Test func probesOfAFrozenStoreLeaveNothingOpen() throws {
        let harness = try ClientHarness()
        harness.store.scriptsFirstCommands = true
        harness.store.script = { _ in nil }
        for _ in 1...3 { _ = harness.send("GET", "a") }
        harness.advance(30_000)
        #expect(harness.changes == ["no reply in time"])
        #expect((29...32).contains(harness.store.connections.count))
        #expect(harness.store.connections.count { !$0.hasEnded } <= 1)
        harness.expectQuiet()
    }

    @Test func aStoreThatClosesEveryConnectionIsDownAfterThree() throws {
        let harness = try ClientHarness()
        let store = harness.store
        store.script = { _ in
            for peer in store.connections { peer.stream.close() }
            return nil
        }
        for _ in 1...3 {
            _ = harness.send("GET", "a")
            harness.advance(1)
        }
        #expect(harness.changes == ["the store closed the connection"])
        #expect(store.connections.count == 3)
        harness.expectQuiet()
    }
}
