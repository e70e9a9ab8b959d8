import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPServer

/// Connections in their TLS handshake: limits, timeout, plain text and drain. The handshake itself is
/// one that the test completes.
@Suite struct HandshakeTests {
    /// Handshakes that wait for the test.
    final class Handshakes: @unchecked Sendable {
        var waiting: [Waiting] = []
        private(set) var cancelled = 0

        final class Waiting {
            let stream: any ByteStream
            let progress: HandshakeProgress
            var resolver: LocalResolver<AcceptedStream>?

            init(
                _ stream: any ByteStream, _ progress: HandshakeProgress,
                _ resolver: consuming LocalResolver<AcceptedStream>
            ) {
                self.stream = stream
                self.progress = progress
                self.resolver = consume resolver
            }
        }

        var security: ServerSecurity {
            ServerSecurity { [self] stream, _, progress, loop in
                let resolver = LocalResolver<AcceptedStream>(on: loop.local)
                let promise = resolver.promise
                resolver.onCancel { [self] _ in
                    cancelled += 1
                    stream.close()
                }
                waiting.append(Waiting(stream, progress, resolver))
                return promise
            }
        }

        /// Completes the first handshake.
        func complete(_ identity: PeerIdentity? = nil) {
            let handshake = waiting.removeFirst()
            let session = SecureSession(
                version: .tls13, isResumed: false, serverName: "a",
                applicationProtocol: nil, identity: identity)
            handshake.resolver.take()?.fulfill(.secure(handshake.stream, session))
        }

        func fail() {
            let handshake = waiting.removeFirst()
            handshake.stream.close()
            handshake.resolver.take()?.reject(IOFailure.tlsFailed("bad"))
        }
    }

    private let handshakes = Handshakes()

    private func harness(
        _ settings: ServerSettings = ServerSettings(),
        handshakeTimeout: Duration = .milliseconds(100)
    ) throws -> ServerHarness {
        var listener = ListenerSettings()
        listener.security = handshakes.security
        listener.handshakeTimeout = handshakeTimeout
        return try ServerHarness(settings, listeners: [listener])
    }

    @Test func servesAfterHandshake() throws {
        let harness = try harness()
        let peer = try harness.connect()
        peer.send(get("/x"))
        harness.advance()
        #expect(summary(of: peer) == "" && harness.server.handshakesInProgress == 1)
        #expect(harness.server.connectionCount == 1, "it counts as a connection")
        harness.onServer { handshakes.complete() }
        harness.advance()
        #expect(summary(of: peer) == "200 /x")
        #expect(harness.requests.first?.exchange.peer.facts?.isSecure == true)
        #expect(harness.server.handshakesInProgress == 0 && harness.server.connectionCount == 1)
        #expect(harness.server.handshakes[.succeeded(.tls13, isResumed: false)] == 1)
        peer.stream.close()
        harness.advance()
    }

    @Test func passesIdentityToRequests() throws {
        let harness = try harness()
        let peer = try harness.connect()
        harness.advance()
        let identity = PeerIdentity(alternativeNames: [], subject: "n", certificate: Bytes("c"))
        harness.onServer { handshakes.complete(identity) }
        peer.send(get("/x"))
        harness.advance()
        #expect(harness.requests.first?.exchange.peer.facts?.identity == identity)
        peer.stream.close()
        harness.advance()
    }

    @Test func closesHandshakeAfterTimeout() throws {
        let harness = try harness()
        let peer = try harness.connect()
        harness.advance(99)
        #expect(!peer.hasEnded)
        harness.advance(10)
        #expect(peer.hasEnded && handshakes.cancelled == 1)
        #expect(harness.server.handshakes[.timedOut] == 1 && harness.server.connectionCount == 0)
        #expect(harness.log == ["handshake timed out"])
    }

    @Test func countsFailedHandshake() throws {
        let harness = try harness()
        let peer = try harness.connect()
        harness.advance()
        harness.onServer { handshakes.fail() }
        harness.advance()
        #expect(peer.hasEnded && harness.server.connectionCount == 0)
        #expect(harness.server.handshakes[.failed] == 1)
        #expect(harness.log == ["handshake TLS: bad"])
    }

    /// Beyond the limit, connections wait unaccepted.
    @Test func pausesListenerAtLimit() throws {
        var settings = ServerSettings()
        settings.handshakes = 2
        let harness = try harness(settings)
        let peers = try (0..<5).map { _ in try harness.connect() }
        harness.advance()
        #expect(handshakes.waiting.count == 2 && harness.server.connectionCount == 2)
        harness.onServer { handshakes.complete() }
        harness.advance()
        #expect(handshakes.waiting.count == 2 && harness.server.connectionCount == 3)
        harness.onServer { for _ in 0..<2 { handshakes.complete() } }
        harness.advance()
        #expect(handshakes.waiting.count == 2 && harness.server.connectionCount == 5)
        for peer in peers { peer.stream.close() }
        harness.advance(300)
        #expect(harness.server.connectionCount == 0)
    }

