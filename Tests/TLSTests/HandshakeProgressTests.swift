import Basics
import Promises
import Reactor
import SimReactor
import TestCertificates
import Testing

@testable import TLS

/// What a server's handshake reports about the party that it waits for.
@Suite struct HandshakeProgressTests {
    private let network = SimNetwork(seed: 1)
    private let address = SocketAddress.ip(.v4(0x7F00_0001), port: 443)

    /// A client that sends its first message byte by byte makes no progress before the last one.
    @Test func onlyCompleteMessageIsProgress() throws {
        let near = network.makeLoop("near")
        let far = network.makeLoop("far")
        let server = try Certificates.server()
        let progress = HandshakeProgress(HandshakeQueue(far))
        var waits: [HandshakeProgress.Party] = []
        progress.waitChanged = { waits.append($0) }
        var accepted: LocalPromise<AcceptedStream>?
        let listener = try far.listen(on: address, sharedPort: false) { [far] stream in
            accepted = server.accept(stream, on: far, progress)
        }
        var connected: (any ByteStream)?
        near.connect(to: address).whenSettled { connected = try? $0.get() }
        network.run(until: { connected != nil && accepted != nil })
        let peer = ScriptedPeer(try #require(connected))
        connected = nil

        let engine = try Certificates.trusting().engine(
            for: "backend.test", unixTime: Certificates.now)
        #expect(engine.continueHandshake() == .needsMore)
        let hello = engine.takeOutput().array
        for byte in hello.dropLast() {
            peer.stream.write([byte].span)
            network.advance(by: .milliseconds(10))
        }
        #expect(waits == [] && peer.received.isEmpty)
        peer.stream.write([hello[hello.count - 1]].span)
        network.run(until: { !peer.received.isEmpty })
        #expect(waits == [.client])

        peer.stream.close()
        listener.close()
        network.runUntilQuiet()
        accepted = nil
        #expect(near.leftovers == [] && far.leftovers == [])
    }

    /// One that may not begin yet waits for the server.
    @Test func queuedHandshakeWaitsForTheServer() throws {
        let loop = network.makeLoop("near")
        let progress = HandshakeProgress(HandshakeQueue(loop))
        var waits: [HandshakeProgress.Party] = []
        progress.waitChanged = { waits.append($0) }
        progress.awaitServer { waits.append(.client) }
        #expect(waits == [.server])
        network.runUntilQuiet()
        #expect(waits == [.server, .client, .client])
    }
}
