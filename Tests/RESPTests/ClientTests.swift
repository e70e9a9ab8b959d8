import Basics
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import RESP

/// One connection: its first commands, pipelining, time limits, and how it ends.
@Suite(.watched) struct ClientTests {
    @Test func aCommandGetsItsReply() throws {
        let harness = try ClientHarness()
        let sent = harness.send("GET", "a")
        harness.advance(1)
        #expect(sent.outcome == "+OK")
        #expect(harness.store.log == ["1: PING", "1: GET a"])
        #expect(harness.changes == [])
        harness.expectQuiet()
    }

    @Test func theFirstCommandsAreSentInOrder() throws {
        let harness = try ClientHarness { settings in
            settings.credentials = RESPCredentials(user: Bytes("limits"), password: Bytes("s p"))
            settings.database = 3
            settings.trial = RESPCommand("TRIAL", "x")
        }
        #expect(
            harness.store.log == ["1: AUTH limits s p", "1: SELECT 3", "1: PING", "1: TRIAL x"])
        #expect(harness.store.reads == [4])
        harness.expectQuiet()
    }

    @Test func aPasswordWithoutAUserIsSentAlone() throws {
        let harness = try ClientHarness { settings in
            settings.credentials = RESPCredentials(user: nil, password: Bytes("secret"))
        }
        #expect(harness.store.log == ["1: AUTH secret", "1: PING"])
        #expect("\(harness.client)".contains("secret") == false)
        #expect("\(RESPCredentials(user: nil, password: Bytes("secret")))" == "credentials")
        harness.expectQuiet()
    }

    /// Each in a write of its own would be 20 packets.
    @Test func theCommandsOfOneLoopIterationLeaveInOneWrite() throws {
        let harness = try ClientHarness()
        harness.store.clearLog()
        harness.store.script = { ":\($0[1])\r\n" }
        var sent: [SentCommand] = []
        harness.testbed.perform(on: harness.loop) {
            sent = (0..<20).map { harness.send("GET", "\($0)") }
        }
        harness.advance(1)
        #expect(harness.store.reads == [20])
        #expect(sent.map(\.outcome) == (0..<20).map { "integer(\($0))" })
        harness.expectQuiet()
    }

    @Test func commandsBeforeTheConnectionExistsWaitForIt() throws {
        let harness = try ClientHarness(starts: false)
        harness.client.start()
        let sent = [harness.send("GET", "a"), harness.send("GET", "b")]
        harness.advance(1)
        #expect(sent.map(\.outcome) == ["+OK", "+OK"])
        #expect(harness.store.log == ["1: PING", "1: GET a", "1: GET b"])
        harness.expectQuiet()
    }

    // MARK: Time

    /// The reply to `slow` arrives while `fast` waits for its own.
    @Test func aLateReplyIsNotTakenForTheNextOne() throws {
        let harness = try ClientHarness()
        harness.store.script = { _ in nil }
        let slow = harness.send("GET", "slow")
        harness.advance(50)
        #expect(slow.outcome == "no reply in time")
        let fast = harness.send("GET", "fast")
        harness.advance(10)
        harness.store.send("$4\r\nslow\r\n")
        harness.advance(10)
        #expect(fast.outcome == nil)
        harness.store.send("$4\r\nfast\r\n")
        harness.advance(1)
        #expect(fast.outcome == "fast")
        #expect(harness.changes == [])
        harness.expectQuiet()
    }

    @Test func aCommandWaitsNoLongerThanItsTimeout() throws {
        let harness = try ClientHarness()
        harness.store.script = { _ in nil }
        let start = harness.ms
        let first = harness.send("GET", "a")
        harness.advance(20)
        let second = harness.send("GET", "b")
        harness.advance(100)
        #expect(first.ms == start + 50)
        #expect(second.ms == start + 70)
        harness.expectQuiet()
    }

    @Test func aCommandMayHaveAnEarlierDeadline() throws {
        let harness = try ClientHarness()
        harness.store.script = { _ in nil }
        let start = harness.ms
        let first = harness.send("GET", "a")
        let second = harness.send("GET", "b", until: harness.loop.now + .milliseconds(10))
        harness.advance(11)
        #expect(second.ms == start + 10)
        harness.store.send("+A\r\n+B\r\n")
        harness.advance(1)
        #expect(first.outcome == "+A")
        #expect(second.outcome == "no reply in time")
        harness.advance(100)
        #expect(harness.changes == [])
        harness.expectQuiet()
    }

    @Test func theReplyToACancelledCommandIsDropped() throws {
        let harness = try ClientHarness()
        harness.store.script = { ":\($0[1])\r\n" }
        let cancelled = harness.send("GET", "1")
        cancelled.promise.cancel()
        let other = harness.send("GET", "2")
        harness.advance(1)
        #expect(cancelled.outcome == "Cancelled")
        #expect(other.outcome == "integer(2)")
        harness.expectQuiet()
    }

    // MARK: The end of a connection

    @Test func aMalformedReplyFailsAllCommandsAndMarksTheStoreAsDown() throws {
        let harness = try ClientHarness()
        harness.store.script = { _ in nil }
        let sent = [harness.send("GET", "a"), harness.send("GET", "b")]
        harness.advance(1)
        harness.store.send("HTTP/1.1 400 Bad Request\r\n")
        harness.advance(1)
        let text = "malformed reply: a value of an unknown type"
        #expect(sent.map(\.outcome) == [text, text])
        #expect(harness.changes == [text])
        #expect(harness.store.connections[0].hasEnded)
        harness.expectQuiet()
    }

    @Test func anUnsolicitedReplyMarksTheStoreAsDown() throws {
        let harness = try ClientHarness()
        harness.store.send("+hello\r\n")
        harness.advance(1)
        #expect(harness.changes == ["unsolicited reply: a value"])
        #expect(!harness.client.isUp)
        harness.expectQuiet()
    }

    /// The command is written in the loop iteration in which the reply arrives.
    @Test func aReplyBeforeItsCommandHasLeftIsUnsolicited() throws {
        let harness = try ClientHarness()
        harness.store.script = { _ in nil }
        let connection = try #require(harness.store.connections.first)
        connection.send("+early\r\n")
        var sent: SentCommand?
        // The packet arrives after 50 µs, before a timer that was created later.
        harness.loop.timer(after: .microseconds(20)) {
            harness.loop.timer(after: .microseconds(30)) { sent = harness.send("GET", "a") }
        }
        harness.advance(1)
        #expect(harness.changes == ["unsolicited reply: a value"])
        #expect(sent?.outcome == "unsolicited reply: a value")
        harness.expectQuiet()
    }

    @Test func aLostConnectionFailsItsCommandsAndIsReplaced() throws {
        let harness = try ClientHarness()
        harness.store.script = { _ in nil }
        let sent = [harness.send("GET", "a"), harness.send("GET", "b")]
        harness.advance(1)
        harness.store.connections[0].stream.close()
        harness.advance(1)
        #expect(
            sent.map(\.outcome) == Array(repeating: "the store closed the connection", count: 2))
        harness.store.script = { _ in "+OK\r\n" }
        let next = harness.send("GET", "c")
        harness.advance(1)
        #expect(next.outcome == "+OK")
        #expect(harness.store.log.last == "2: GET c")
        #expect(harness.changes == [])
        harness.expectQuiet()
    }

    @Test func aClosedClientFailsItsCommands() throws {
        let harness = try ClientHarness()
        harness.store.script = { _ in nil }
        let sent = harness.send("GET", "a")
        harness.advance(1)
        harness.client.close()
        let later = harness.send("GET", "b")
        harness.advance(1)
        #expect([sent.outcome, later.outcome] == ["closed", "closed"])
        #expect(harness.changes == [])
        harness.expectQuiet()
    }

    @Test func everySplitOfTheRepliesGivesTheSameResult() throws {
        for size in 1...9 {
            let harness = try ClientHarness()
            harness.store.script = { "*2\r\n:\($0[1])\r\n$5\r\na\r\nbc\r\n" }
            harness.network.settings.split = .sizes([size])
            harness.store.kill()
            try harness.store.listen()
            harness.advance(2_000)
            let sent = (0..<5).map { harness.send("GET", "\($0)") }
            harness.advance(5)
            #expect(
                sent.map(\.outcome)
                    == (0..<5).map { number in
                        "\(RESPValue.array([.integer(Int64(number)), .bulk(Bytes("a\r\nbc"))]))"
                    }
            )
            harness.expectQuiet()
        }
    }
}