    /// The limit of handshakes is 2, their time limit 10 s.
    private func harnessAtLimit() throws -> ServerHarness {
        var settings = ServerSettings()
        settings.handshakes = 2
        return try harness(settings, handshakeTimeout: .seconds(10))
    }

    private func expectEnded(_ peers: [ScriptedPeer], _ ended: Set<Int>) {
        for (number, peer) in peers.enumerated() {
            #expect(peer.hasEnded == ended.contains(number), "\(number)")
        }
    }

    /// Clients that connect and send nothing delay others by a second at most.
    @Test func endsSilentHandshakesAtLimit() throws {
        let harness = try harnessAtLimit()
        var peers = [try harness.connect()]
        harness.advance(500)
        for _ in 0..<3 { peers.append(try harness.connect()) }
        harness.advance(490)
        #expect(handshakes.waiting.count == 2)
        expectEnded(peers, [])
        harness.advance(20)
        #expect(handshakes.waiting.count == 3, "the third was accepted")
        expectEnded(peers, [0])
        harness.advance(500)
        expectEnded(peers, [0, 1])
        #expect(harness.server.losses[.idle] == 2 && harness.server.handshakes[.cancelled] == 2)
        // Nothing else is waiting: those that are left keep their time.
        harness.onServer {
            handshakes.waiting.removeFirst(2)
            handshakes.fail()
        }
        harness.advance(5000)
        expectEnded(peers, [0, 1, 2])
        harness.advance(6000)
        expectEnded(peers, [0, 1, 2, 3])
        #expect(harness.server.handshakes[.timedOut] == 1 && harness.server.connectionCount == 0)
    }

    /// A reload with a lower limit ends as many as are beyond it.
    @Test func endsSilentHandshakesBeyondLowerLimit() throws {
        var settings = ServerSettings()
        let harness = try harness(settings, handshakeTimeout: .seconds(10))
        let peers = try (0..<10).map { _ in try harness.connect() }
        harness.advance(2000)
        #expect(handshakes.waiting.count == 10)
        settings.handshakes = 3
        harness.onServer { harness.server.adopt(settings) }
        harness.advance()
        #expect(peers.map(\.hasEnded).count { $0 } == 8, "there is room for another one")
        #expect(harness.server.handshakesInProgress == 2)
        for peer in peers { peer.stream.close() }
        harness.onServer { handshakes.waiting.forEach { $0.stream.close() } }
        harness.advance(11_000)
        #expect(harness.server.connectionCount == 0)
    }

    /// A handshake that waits for its turn is not silent, and one whose client has answered waits anew.
    @Test func endsNoHandshakeThatWaitsForTheServer() throws {
        let harness = try harnessAtLimit()
        let peers = try (0..<3).map { _ in try harness.connect() }
        harness.advance(500)
        #expect(handshakes.waiting.count == 2)
        var mayContinue = false
        harness.onServer {
            let queue = handshakes.waiting[0].progress.queue
            for _ in 0..<HandshakeQueue.beginsPerIteration { queue.recordBegin() }
            handshakes.waiting[0].progress.awaitServer { mayContinue = true }
            handshakes.waiting[1].progress.awaitClient()
        }
        harness.advance(900)
        #expect(mayContinue)
        expectEnded(peers, [])
        harness.onServer { handshakes.waiting[0].progress.awaitClient() }
        harness.advance(200)
        expectEnded(peers, [1])
        harness.advance(700)
        expectEnded(peers, [1])
        harness.advance(200)
        expectEnded(peers, [0, 1])
        for peer in peers { peer.stream.close() }
        harness.onServer { handshakes.waiting[2...].forEach { $0.stream.close() } }
        harness.advance(11_000)
        #expect(harness.server.connectionCount == 0)
    }

    /// A silent handshake is like an idle connection if a new one needs its place.
    @Test func silentHandshakeMakesRoom() throws {
        var settings = ServerSettings()
        settings.connections = 1
        let harness = try harness(settings, handshakeTimeout: .seconds(10))
        let peers = [try harness.connect()]
        harness.advance(300)
        let second = try harness.connect()
        harness.advance()
        expectEnded(peers + [second], [0])
        #expect(harness.server.losses[.idle] == 1 && harness.server.losses[.connections] == 0)
        // The server has done its part: that is not silence.
        harness.onServer { handshakes.waiting[1].progress.awaitClient() }
        let third = try harness.connect()
        harness.advance()
        expectEnded(peers + [second, third], [0, 2])
        second.stream.close()
        harness.advance(11_000)
        #expect(harness.server.connectionCount == 0)
    }

