import Basics
import Promises
import Reactor
import SimReactor
import TestCertificates
import Testing

@testable import TLS

/// What TLS connections hold, as the memory of their loop counts it.
@Suite struct MemoryTests {
    private let network = SimNetwork(seed: 1)
    private let near: SimLoop
    private let far: SimLoop
    private let address = SocketAddress.ip(.v4(0x7F00_0001), port: 443)

    init() {
        near = network.makeLoop("near")
        far = network.makeLoop("far")
        network.settings.windowBytes = 1 << 20
    }

    /// A client's engine over a plain stream, after its handshake with a server on `far`.
    private func connect() throws -> (TLSEngine, ScriptedPeer, server: ScriptedPeer, any Listener) {
        let server = try Certificates.server()
        var accepted: (any ByteStream)?
        let listener = try far.listen(on: address, sharedPort: false) { [far] stream in
            server.accept(stream, on: far).whenSettled { accepted = try? $0.get() }
        }
        var connected: (any ByteStream)?
        near.connect(to: address).whenSettled { connected = try? $0.get() }
        network.run(until: { connected != nil })
        let peer = ScriptedPeer(try #require(connected))
        let engine = try Certificates.trusting().engine(
            for: "backend.test", unixTime: Certificates.now)
        for _ in 0..<10 {
            _ = engine.continueHandshake()
            transfer(engine, peer)
        }
        return (engine, peer, ScriptedPeer(try #require(accepted)), listener)
    }

    private func transfer(_ engine: TLSEngine, _ peer: ScriptedPeer) {
        engine.takeOutgoing { peer.stream.write($0) }
        network.advance(by: .milliseconds(10))
        engine.receive(peer.received.span)
        peer.clearReceived()
        _ = engine.readAll()
    }

    @Test func countsSessionUntilItsEnd() throws {
        let (_, peer, server, listener) = try connect()
        // The session, and two buffers of at most 8 KiB.
        #expect((18 * 1024...34 * 1024).contains(far.memory.held))
        #expect(far.memory.held == server.stream.heldBytes)
        let budget = ByteBudget(limit: 1 << 20)
        far.memory.budget = budget
        #expect(budget.bytesHeld == far.memory.held)
        server.stream.close()
        #expect(far.memory.held == 0 && budget.bytesHeld == 0)
        far.memory.budget = nil
        peer.stream.close()
        listener.close()
        network.runUntilQuiet()
        #expect(near.leftovers == [] && far.leftovers == [])
    }

    /// OpenSSL holds a buffer for the longest record from its header on.
    @Test(arguments: [1, 5, 6, 10_000]) func countsRecordsInPart(_ count: Int) throws {
        let (engine, peer, server, listener) = try connect()
        let idle = far.memory.held
        #expect(engine.send(Bytes([UInt8](repeating: 1, count: 12_000))))
        let record = engine.takeOutput()
        peer.stream.write(record.span.extracting(first: count))
        network.advance(by: .milliseconds(10))
        #expect(far.memory.held >= idle + 16 * 1024)
        peer.stream.write(record.span.extracting(droppingFirst: count))
        network.advance(by: .milliseconds(10))
        #expect(server.received.count == 12_000)
        #expect(far.memory.held <= idle + 16 * 1024, "a small buffer is kept")
        server.stream.close()
        peer.stream.close()
        listener.close()
        network.runUntilQuiet()
    }

    /// The buffers of OpenSSL keep the most that they ever held, unless they are freed.
    @Test func largeBuffersAreFreed() throws {
        let (engine, peer, server, listener) = try connect()
        let idle = far.memory.held
        #expect(engine.send(Bytes([UInt8](repeating: 1, count: 300_000))))
        transfer(engine, peer)
        server.stream.write([UInt8](repeating: 2, count: 300_000).span)
        network.advance(by: .milliseconds(10))
        #expect(server.received.count == 300_000)
        #expect(far.memory.held <= idle + 16 * 1024)
        server.stream.close()
        peer.stream.close()
        listener.close()
        network.runUntilQuiet()
    }

    /// A client with a part of a record, or in a handshake, is one of many that use up the memory.
    @Test(arguments: [false, true]) func exhaustedBudgetEndsPartialRecords(_ isExhausted: Bool)
        throws
    {
        let (engine, peer, server, listener) = try connect()
        let budget = ByteBudget(limit: 1 << 20)
        far.memory.budget = budget
        if isExhausted { budget.adjust(by: 1 << 20) }
        #expect(engine.send(Bytes([UInt8](repeating: 1, count: 100))))
        let record = engine.takeOutput()
        peer.stream.write(record.span.extracting(first: 50))
        network.advance(by: .milliseconds(10))
        #expect(server.failures == (isExhausted ? [.outOfMemory] : []))
        // A whole record is served nevertheless: its reader decides.
        far.memory.budget = nil
        server.stream.close()
        peer.stream.close()
        listener.close()
        network.runUntilQuiet()
    }
}
