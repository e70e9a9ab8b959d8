import Basics
import HTTP
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// An idle connection may fail at the moment of its reuse. The client then resends the request on a
/// new connection, if that is safe.
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

    /// Responds to the first request of a connection and breaks it at the second.
    private func harness(breaking: Break, fromConnection last: Int = 1) throws -> PoolHarness {
        try PoolHarness { exchange in
            if exchange.turn == 1, exchange.connection <= last {
                exchange.respond(exchange.path)
            } else {
                breaking(exchange.peer)
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
        let harness = try PoolHarness { exchange in breaking(exchange.peer) }
        #expect(harness.outcome() == "connectionTerminated")
        #expect(harness.backend.log == ["1.1 /"])
        harness.expectQuiet()
    }

    @Test(arguments: Break.allCases, ["H", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\n"])
    func neverResendsAfterTheFirstByteOfTheResponse(_ breaking: Break, _ start: String) throws {
        let harness = try PoolHarness { exchange in
            if exchange.turn == 1 { return exchange.respond(exchange.path) }
            exchange.peer.send(start)
            breaking(exchange.peer)
        }
        #expect(harness.outcome(.get, "/a") == "200 /a")
        #expect(harness.outcome(.get, "/b") == "responseIncomplete")
        #expect(harness.backend.log == ["1.1 /a", "1.2 /b"])
        harness.expectQuiet()
    }

    /// Unsolicited data has arrived when the request is written, and is read before the request is
    /// offered to the network. It is therefore not its response, and the backend cannot have
    /// received the request, which is resent on another connection.
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
        var sent: SentRequest?
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
        let harness = try PoolHarness(settings) { exchange in
            exchange.path == "/b" && exchange.turn > 1
                ? exchange.peer.stream.close() : exchange.respond(exchange.path)
        }
        let sent = ["/a", "/b", "/c"].map { harness.send(.get, $0) }
        #expect(sent.map { harness.outcome(of: $0) } == ["200 /a", "200 /b", "200 /c"])
        #expect(harness.backend.log == ["1.1 /a", "1.2 /b", "2.1 /b", "2.2 /c"])
        harness.expectQuiet()
    }

    @Test func backendThatClosesAfterEachResponseServesAllRequests() throws {
        let harness = try PoolHarness { exchange in
            exchange.respond(exchange.path)
            exchange.peer.stream.close()
        }
        for turn in 0..<40 { #expect(harness.outcome(.get, "/\(turn)") == "200 /\(turn)") }
        harness.expectQuiet()
    }
}
