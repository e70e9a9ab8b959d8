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

/// A pool with TLS connections, in virtual time.
@Suite struct SecureTests {
    /// A harness in which both sides use TLS.
    private func harness(
        seed: UInt64 = 1, host: String = "127.0.0.1", backend: String = "server",
        connectTimeout: Duration = .seconds(1)
    ) throws -> PoolHarness {
        var settings = PoolSettings()
        settings.connectTimeout = connectTimeout
        settings.security = try Certificates.trusting().security
        let harness = try PoolHarness(seed: seed, host: host, settings)
        harness.network.names[host] = .addresses([.v4(0x7F00_0001)])
        let context = try Certificates.server(backend)
        harness.backend.secure = { [loop = harness.backendLoop] in context.accept($0, on: loop) }
        return harness
    }

    @Test(arguments: ["127.0.0.1", "backend.test"])
    func requestsShareOneConnection(_ host: String) throws {
        let harness = try harness(host: host)
        for path in ["/1", "/2", "/3"] { #expect(harness.outcome(.get, path) == "200 \(path)") }
        #expect(harness.backend.connections == 1)
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        harness.expectQuiet()
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func readsBytesInAnyPieces(seed: UInt64) throws {
        let harness = try harness(seed: seed)
        harness.network.settings.split = .random
        harness.network.settings.windowBytes = 5000
        let body = String(repeating: "0123456789", count: 10_000)
        harness.backend.script = { $0.respond(body) }
        for _ in 0..<3 {
            let outcome = harness.outcome(.post, "/", body: body, responseBytesMax: 200_000)
            #expect(outcome == "200 \(body)")
        }
        harness.expectQuiet()
    }

    @Test func pausedSinkStopsReadingFromASecureConnection() throws {
        let harness = try harness()
        harness.network.settings.windowBytes = 5000
        harness.backend.script = { $0.respond(String(repeating: "x", count: 400_000)) }
        let promise = harness.pool.sendStreaming(ClientRequest())
        harness.advance(by: .milliseconds(20))
        guard case .stream(let source) = try #require(promise.value).body else {
            Issue.record("not streamed")
            return
        }
        let sink = RecordingSink()
        sink.onPiece = { if $0.received.count < 100_000 { source.pause() } }
        source.startDelivery(to: sink)
        harness.advance(by: .seconds(10))
        #expect(sink.outcome == nil && sink.received.count < 100_000)
        while sink.outcome == nil, sink.pieces < 10_000 {
            source.resume()
            harness.advance(by: .milliseconds(10))
        }
        #expect(sink.outcome == "ended" && sink.received.count == 400_000)
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        harness.expectQuiet()
    }

    @Test(arguments: [
        ("other.test", "server"), ("127.0.0.1", "unknown"), ("backend.test", "common-name"),
        ("backend.test", "other-kinds"), ("backend.test", "odd-names"),
    ])
    func untrustedCertificateIsACertificateError(host: String, backend: String) throws {
        let harness = try harness(host: host, backend: backend)
        #expect(harness.outcome() == "certificateError")
        #expect(harness.backend.log == [], "no request was sent")
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    @Test func sendsNoRequestToABackendWithoutTLS() throws {
        let harness = try harness()
        harness.backend.secure = nil
        harness.backend.onAccept = { $0.send("HTTP/1.1 400 Bad Request\r\n\r\n") }
        #expect(harness.outcome() == "connectionTerminated")
        #expect(harness.backend.log == [])
        harness.expectQuiet()
    }

    @Test func connectTimeoutIncludesTheHandshake() throws {
        let harness = try harness(connectTimeout: .milliseconds(250))
        harness.backend.secure = nil  // it accepts and never responds
        let sent = harness.send()
        harness.advance(by: .milliseconds(249))
        #expect(sent.outcome == nil)
        harness.advance(by: .milliseconds(2))
        #expect(sent.outcome == "connectionTimeout")
        harness.expectQuiet()
    }

    @Test func cancelledCallCancelsTheHandshake() throws {
        let harness = try harness()
        harness.backend.secure = nil
        let sent = harness.send()
        harness.advance(by: .milliseconds(10))
        sent.cancel()
        harness.advance(by: .milliseconds(10))
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        #expect(harness.backend.peers.map(\.hasEnded) == [true])
        harness.expectQuiet()
    }

    @Test func closeDuringTheHandshakeTerminatesTheCall() throws {
        let harness = try harness()
        harness.backend.secure = nil
        harness.backend.onAccept = { $0.stream.close() }
        #expect(harness.outcome() == "connectionTerminated")
        harness.expectQuiet()
    }

    /// Without a length, only the end of the connection ends a response; TLS shows whether the
    /// backend meant to end it.
    @Test(arguments: [(true, "200 all"), (false, "responseIncomplete")])
    func bodyUntilCloseNeedsCloseNotify(isMeant: Bool, outcome: String) throws {
        let harness = try harness()
        var plain: (any ByteStream)?
        let secure = try #require(harness.backend.secure)
        harness.backend.secure = { stream in
            plain = stream
            return secure(stream)
        }
        harness.backend.script = { exchange in
            exchange.peer.send("HTTP/1.1 200 OK\r\n\r\nall")
            exchange.after(.milliseconds(1)) {
                if isMeant { exchange.peer.stream.close() } else { plain?.finishWriting() }
            }
        }
        #expect(harness.outcome() == outcome)
        plain = nil
        harness.expectQuiet()
    }

    @Test func replacesAClosedIdleConnection() throws {
        let harness = try harness()
        #expect(harness.outcome() == "200 /")
        harness.backend.peers.last?.stream.close()
        harness.advance(by: .milliseconds(10))
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        #expect(harness.outcome() == "200 /")
        harness.expectQuiet()
    }

    /// Equal settings share a pool, so that a reload keeps the connections; different ones do not.
    @Test func poolsWithDifferentSecurityAreSeparate() throws {
        let network = SimNetwork(seed: 1)
        let loop = network.makeLoop("client")
        let pools = ConnectionPools(loop: loop)
        let origin = Origin(host: "backend.test", port: 443, default: .https)
        func settings(_ trusted: String) throws -> PoolSettings {
            var settings = PoolSettings()
            settings.security = try Certificates.trusting(trusted).security
            return settings
        }
        let first = pools.pool(for: origin, settings: try settings("authority.pem"))
        #expect(first === pools.pool(for: origin, settings: try settings("authority.pem")))
        #expect(first !== pools.pool(for: origin, settings: try settings("server.pem")))
        #expect(first !== pools.pool(for: origin, settings: PoolSettings()))
    }
}
