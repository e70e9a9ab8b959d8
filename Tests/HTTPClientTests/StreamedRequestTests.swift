import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// Requests whose body is sent while it arrives from its source.
@Suite struct StreamedRequestTests {
    /// Sends a request and lets it reach the backend.
    private func send(_ scene: Scene, _ source: ScriptedSource) -> Sent {
        let sent = Sent(scene.pool.send(ClientRequest(.post, "/up", body: .stream(source))))
        scene.pass(.milliseconds(10))
        return sent
    }

    @Test func chunkedBodyReachesTheBackendAndTheConnectionIsReused() throws {
        var texts: [String] = []
        let scene = try Scene { asked in
            texts.append(asked.request.text)
            asked.answer("ok")
        }
        for _ in 0..<2 {
            let source = ScriptedSource(.chunked)
            let sent = send(scene, source)
            source.deliver("hello")
            scene.pass(.milliseconds(1))
            source.deliver(String(repeating: "x", count: 20))
            #expect(sent.outcome == nil)
            source.end()
            #expect(scene.outcome(of: sent) == "200 ok")
            #expect(!source.isCancelled)
        }
        #expect(
            texts
                == Array(
                    repeating:
                        "POST /up HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "5\r\nhello\r\n14\r\n\(String(repeating: "x", count: 20))\r\n0\r\n\r\n",
                    count: 2))
        #expect(scene.backend.connections == 1)
        scene.expectQuiet()
    }

    @Test func bodyOfKnownLengthIsSentAsItIs() throws {
        var text = ""
        let scene = try Scene { asked in
            text = asked.request.text
            asked.answer("ok")
        }
        let source = ScriptedSource(.length(5))
        let sent = send(scene, source)
        source.deliver("he")
        source.deliver("llo")
        source.end()
        #expect(scene.outcome(of: sent) == "200 ok")
        #expect(text == "POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
        #expect(scene.counts == "0 in flight, 1 idle, 1 open")
        scene.expectQuiet()
    }

    @Test func slowBackendPausesTheSource() throws {
        let scene = try Scene()
        scene.network.settings.windowBytes = 10_000
        scene.backend.onAccept = { $0.stream.pauseReading() }
        let source = ScriptedSource(.length(200_000))
        let sent = send(scene, source)
        source.deliver(String(repeating: "x", count: 50_000))
        scene.pass(.milliseconds(10))
        #expect(!source.isPaused, "less than the limit waits")
        source.deliver(String(repeating: "x", count: 50_000))
        scene.pass(.milliseconds(10))
        #expect(source.isPaused)
        scene.backend.peers[0].stream.resumeReading()
        scene.pass(.milliseconds(100))
        #expect(!source.isPaused)
        source.deliver(String(repeating: "x", count: 100_000))
        source.end()
        #expect(scene.outcome(of: sent) == "200 /up")
        scene.expectQuiet()
    }

    /// The rest of the body would be read as the next request.
    @Test func responseBeforeTheEndOfTheBodyIsTheLastOfItsConnection() throws {
        let scene = try Scene()
        let source = ScriptedSource(.chunked)
        let sent = send(scene, source)
        source.deliver("begin")
        scene.pass(.milliseconds(1))
        scene.backend.peers[0].send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        #expect(scene.outcome(of: sent) == "413 ")
        #expect(source.isCancelled)
        #expect(scene.counts == "0 in flight, 0 idle, 0 open")
        scene.expectQuiet()
    }

    @Test func failedSourceFailsTheCallAndClosesTheConnection() throws {
        struct Gone: Error {}
        let scene = try Scene()
        let source = ScriptedSource(.chunked)
        let sent = send(scene, source)
        source.deliver("begin")
        scene.pass(.milliseconds(1))
        source.fail(Gone())
        #expect(scene.outcome(of: sent) == "Gone")
        scene.pass(.milliseconds(1))
        #expect(scene.backend.peers[0].hasEnded)
        #expect(!scene.backend.peers[0].text.hasSuffix("0\r\n\r\n"), "never looks complete")
        #expect(scene.backend.log == [])
        scene.expectQuiet()
    }

    @Test(arguments: ["1234567", "123"])
    func sourceThatBreaksItsLengthFailsTheCall(_ text: String) throws {
        let scene = try Scene()
        let source = ScriptedSource(.length(5))
        let sent = send(scene, source)
        source.deliver(text)
        source.end()
        #expect(scene.outcome(of: sent) == "WrongLength")
        scene.pass(.milliseconds(1))
        #expect(scene.counts == "0 in flight, 0 idle, 0 open")
        #expect(scene.backend.log == [])
        scene.expectQuiet()
    }

    @Test func cancelledCallCancelsTheSource() throws {
        let scene = try Scene()
        let source = ScriptedSource(.chunked)
        let sent = send(scene, source)
        source.deliver("begin")
        sent.cancel()
        scene.pass(.milliseconds(1))
        #expect(source.isCancelled)
        #expect(scene.counts == "0 in flight, 0 idle, 0 open")
        scene.expectQuiet()
    }

    /// A complete request would be sent again on a new connection; see `ResendTests`.
    @Test func streamedRequestIsNeverSentTwice() throws {
        let scene = try Scene { asked in asked.answer(asked.path) }
        #expect(scene.outcome(.get, "/a") == "200 /a")
        let source = ScriptedSource(.chunked)
        let sent = Sent(scene.pool.send(ClientRequest(.put, "/b", body: .stream(source))))
        scene.pass(.milliseconds(10))
        scene.backend.peers[0].stream.close()
        #expect(scene.outcome(of: sent) == "connectionTerminated")
        #expect(source.isCancelled && scene.backend.connections == 1)
        scene.expectQuiet()
    }

    /// Data that was there before the head left is no response to it, also while pieces of the body
    /// are written.
    @Test func unsolicitedDataIsNoResponse() throws {
        let scene = try Scene()
        #expect(scene.outcome(.get, "/a") == "200 /a")
        let latency = scene.network.settings.latency.upperBound
        scene.backendLoop.timer(after: .zero) { [peer = scene.backend.peers[0]] in
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong")
        }
        scene.network.advance(by: latency / 2)
        let source = ScriptedSource(.chunked)
        var sent: Sent?
        scene.loop.timer(after: latency / 2) { [unowned scene] in
            sent = Sent(scene.pool.send(ClientRequest(.post, "/b", body: .stream(source))))
            source.deliver("body")
        }
        scene.network.run(until: { sent?.outcome != nil })
        #expect(sent?.outcome == "protocolError")
        #expect(scene.backend.log == ["1.1 /a"])
        scene.expectQuiet()
    }

    /// The head left with an earlier piece, and a later one still gathers.
    @Test func responseThatArrivesWhileAPieceGathersIsOne() throws {
        let scene = try Scene()
        let source = ScriptedSource(.chunked)
        let sent = send(scene, source)
        let latency = scene.network.settings.latency.upperBound
        scene.backendLoop.timer(after: .zero) { [peer = scene.backend.peers[0]] in
            peer.send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
        }
        scene.network.advance(by: latency / 2)
        scene.loop.timer(after: latency / 2) { source.deliver("body") }
        #expect(scene.outcome(of: sent) == "403 ")
        #expect(source.isCancelled)
        scene.expectQuiet()
    }
}
