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
    private func scene(breaking: Break, fromConnection last: Int = 1) throws -> Scene {
        try Scene { asked in
            if asked.turn == 1, asked.connection <= last {
                asked.answer(asked.path)
            } else {
                breaking(asked.peer)
            }
        }
    }

    @Test(arguments: Break.allCases, [HTTP.Method.get, .head, .put, .delete])
    func aKeptConnectionThatBreaksCostsNothing(_ breaking: Break, _ method: HTTP.Method) throws {
        let scene = try scene(breaking: breaking, fromConnection: 2)
        #expect(scene.outcome(.get, "/a") == "200 /a")
        #expect(scene.outcome(method, "/b") == (method == .head ? "200 " : "200 /b"))
        #expect(scene.backend.log == ["1.1 /a", "1.2 /b", "2.1 /b"])
        scene.expectQuiet()
    }

    @Test(arguments: Break.allCases, [HTTP.Method.post, .patch])
    func whatMightDoHarmTwiceIsNeverSentTwice(_ breaking: Break, _ method: HTTP.Method) throws {
        let scene = try scene(breaking: breaking, fromConnection: 2)
        #expect(scene.outcome(.get, "/a") == "200 /a")
        #expect(scene.outcome(method, "/b", body: "{}") == "connectionTerminated")
        #expect(scene.backend.log == ["1.1 /a", "1.2 /b"])
        scene.expectQuiet()
    }

    @Test(arguments: Break.allCases)
    func nothingIsSentThreeTimes(_ breaking: Break) throws {
        let scene = try scene(breaking: breaking)
        #expect(scene.outcome(.get, "/a") == "200 /a")
        #expect(scene.outcome(.get, "/b") == "connectionTerminated")
        #expect(scene.backend.log == ["1.1 /a", "1.2 /b", "2.1 /b"])
        scene.expectQuiet()
    }

    @Test(arguments: Break.allCases)
    func aFreshConnectionThatBreaksIsAFailure(_ breaking: Break) throws {
        let scene = try Scene { asked in breaking(asked.peer) }
        #expect(scene.outcome() == "connectionTerminated")
        #expect(scene.backend.log == ["1.1 /"])
        scene.expectQuiet()
    }

    @Test(arguments: Break.allCases, ["H", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\n"])
    func afterAByteOfTheAnswerNothingIsSentAgain(_ breaking: Break, _ start: String) throws {
        let scene = try Scene { asked in
            if asked.turn == 1 { return asked.answer(asked.path) }
            asked.peer.send(start)
            breaking(asked.peer)
        }
        #expect(scene.outcome(.get, "/a") == "200 /a")
        #expect(scene.outcome(.get, "/b") == "responseIncomplete")
        #expect(scene.backend.log == ["1.1 /a", "1.2 /b"])
        scene.expectQuiet()
    }

    /// A word that nobody asked for is here when the request is written, and is read before the request
    /// is offered to the network: whatever it looks like, it is no answer, and the request, which
    /// nobody can have seen, goes out on another connection and there only.
    @Test(
        arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong", "?"],
        [HTTP.Method.get, .post])
    func aWordThatWasThereBeforeIsNoAnswer(_ word: String, _ method: HTTP.Method) throws {
        let scene = try Scene()
        #expect(scene.outcome(.get, "/a") == "200 /a")
        let latency = scene.network.settings.latency.upperBound
        scene.backendLoop.timer(after: .zero) { [peer = scene.backend.peers[0]] in
            peer.send(word)
        }
        scene.network.advance(by: latency / 2)
        var sent: Sent?
        scene.loop.timer(after: latency / 2) { [unowned scene] in
            sent = scene.send(method, "/b")
        }
        scene.network.run(until: { sent?.outcome != nil })
        #expect(sent?.outcome == "200 /b")
        #expect(scene.backend.log == ["1.1 /a", "2.1 /b"])
        scene.expectQuiet()
    }

    @Test func aResendThatFindsNobodyTellsSo() throws {
        let scene = try scene(breaking: .close)
        #expect(scene.outcome(.get, "/a") == "200 /a")
        scene.backend.script = { [backend = scene.backend] _ in backend.close() }
        #expect(scene.outcome(.get, "/b") == "connectionRefused")
        scene.expectQuiet()
    }

    @Test func aResendKeepsItsPlaceAtTheLimit() throws {
        var settings = PoolSettings()
        settings.maxConnections = 1
        let scene = try Scene(settings) { asked in
            asked.path == "/b" && asked.turn > 1
                ? asked.peer.stream.close() : asked.answer(asked.path)
        }
        let sent = ["/a", "/b", "/c"].map { scene.send(.get, $0) }
        #expect(sent.map { scene.outcome(of: $0) } == ["200 /a", "200 /b", "200 /c"])
        #expect(scene.backend.log == ["1.1 /a", "1.2 /b", "2.1 /b", "2.2 /c"])
        scene.expectQuiet()
    }

    @Test func aBackendThatClosesAfterEachAnswerWithoutAWordServesEverybody() throws {
        let scene = try Scene { asked in
            asked.answer(asked.path)
            asked.peer.stream.close()
        }
        for turn in 0..<40 { #expect(scene.outcome(.get, "/\(turn)") == "200 /\(turn)") }
        scene.expectQuiet()
    }
}