    @Test(arguments: [(245, 0), (255, 1)])
    func handshakeMakesNoRoomThatIsSilentFor250Milliseconds(_ silent: Int, _ ended: Int) throws {
        var settings = ServerSettings()
        settings.connections = 1
        let harness = try harness(settings, handshakeTimeout: .seconds(10))
        harness.network.settings.latency = .zero ... .zero
        let peers = [try harness.connect()]
        harness.advance(silent)
        let second = try harness.connect()
        harness.advance(1)
        #expect(harness.server.losses[.idle] == ended)
        for peer in peers + [second] { peer.stream.close() }
        harness.advance(11_000)
        #expect(harness.server.connectionCount == 0)
    }

    /// A listener that loses its TLS by a reload accepts connections while handshakes are at their
    /// limit.
    @Test func reloadWithoutTLSResumesListener() throws {
        var settings = ServerSettings()
        settings.handshakes = 1
        let harness = try harness(settings)
        let secure = try harness.connect()
        harness.advance()
        #expect(handshakes.waiting.count == 1)
        harness.onServer { harness.server.adopt(settings, listeners: [ListenerSettings()]) }
        let plain = try harness.connect()
        plain.send(get("/x"))
        harness.advance()
        #expect(summary(of: plain) == "200 /x")
        for peer in [secure, plain] { peer.stream.close() }
        harness.advance(300)
        #expect(harness.server.connectionCount == 0)
    }

    /// One that gets TLS by a reload waits like the others.
    @Test func reloadWithTLSPausesListenerAtLimit() throws {
        var settings = ServerSettings()
        settings.handshakes = 1
        var secured = ListenerSettings()
        secured.security = handshakes.security
        let harness = try ServerHarness(settings, listeners: [ListenerSettings()])
        harness.onServer { harness.server.adopt(settings, listeners: [secured]) }
        let peers = try (0..<3).map { _ in try harness.connect() }
        harness.advance()
        #expect(handshakes.waiting.count == 1 && harness.server.connectionCount == 1)
        // A second reload keeps the pause.
        harness.onServer { harness.server.adopt(settings, listeners: [secured]) }
        harness.advance()
        #expect(handshakes.waiting.count == 1)
        for peer in peers { peer.stream.close() }
        harness.advance(300)
    }

    @Test func drainEndsHandshakes() throws {
        let harness = try harness()
        let peer = try harness.connect()
        harness.advance()
        var isDrained = false
        harness.onServer { harness.server.drain().whenSettled { _ in isDrained = true } }
        harness.advance()
        #expect(isDrained && peer.hasEnded && handshakes.cancelled == 1)
        #expect(harness.server.handshakes[.cancelled] == 1)
    }

    /// Without a response: it is not worth a handshake.
    @Test func closesConnectionBeyondLimit() throws {
        var settings = ServerSettings()
        settings.connections = 1
        let harness = try harness(settings)
        let first = try harness.connect()
        harness.advance()
        let second = try harness.connect()
        harness.advance()
        #expect(second.hasEnded && second.received.isEmpty && !first.hasEnded)
        #expect(harness.server.losses[.connections] == 1)
        first.stream.close()
        harness.advance(200)
    }
}

/// The pace of handshakes.
@Suite struct HandshakeQueueTests {
    @Test func beginsFourPerIterationInOrder() throws {
        let testbed = Testbed(seed: 1, subject: "server", peers: "client")
        let loop = testbed.loop
        let queue = HandshakeQueue(loop)
        var (begun, iterations): ([Int], [Int]) = ([], [])
        var iteration = 0
        func begin(_ number: Int) {
            guard queue.mayBegin else { return queue.wait { begin(number) } }
            begun.append(number)
            iterations.append(iteration)
            queue.recordBegin()
        }
        testbed.perform(on: loop) {
            for number in 0..<10 { begin(number) }
            #expect(begun == [0, 1, 2, 3])
            func next() {
                iteration += 1
                if iteration < 4 { loop.timer(after: .zero, next) }
            }
            next()
        }
        testbed.advance(by: .milliseconds(1))
        #expect(begun == Array(0..<10))
    }

    /// A message that has not arrived completely costs nothing.
    @Test func incompleteMessagesDoNotCount() throws {
        let testbed = Testbed(seed: 1, subject: "server", peers: "client")
        let queue = HandshakeQueue(testbed.loop)
        testbed.perform(on: testbed.loop) {
            for _ in 0..<100 { #expect(queue.mayBegin) }
        }
        testbed.advance(by: .milliseconds(1))
    }
}
