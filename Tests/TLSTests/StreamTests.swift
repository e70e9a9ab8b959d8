import Basics
import Promises
import Reactor
import SimReactor
import TestCertificates
import Testing

@testable import TLS

/// The behaviour specific to TLS streams. `ReactorContractTests` covers what all streams have in
/// common.
@Suite struct StreamTests {
    private let network = SimNetwork(seed: 1)
    private let loop: SimLoop
    private let far: SimLoop
    private let address = SocketAddress.ip(.v4(0x7F00_0001), port: 443)

    init() {
        loop = network.makeLoop("near")
        far = network.makeLoop("far")
    }

    /// A TLS connection, and the plain stream of its other end.
    private func connection(
        _ body: (_ near: ScriptedPeer, _ farSecure: ScriptedPeer, _ farPlain: SimStream) throws ->
            Void
    ) throws {
        let server = try Certificates.server()
        let security = try Certificates.trusting().security
        var farPlain: SimStream?
        var farStream: (any ByteStream)?
        let listener = try far.listen(on: address, sharedPort: false) { [far] stream in
            farPlain = stream as? SimStream
            server.accept(stream, on: far).whenSettled { farStream = try? $0.get() }
        }
        var nearStream: (any ByteStream)?
        loop.connect(to: address).then { [loop] in security.secure($0, "127.0.0.1", loop) }
            .whenSettled { nearStream = try? $0.get() }
        network.run(until: { nearStream != nil && farStream != nil })
        listener.close()
        let (near, farSecure) = (
            ScriptedPeer(try #require(nearStream)), ScriptedPeer(try #require(farStream))
        )
        let plain = try #require(farPlain)
        farPlain = nil
        try body(near, farSecure, plain)
        near.stream.close()
        farSecure.stream.close()
        network.runUntilQuiet()
        nearStream = nil
        farStream = nil
        #expect(loop.leftovers == [])
    }

    @Test func closeNotifyEndsTheStream() throws {
        try connection { near, farSecure, _ in
            farSecure.send("last words")
            farSecure.stream.close()
            network.run(until: { near.hasEnded })
            #expect(near.text == "last words" && near.failures == [])
        }
    }

    @Test func endWithoutCloseNotifyFailsTheStream() throws {
        try connection { near, farSecure, plain in
            farSecure.send("last words")
            network.run(until: { farSecure.stream.hasOfferedAll })
            plain.finishWriting()
            network.run(until: { !near.failures.isEmpty })
            #expect(near.text == "last words" && !near.hasEnded)
            #expect(near.failures == [Self.truncation])
        }
    }

    private static let truncation = IOFailure.tlsFailed(
        "connection closed without close_notify (truncated)")

    @Test func sendsCloseNotifyUnlessTheEndLacksIt() throws {
        for isTruncated in [true, false] {
            try connection { near, farSecure, plain in
                if isTruncated { plain.finishWriting() } else { farSecure.stream.finishWriting() }
                network.run(until: { !near.failures.isEmpty || near.hasEnded })
                near.stream.close()
                network.run(until: { !farSecure.failures.isEmpty || farSecure.hasEnded })
                #expect(farSecure.hasEnded != isTruncated)
                #expect(farSecure.failures == (isTruncated ? [Self.truncation] : []))
            }
        }
    }

    /// OpenSSL writes by itself, too (new keys). A response to a request that was sent is valid
    /// even if such a write is not offered yet.
    @Test func recordsOfOpenSSLDoNotCountAsWritesOfTheUser() throws {
        try connection { near, farSecure, _ in
            let channel = try #require(near.stream as? TLSStream).channel
            near.send("question")
            #expect(!near.stream.hasOfferedAll)
            network.run(until: { farSecure.text == "question" })
            farSecure.send("answer")
            network.run(until: { near.text == "answer" })
            channel.inner.write(Bytes("new keys").span)
            #expect(!channel.inner.hasOfferedAll && near.stream.hasOfferedAll)
            near.send("another")
            #expect(!near.stream.hasOfferedAll)
        }
    }

    @Test func deliversDataReceivedBeforeAReset() throws {
        try connection { near, farSecure, plain in
            farSecure.send("last words")
            network.run(until: { farSecure.stream.hasOfferedAll })
            plain.reset()
            network.run(until: { !near.failures.isEmpty })
            #expect(near.text == "last words" && near.failures == [.connectionReset])
        }
    }

    /// A server's handshake begins with the bytes behind those that another delegate has used.
    @Test(arguments: [ReadSplit.whole, .sizes([5]), .sizes([3, 4, 1000]), .sizes([1])])
    func acceptsBehindBytesOfAnotherDelegate(_ split: ReadSplit) throws {
        let server = try Certificates.server()
        let security = try Certificates.trusting().security
        network.settings.split = split
        var former: ScriptedPeer?
        var farStream: (any ByteStream)?
        let listener = try far.listen(on: address, sharedPort: false) { [far] stream in
            let peer = ScriptedPeer(stream)
            peer.onReceived = { peer in
                guard peer.received.count >= 5 else { return }
                server.accept(
                    peer.stream, after: Bytes(Array(peer.received[5...])), on: far,
                    HandshakeProgress(HandshakeQueue(far))
                )
                .whenSettled { result in
                    if case .success(.secure(let stream, _)) = result { farStream = stream }
                }
            }
            former = peer
        }
        var nearStream: (any ByteStream)?
        loop.connect(to: address)
            .then { [loop] stream in
                stream.write(Bytes("line\n").span)
                return security.secure(stream, "127.0.0.1", loop)
            }
            .whenSettled { nearStream = try? $0.get() }
        network.run(until: { nearStream != nil && farStream != nil })
        listener.close()
        let near = ScriptedPeer(try #require(nearStream))
        let farSecure = ScriptedPeer(try #require(farStream))
        #expect(former?.text.hasPrefix("line\n") == true)
        near.send("question")
        farSecure.send("answer")
        network.run(until: { near.text == "answer" && farSecure.text == "question" })
        near.stream.close()
        farSecure.stream.close()
        former = nil
        nearStream = nil
        farStream = nil
        network.runUntilQuiet()
        #expect(loop.leftovers == [])
    }

    @Test func foreignBytesFailTheStream() throws {
        try connection { near, _, plain in
            plain.write(Array("HTTP/1.1 200 OK\r\n\r\n".utf8).span)
            network.run(until: { !near.failures.isEmpty })
            #expect(near.text.isEmpty)
            guard case .tlsFailed? = near.failures.first else {
                Issue.record("no failure of TLS: \(near.failures)")
                return
            }
        }
    }

    @Test func closeWithUnsentBytesTruncatesTheStream() throws {
        network.settings.windowBytes = 50_000
        try connection { near, farSecure, _ in
            near.stream.pauseReading()
            farSecure.stream.write([UInt8](repeating: 1, count: 1_000_000).span)
            farSecure.stream.close()
            network.advance(by: .milliseconds(5))
            near.stream.resumeReading()
            network.run(until: { !near.failures.isEmpty })
            #expect(!near.hasEnded && near.received.count < 1_000_000)
        }
    }
}
