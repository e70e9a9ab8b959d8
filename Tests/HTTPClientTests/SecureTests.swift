import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TLS
import TestCertificates
import TestSupport
import Testing

@testable import HTTPClient

/// A pool whose connections are secure, in virtual time.
@Suite struct SecureTests {
    /// A scene in which both sides speak TLS.
    private func scene(
        seed: UInt64 = 1, host: String = "127.0.0.1", backend: String = "server",
        connectTimeout: Duration = .seconds(1)
    ) throws -> Scene {
        var settings = PoolSettings()
        settings.connectTimeout = connectTimeout
        settings.security = try Certificates.trusting().security
        let scene = try Scene(seed: seed, host: host, settings)
        scene.network.names[host] = .addresses([.v4(0x7F00_0001)])
        let context = try Certificates.server(backend)
        scene.backend.secure = { [loop = scene.backendLoop] in context.accept($0, on: loop) }
        return scene
    }

    @Test(arguments: ["127.0.0.1", "backend.test"])
    func requestsAreAnsweredOnOneConnection(_ host: String) throws {
        let scene = try scene(host: host)
        for path in ["/1", "/2", "/3"] { #expect(scene.outcome(.get, path) == "200 \(path)") }
        #expect(scene.backend.connections == 1)
        #expect(scene.counts == "0 in flight, 1 idle, 1 open")
        scene.expectQuiet()
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func bytesMayArriveInAnyPieces(seed: UInt64) throws {
        let scene = try scene(seed: seed)
        scene.network.settings.split = .random
        scene.network.settings.windowBytes = 5000
        let body = String(repeating: "0123456789", count: 10_000)
        scene.backend.script = { $0.answer(body) }
        for _ in 0..<3 {
            let outcome = scene.outcome(.post, "/", body: body, answerMax: 200_000)
            #expect(outcome == "200 \(body)")
        }
        scene.expectQuiet()
    }

    @Test func pausedSinkStopsTheReadingOfASecureConnection() throws {
        let scene = try scene()
        scene.network.settings.windowBytes = 5000
        scene.backend.script = { $0.answer(String(repeating: "x", count: 400_000)) }
        let promise = scene.pool.sendStreaming(ClientRequest())
        scene.pass(.milliseconds(20))
        guard case .stream(let source) = try #require(promise.value).body else {
            Issue.record("not streamed")
            return
        }
        let sink = RecordingSink()
        sink.onPiece = { if $0.received.count < 100_000 { source.pause() } }
        source.startDelivery(to: sink)
        scene.pass(.seconds(10))
        #expect(sink.outcome == nil && sink.received.count < 100_000)
        while sink.outcome == nil, sink.pieces < 10_000 {
            source.resume()
            scene.pass(.milliseconds(10))
        }
        #expect(sink.outcome == "ended" && sink.received.count == 400_000)
        #expect(scene.counts == "0 in flight, 1 idle, 1 open")
        scene.expectQuiet()
    }

    @Test(arguments: [
        ("other.test", "server"), ("127.0.0.1", "unknown"), ("backend.test", "common-name"),
        ("backend.test", "other-kinds"), ("backend.test", "odd-names"),
    ])
    func aCertificateThatIsNotAcceptedHasAKind(host: String, backend: String) throws {
        let scene = try scene(host: host, backend: backend)
        #expect(scene.outcome() == "certificateError")
        #expect(scene.backend.log == [], "nothing was asked")
        #expect(scene.counts == "0 in flight, 0 idle, 0 open")
        scene.expectQuiet()
    }

    @Test func aBackendThatSpeaksPlainlyIsNotSpokenTo() throws {
        let scene = try scene()
        scene.backend.secure = nil
        scene.backend.onAccept = { $0.send("HTTP/1.1 400 Bad Request\r\n\r\n") }
        #expect(scene.outcome() == "connectionTerminated")
        #expect(scene.backend.log == [])
        scene.expectQuiet()
    }

    @Test func theHandshakeIsWithinTheConnectTimeout() throws {
        let scene = try scene(connectTimeout: .milliseconds(250))
        scene.backend.secure = nil  // it accepts, and never says a word
        let sent = scene.send()
        scene.pass(.milliseconds(249))
        #expect(sent.outcome == nil)
        scene.pass(.milliseconds(2))
        #expect(sent.outcome == "connectionTimeout")
        scene.expectQuiet()
    }

    @Test func aCancelledCallGivesTheHandshakeUp() throws {
        let scene = try scene()
        scene.backend.secure = nil
        let sent = scene.send()
        scene.pass(.milliseconds(10))
        sent.cancel()
        scene.pass(.milliseconds(10))
        #expect(scene.counts == "0 in flight, 0 idle, 0 open")
        #expect(scene.backend.peers.map(\.hasEnded) == [true])
        scene.expectQuiet()
    }

    @Test func aBackendThatHangsUpInTheHandshakeIsTerminated() throws {
        let scene = try scene()
        scene.backend.secure = nil
        scene.backend.onAccept = { $0.stream.close() }
        #expect(scene.outcome() == "connectionTerminated")
        scene.expectQuiet()
    }

    /// Without a length, only the end of the connection ends an answer; TLS says whether it was meant.
    @Test(arguments: [(true, "200 all"), (false, "responseIncomplete")])
    func anAnswerThatWasCutOffIsNoAnswer(isMeant: Bool, outcome: String) throws {
        let scene = try scene()
        var plain: (any ByteStream)?
        let secure = try #require(scene.backend.secure)
        scene.backend.secure = { stream in
            plain = stream
            return secure(stream)
        }
        scene.backend.script = { asked in
            asked.peer.send("HTTP/1.1 200 OK\r\n\r\nall")
            asked.after(.milliseconds(1)) {
                if isMeant { asked.peer.stream.close() } else { plain?.finishWriting() }
            }
        }
        #expect(scene.outcome() == outcome)
        plain = nil
        scene.expectQuiet()
    }

    @Test func aKeptConnectionThatWasClosedIsReplaced() throws {
        let scene = try scene()
        #expect(scene.outcome() == "200 /")
        scene.backend.peers.last?.stream.close()
        scene.pass(.milliseconds(10))
        #expect(scene.counts == "0 in flight, 0 idle, 0 open")
        #expect(scene.outcome() == "200 /")
        scene.expectQuiet()
    }

    /// Equal settings share a pool, so that a reload keeps the connections; others do not.
    @Test func aPoolIsOfItsSecurity() throws {
        let network = SimNetwork(seed: 1)
        let loop = network.makeLoop("client")
        let client = Client(loop: loop)
        let origin = Origin(host: "backend.test", port: 443, default: .https)
        func settings(_ trusted: String) throws -> PoolSettings {
            var settings = PoolSettings()
            settings.security = try Certificates.trusting(trusted).security
            return settings
        }
        let first = client.pool(for: origin, settings: try settings("authority.pem"))
        #expect(first === client.pool(for: origin, settings: try settings("authority.pem")))
        #expect(first !== client.pool(for: origin, settings: try settings("server.pem")))
        #expect(first !== client.pool(for: origin, settings: PoolSettings()))
    }
}
