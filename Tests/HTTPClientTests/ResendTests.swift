import Basics
import HTTP
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// A kept connection may break at the very moment when it is used again. That is nobody's fault,
/// so a request that does no harm goes out once more, on a fresh connection.
@Suite struct ResendTests {
    /// How a backend breaks a connection.
    enum Break: CaseIterable {
        case close, reset

        func callAsFunction(_ peer: ScriptedPeer) {
            switch self {
            case .close: peer.stream.close()
            case .reset: (peer.stream as? SimStream)?.reset()
            }
        }
    }

    /// Answers the first request of a connection, breaks it at the second.
    private func harness(breaking: Break, fromConnection last: Int = 1) throws -> PoolHarness {
        try PoolHarness { asked in
            if asked.turn == 1, asked.connection <= last {
                asked.answer(asked.path)
            } else {
                breaking(asked.peer)
            }
        }
    }

    @Test(arguments: Break.allCases, [HTTP.Method.get, .head, .put, .delete])
    func resendsAnIdempotentRequestWhenAReusedConnectionBreaks(
        _ breaking: Break, _ method: HTTP.Method
    ) throws {
        let harness = try harness(breaking: breaking, fromConnection: 2)
        #expect(harness.outcome(.get, "/a") == "200 /a")
        #expect(harness.outcome(method, "/b") == (method == .head ? "200 " : "200 /b"))
        #expect(harness.backend.log == ["1.1 /a", "1.2 /b", "2.1 /b"])
        harness.expectQuiet()
    }

    @Test(arguments: Break.allCases, [HTTP.Method.post, .patch])
    func neverResendsANonIdempotentRequest(_ breaking: Break, _ method: HTTP.Method) throws {
        let harness = try harness(breaking: breaking, fromConnection: 2)
        #expect(harness.outcome(.get, "/a") == "200 /a")
        #expect(harness.outcome(method, "/b", body: "{}") == "connectionTerminated")
        #expect(harness.backend.log == ["1.1 /a", "1.2 /b"])
        harness.expectQuiet()
    }

    @Test(arguments: Break.allCases)
    func resendsAtMostOnce(_ breaking: Break) throws {
        let harness = try harness(breaking: breaking)
        #expect(harness.outcome(.get, "/a") == "200 /a")
        #expect(harness.outcome(.get, "/b") == "connectionTerminated")
        #expect(harness.backend.log == ["1.1 /a", "1.2 /b", "2.1 /b"])
        harness.expectQuiet()
    }

    @Test(arguments: Break.allCases)
    func neverResendsAfterTheLossOfANewConnection(_ breaking: Break) throws {
        let harness = try PoolHarness { asked in breaking(asked.peer) }
        #expect(harness.outcome() == "connectionTerminated")
        #expect(harness.backend.log == ["1.1 /"])
        harness.expectQuiet()
    }

    @Test(arguments: Break.allCases, ["H", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\n"])
    func neverResendsAfterTheFirstByteOfTheResponse(_ breaking: Break, _ start: String) throws {
        let harness = try PoolHarness { asked in
            if asked.turn == 1 { return asked.answer(asked.path) }
            asked.peer.send(start)
            breaking(asked.peer)
        }
        #expect(harness.outcome(.get, "/a") == "200 /a")
        #expect(harness.outcome(.get, "/b") == "responseIncomplete")
        #expect(harness.backend.log == ["1.1 /a", "1.2 /b"])
        harness.expectQuiet()
    }

    /// A word that nobody asked for is here when the request is written, and is read before the request
    /// is offered to the network: whatever it looks like, it is no answer, and the request, which
    /// nobody can have seen, goes out on another connection and there only.
    @Test(
        arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong", "?"],
        [HTTP.Method.get, .post])
    func resendsElsewhereWhenUnsolicitedDataPrecedesTheRequest(
        _ word: String, _ method: HTTP.Method
    ) throws {
        let harness = try PoolHarness()
        #expect(harness.outcome(.get, "/a") == "200 /a")
        let latency = harness.network.settings.latency.upperBound
        harness.backendLoop.timer(after: .zero) { [peer = harness.backend.peers[0]] in
            peer.send(word)
        }
        harness.network.advance(by: latency / 2)
        var sent: Sent?
        harness.loop.timer(after: latency / 2) { [unowned harness] in
            sent = harness.send(method, "/b")
        }
        harness.network.run(until: { sent?.outcome != nil })
        #expect(sent?.outcome == "200 /b")
        #expect(harness.backend.log == ["1.1 /a", "2.1 /b"])
        harness.expectQuiet()
    }

    @Test func resendReportsARefusedConnection() throws {
        let harness = try harness(breaking: .close)
        #expect(harness.outcome(.get, "/a") == "200 /a")
        harness.backend.script = { [backend = harness.backend] _ in backend.close() }
        #expect(harness.outcome(.get, "/b") == "connectionRefused")
        harness.expectQuiet()
    }

    @Test func resendKeepsItsPositionAtTheConnectionLimit() throws {
        var settings = PoolSettings()
        settings.maxConnections = 1
        let harness = try PoolHarness(settings) { asked in
            asked.path == "/b" && asked.turn > 1
                ? asked.peer.stream.close() : asked.answer(asked.path)
        }
        let sent = ["/a", "/b", "/c"].map { harness.send(.get, $0) }
        #expect(sent.map { harness.outcome(of: $0) } == ["200 /a", "200 /b", "200 /c"])
        #expect(harness.backend.log == ["1.1 /a", "1.2 /b", "2.1 /b", "2.2 /c"])
        harness.expectQuiet()
    }

    @Test func backendThatClosesAfterEachResponseServesAllRequests() throws {
        let harness = try PoolHarness { asked in
            asked.answer(asked.path)
            asked.peer.stream.close()
        }
        for turn in 0..<40 { #expect(harness.outcome(.get, "/\(turn)") == "200 /\(turn)") }
        harness.expectQuiet()
    }
}
