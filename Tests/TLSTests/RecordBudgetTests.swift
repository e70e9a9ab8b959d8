import Basics
import COpenSSL
import Reactor
import TestCertificates
import Testing

@testable import TLS

/// Records without data: their budget, and what a peer can send within it.
@Suite struct RecordBudgetTests {
    private func time(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    @Test func refillsByOneRecordPerSecond() {
        var budget = RecordBudget()
        var granted: [Bool] = []
        for _ in 0...64 { granted.append(budget.charge(at: time(100))) }
        #expect(granted == Array(repeating: true, count: 64) + [false])
        granted = (0..<2).map { _ in budget.charge(at: time(101)) }
        #expect(granted == [true, false])
        budget.refund()
        let isGranted = budget.charge(at: time(101))
        #expect(isGranted)
    }

    @Test func recordsWithDataAreFree() {
        var budget = RecordBudget()
        for _ in 0..<10_000 {
            let isGranted = budget.charge(at: time(100))
            #expect(isGranted)
            budget.refund()
        }
    }

    private static func pair() throws -> EnginePair {
        let pair = try EnginePair()
        pair.performHandshake()
        try #require(pair.isDone)
        #expect(pair.client.readAll().end == .needsMore)
        return pair
    }

    /// Key updates that request one in turn, in one flight, each behind a byte of data if wanted.
    private static func keyUpdates(_ count: Int, by engine: TLSEngine, withData: Bool) -> Bytes {
        var bytes: [UInt8] = []
        for _ in 0..<count {
            if withData { _ = engine.send("x") }
            SSL_key_update(engine.ssl, SSL_KEY_UPDATE_REQUESTED)
            SSL_do_handshake(engine.ssl)
            bytes += engine.takeOutput().array
        }
        return Bytes(bytes)
    }

    @Test(arguments: [false, true], [false, true])
    func keyUpdatesAreBounded(_ isFromClient: Bool, _ withData: Bool) throws {
        for (count, end) in [(40, TLSEngine.Read.needsMore), (80, .failed(.recordFlood))] {
            let pair = try Self.pair()
            let (source, target) =
                isFromClient ? (pair.client, pair.server) : (pair.server, pair.client)
            target.receive(
                Self.keyUpdates(count, by: source, withData: withData).span)
            let read = target.readAll()
            #expect(read.end == end)
            #expect(withData || read.text.isEmpty)
            // A failed engine takes and gives nothing more.
            #expect(target.send("more") == (count == 40))
        }
    }

    @Test func keyUpdatesAreAllowedAgainAfterATime() throws {
        let pair = try Self.pair()
        for minute in 1...4 as ClosedRange<Int64> {
            pair.server.now = time(100 + 60 * minute)
            pair.server.receive(Self.keyUpdates(50, by: pair.client, withData: false).span)
            #expect(pair.server.readAll().end == .needsMore)
        }
    }

    /// The first message of a client in records of so many bytes.
    @Test(arguments: [(16, true), (1, false)])
    func fragmentsOfAHandshakeAreBounded(_ size: Int, _ isDone: Bool) throws {
        let pair = try EnginePair()
        #expect(pair.client.continueHandshake() == .needsMore)
        let record = pair.client.takeOutput().array
        var position = 5
        var state = TLSEngine.Handshake.needsMore
        while position < record.count, state == .needsMore {
            let piece = record[position..<min(position + size, record.count)]
            let fragment = record[..<3] + [0, UInt8(piece.count)] + piece
            pair.server.receive(Array(fragment).span)
            state = pair.server.continueHandshake()
            position += size
        }
        #expect(state == (isDone ? .needsMore : .failed(.recordFlood)))
        let hasAnswered = pair.server.outgoingCount > 0
        #expect(hasAnswered == isDone)
    }

    /// A client of TLS 1.2 that begins a second handshake gets a warning, and the connection stays as it was.
    @Test func refusesRenegotiation() throws {
        let pair = try EnginePair()
        SSL_ctrl(pair.client.ssl, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        pair.performHandshake()
        try #require(pair.isDone)
        #expect(pair.server.session.version == .tls12)
        SSL_clear_options(pair.client.ssl, 1 << 30)
        #expect(SSL_renegotiate(pair.client.ssl) == 1)
        SSL_do_handshake(pair.client.ssl)
        pair.server.receive(pair.client.takeOutput().span)
        #expect(pair.server.readAll().end == .needsMore)
        // One record: an alert.
        let record = pair.server.takeOutput().array
        #expect(record.first == 21 && record.count == 5 + Int(record[3]) << 8 + Int(record[4]))
        #expect(pair.server.send("still here"))
    }
}
