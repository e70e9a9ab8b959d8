import Basics
import Reactor
import TLS
import TestCertificates
import Testing

/// Data after the handshake, and the effect of altered bytes.
@Suite struct RecordTests {
    private func pair() throws -> EnginePair {
        let pair = try EnginePair()
        pair.performHandshake()
        try #require(pair.isDone)
        // The server's session tickets, which are not used, are read first.
        #expect(pair.client.readAll().end == .needsMore)
        return pair
    }

    @Test(arguments: [1, 100, 16_384, 16_385, 3_000_000]) func deliversBytesInBothDirections(
        _ count: Int
    ) throws {
        let pair = try pair()
        let text = Bytes((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        for (source, target) in [(pair.client, pair.server), (pair.server, pair.client)] {
            #expect(source.send(text))
            target.receive(source.takeOutput().span)
            let read = target.readAll()
            #expect(Bytes(read.text) == text && read.end == .needsMore)
        }
    }

    @Test func readsRecordsByteByByte() throws {
        let pair = try pair()
        #expect(pair.client.send("hello"))
        var text: [UInt8] = []
        for piece in pair.client.takeOutput().singleBytes {
            pair.server.receive(piece.span)
            text += pair.server.readAll().text
        }
        #expect(String(decoding: text, as: UTF8.self) == "hello")
    }

    @Test func reportsCloseNotifyAfterTheData() throws {
        let pair = try pair()
        #expect(pair.client.send("last"))
        pair.client.shutDown()
        #expect(pair.client.outgoingCount > 0)
        pair.server.receive(pair.client.takeOutput().span)
        let read = pair.server.readAll()
        #expect(String(decoding: read.text, as: UTF8.self) == "last" && read.end == .ended)
        // The other direction is still open.
        #expect(pair.server.send("answer"))
        pair.client.receive(pair.server.takeOutput().span)
        #expect(String(decoding: pair.client.readAll().text, as: UTF8.self) == "answer")
    }

    @Test func alteredRecordFailsTheConnection() throws {
        let pair = try pair()
        #expect(pair.server.send("true"))
        var forged = pair.server.takeOutput().array
        forged[forged.count - 1] ^= 1
        pair.client.receive(forged.span)
        let (text, end) = pair.client.readAll()
        #expect(text.isEmpty)
        #expect(end == .failed(.tlsFailed("decryption failed or bad record mac")))
        #expect(pair.client.outgoingCount > 0, "an alert")
        #expect(pair.client.readAll().end == end, "and stays it")
        #expect(!pair.client.send("more"))
    }

    @Test func plainHTTPFailsTheHandshake() throws {
        let pair = try EnginePair()
        #expect(pair.client.continueHandshake() == .needsMore)
        pair.client.receive(Bytes("HTTP/1.1 400 Bad Request\r\n\r\n").span)
        #expect(
            pair.client.continueHandshake()
                == .failed(.tlsFailed("wrong version number (does the server use TLS?)")))
    }

    @Test func reportsTheTextOfAnAlert() throws {
        let pair = try EnginePair()
        #expect(pair.client.continueHandshake() == .needsMore)
        pair.client.receive([21, 3, 3, 0, 2, 2, 40].span)  // fatal, handshake_failure
        #expect(
            pair.client.continueHandshake() == .failed(.tlsFailed("sslv3 alert handshake failure")))
    }

    // MARK: Hostile bytes

    private static let rounds = 24

    /// Every fourth round alters nothing, to show that failures are caused by the alteration.
    private static func isControl(_ round: Int) -> Bool { round.isMultiple(of: 4) }

    /// One flight of the handshake is altered. The handshake fails, waits for lost bytes, or
    /// completes nevertheless (some bytes, such as a record's version, have no meaning). The client
    /// reads what the server sent or nothing, and nothing at all without a completed handshake.
    @Test(arguments: 0..<8) func alteredHandshakeFailsOrAgreesOnTheSameKeys(_ seed: UInt64) throws {
        let random = Entropy(seed: seed)
        let (context, server) = try (Certificates.trusting(), Certificates.server("chain"))
        var (completed, refused) = (0, 0)
        for round in 0..<Self.rounds {
            let pair = try EnginePair(context, server: server)
            let target = Self.isControl(round) ? nil : random.below(2)
            var flight = -1
            pair.performHandshake { bytes in
                if !bytes.isEmpty { flight += 1 }
                return flight == target ? random.altered(bytes) : [bytes]
            }
            let isRefused = [pair.clientState, pair.serverState].contains { state in
                if case .failed(.tlsFailed) = state { true } else { false }
            }
            if isRefused { refused += 1 }
            _ = pair.server.send("text")
            pair.client.receive(pair.server.takeOutput().span)
            let text = String(decoding: pair.client.readAll().text, as: UTF8.self)
            if text == "text" { completed += 1 }
            #expect(text.isEmpty || pair.isDone && text == "text")
            #expect(text == "text" || target != nil, "the control: \(pair.clientState)")
        }
        #expect(completed >= Self.rounds / 4)
        #expect(refused >= Self.rounds / 4)
    }

    /// The client reads exactly the records before the first altered byte.
    @Test(arguments: 0..<8) func alteredRecordsAreNeverRead(_ seed: UInt64) throws {
        let random = Entropy(seed: 100 + seed)
        let texts = (0..<4).map { String(repeating: "\($0)123456789", count: 5) }
        let (context, server) = try (Certificates.trusting(), Certificates.server())
        var (completed, refused) = (0, 0)
        for round in 0..<Self.rounds {
            let pair = try EnginePair(context, server: server)
            pair.performHandshake()
            var (sent, ends): ([UInt8], [Int]) = ([], [])
            for text in texts {
                #expect(pair.server.send(text))
                sent += pair.server.takeOutput().array
                ends.append(sent.count)
            }
            let pieces = Self.isControl(round) ? [Bytes(sent)] : random.altered(Bytes(sent))
            for piece in pieces { pair.client.receive(piece.span) }
            let received = pieces.flatMap(\.array)
            let intact = zip(sent, received).prefix { $0 == $1 }.count
            let (text, end) = pair.client.readAll()
            let whole = texts[..<ends.count { $0 <= intact }].joined()
            #expect(String(decoding: text, as: UTF8.self) == whole, "round \(round)")
            if case .failed(.tlsFailed) = end { refused += 1 }
            if received == sent { completed += 1 }
            #expect(received != sent || end == .needsMore)
        }
        #expect(completed >= Self.rounds / 4)
        #expect(refused >= Self.rounds / 4)
    }

    @Test(arguments: 0..<4) func refusesRandomBytes(_ seed: UInt64) throws {
        let chance = Entropy(seed: 200 + seed)
        let context = try Certificates.trusting()
        for _ in 0..<100 {
            let client = try context.engine(for: "backend.test", unixTime: Certificates.now)
            #expect(client.continueHandshake() == .needsMore)
            let bytes = (0..<chance.below(400)).map { _ in UInt8(chance.below(256)) }
            client.receive(bytes.span)
            #expect(client.continueHandshake() != .done)
        }
    }
}

extension Entropy {
    /// A copy with one to four errors: changed, missing, doubled or inserted bytes. Rarely they
    /// cancel each other out.
    fileprivate func altered(_ bytes: Bytes) -> [Bytes] {
        var bytes = bytes.array
        for _ in 0...below(3) where !bytes.isEmpty {
            let place = below(bytes.count)
            let end = min(bytes.count, place + 1 + below(40))
            switch below(6) {
            case 0: bytes[place] ^= 1 << UInt8(below(8))
            case 1: bytes[place] = UInt8(below(256))
            case 2: bytes.removeSubrange(place..<end)
            case 3: bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
            case 4: bytes.removeLast(bytes.count - place)
            default: bytes.insert(UInt8(below(256)), at: place)
            }
        }
        let cut = below(bytes.count + 1)
        return [Bytes(Array(bytes[..<cut])), Bytes(Array(bytes[cut...]))]
    }
}
