import Basics
import HTTP
import TestSupport
import Testing

@testable import HTTP2

/// Frames that no honest client sends.
@Suite struct HostileTests {
    /// `goaway CODE`, `reset CODE` or `failed` after the opening and these frames.
    private func outcome(
        limits: H2Limits = H2Limits(), piece: Int = .max, _ write: (inout H2Frames) -> Void
    ) throws -> String {
        let server = try H2Side(.server, limits)
        var frames = H2Frames.opening()
        write(&frames)
        server.receive(frames.bytes, piece: piece)
        let written = server.takeFrames()
        if let goAway = written.first(where: { $0.isKind(.goAway) }) {
            #expect(server.session.isFinished)
            return "goaway \(goAway.number(at: 4))"
        }
        if let reset = written.first(where: { $0.isKind(.reset) }) {
            #expect(!server.session.isFinished)
            return "reset \(reset.number())"
        }
        return server.session.failure == nil ? "\(server.streams.count) requests" : "failed"
    }

    /// The positive control.
    @Test func servesHonestFrames() throws {
        #expect(try outcome { $0.get(on: 1) } == "1 requests")
    }

    @Test(arguments: ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"])
    func endsAfterAWrongPreface(_ text: String) throws {
        let server = try H2Side(.server)
        server.receive(Array(text.utf8))
        guard case .engine? = server.session.failure else {
            Issue.record("\(String(describing: server.session.failure))")
            return
        }
        #expect(server.session.isFinished)
    }

    /// RFC 9113 3.4: SETTINGS come first.
    @Test func endsWithoutSettings() throws {
        let server = try H2Side(.server)
        var frames = H2Frames()
        frames.append(H2Frames.preface)
        frames.get(on: 1)
        server.receive(frames.bytes)
        let goAway = server.takeFrames().first { $0.isKind(.goAway) }
        #expect(goAway?.number(at: 4) == 1 && server.streams.isEmpty)
    }

    @Test func treatsConnectionErrors() throws {
        // RFC 9113 6.1, 6.2: on stream 0.
        #expect(try outcome { $0.append(.data, on: 0, [1]) } == "goaway 1")
        #expect(try outcome { $0.append(.headers, 4, on: 0, []) } == "goaway 1")
        // 5.1.1: an even id, and one that was left out.
        #expect(try outcome { $0.get(on: 2) } == "goaway 1")
        #expect(
            try outcome {
                $0.get(on: 5)
                $0.get(on: 3)
            } == "goaway 1")
        // 6.3.
        #expect(try outcome { $0.append(.priority, on: 0, [0, 0, 0, 1, 5]) } == "goaway 1")
        // 5.1: frames on an idle stream.
        #expect(try outcome { $0.data("x", on: 1) } == "goaway 1")
        #expect(try outcome { $0.reset(on: 1) } == "goaway 1")
        #expect(try outcome { $0.windowUpdate(1, on: 1) } == "goaway 1")
        // 6.5, 6.7, 6.9: lengths.
        #expect(try outcome { $0.append(.settings, on: 0, [0]) } == "goaway 6")
        #expect(try outcome { $0.append(.settings, 1, on: 0, [0, 1, 0, 0, 0, 0]) } == "goaway 6")
        #expect(try outcome { $0.append(.ping, on: 0, [0]) } == "goaway 6")
        #expect(try outcome { $0.append(.windowUpdate, on: 0, [0]) } == "goaway 6")
        #expect(try outcome { $0.append(.reset, on: 1, [0]) } == "goaway 6")
        // 6.5.2: values.
        #expect(try outcome { $0.settings([(2, 2)]) } == "goaway 1")
        #expect(try outcome { $0.settings([(4, 1 << 31)]) } == "goaway 3")
        #expect(try outcome { $0.settings([(5, 100)]) } == "goaway 1")
        // 6.9: increments.
        #expect(try outcome { $0.windowUpdate(0, on: 0) } == "goaway 1")
        #expect(try outcome { $0.windowUpdate(0x7FFF_FFFF, on: 0) } == "goaway 3")
        // 8.4: clients push nothing.
        #expect(try outcome { $0.append(.pushPromise, 4, on: 1, [0, 0, 0, 2]) } == "goaway 1")
        // 4.2: beyond SETTINGS_MAX_FRAME_SIZE.
        #expect(
            try outcome { $0.append(.data, on: 1, [UInt8](repeating: 0, count: 16385)) }
                == "goaway 6")
        // RFC 7541: a block that cannot be decoded.
        #expect(try outcome { $0.append(.headers, 5, on: 1, [0xFF, 0xFF, 0xFF]) } == "goaway 9")
        #expect(try outcome { $0.append(.headers, 5, on: 1, [0x80]) } == "goaway 9")
        // 6.10: only CONTINUATION frames within a block.
        #expect(
            try outcome {
                $0.append(.headers, 1, on: 1, H2Frames.block(H2Frames.get()))
                $0.append(.ping, on: 0, [UInt8](repeating: 0, count: 8))
            } == "goaway 1")
        #expect(try outcome { $0.append(.continuation, 4, on: 1, []) } == "goaway 1")
    }

    @Test func treatsStreamErrors() throws {
        #expect(
            try outcome {
                $0.request(H2Frames.post(), on: 1, endsStream: false)
                $0.windowUpdate(0, on: 1)
            } == "goaway 1", "nghttp2 treats this stream error as a connection error (5.4.1)")
        #expect(
            try outcome {
                $0.request(H2Frames.post(), on: 1, endsStream: false)
                $0.windowUpdate(0x7FFF_FFFF, on: 1)
            } == "reset 3")
        #expect(
            try outcome {
                $0.request(H2Frames.post(), on: 1, endsStream: false)
                $0.request([("x", "y")], on: 1, endsStream: false)
            } == "reset 1", "trailers end the stream")
        #expect(
            try outcome {
                $0.request(H2Frames.post(), on: 1, endsStream: false)
                $0.request([(":path", "/")], on: 1)
            } == "reset 1", "a pseudo field in trailers")
    }

    @Test func ignoresUnknownFramesAndSettings() throws {
        #expect(
            try outcome {
                $0.append(type: 0xEE, 0xFF, on: 7, [1, 2, 3])
                $0.settings([(0xEEEE, 1)])
                $0.append(.priority, on: 3, [0, 0, 0, 1, 5])
                $0.append(.goAway, on: 0, [0, 0, 0, 0, 0, 0, 0, 0])
                $0.get(on: 5)
            } == "1 requests")
    }

    @Test func takesPaddingAndPriorities() throws {
        #expect(
            try outcome {
                let block = H2Frames.block(H2Frames.post())
                $0.append(.headers, 0x2C, on: 1, [3] + [0, 0, 0, 0, 9] + block + [0, 0, 0])
                $0.append(.data, 0x9, on: 1, [2, 1, 0, 0])
            } == "1 requests")
        #expect(
            try outcome { $0.append(.headers, 0xC, on: 1, [200, 1, 2]) } == "goaway 1",
            "more padding than the frame has")
    }

    /// Whatever pieces the bytes arrive in, and whether the request is malformed.
    @Test(arguments: ["x", "X"], [1, 7, .max])
    func findsUnfinishedBlocks(_ name: String, _ piece: Int) throws {
        let server = try H2Side(.server)
        let block = H2Frames.block(H2Frames.get() + [(name, "a"), ("y", "b")])
        var frames = H2Frames.opening()
        frames.get(on: 1)
        server.receive(frames.bytes, piece: piece)
        #expect(!server.session.isInHeaderBlock)
        for count in [0, 10, block.count - 5, block.count] {
            frames = H2Frames()
            frames.append(.headers, 1, on: 3, Array(block.prefix(count)))
            frames.append(.continuation, on: 3, Array(block.dropFirst(count)))
            let first = 9 + count
            for end in [1, 8] {
                let session = try H2Side(.server)
                session.receive(H2Frames.opening().bytes)
                session.receive(Array(frames.bytes.prefix(end)), piece: piece)
                #expect(!session.session.isInHeaderBlock)
            }
            for end in [9, first, first + 4, first + 9, frames.bytes.count] {
                let session = try H2Side(.server)
                session.receive(H2Frames.opening().bytes)
                session.receive(Array(frames.bytes.prefix(end)), piece: piece)
                #expect(session.session.isInHeaderBlock)
                if end == frames.bytes.count {
                    frames.append(.continuation, 4, on: 3, [])
                    session.receive(Array(frames.bytes.dropFirst(end)), piece: piece)
                    #expect(!session.session.isInHeaderBlock)
                    #expect(session.session.failure == nil)
                }
            }
        }
    }

    /// CVE-2024-27316.
    @Test func limitsContinuations() throws {
        func continued(_ count: Int, piece: Int = .max) throws -> String {
            try outcome(piece: piece) {
                $0.append(.headers, 1, on: 1, H2Frames.block(H2Frames.get()))
                for index in 0..<count {
                    $0.append(.continuation, index == count - 1 ? 4 : 0, on: 1, [])
                }
            }
        }
        #expect(try continued(8) == "1 requests")
        #expect(try continued(9) == "goaway 11")
        #expect(try continued(8, piece: 1) == "1 requests")
        #expect(try continued(9, piece: 1) == "goaway 11")
    }

    /// A request whose block refers so many times to a field of 4,000 bytes in the table.
    private func bomb(_ references: Int) -> [UInt8] {
        let large = String(repeating: "x", count: 4000)
        // 0x40: with indexing; the field is entry 62 then.
        let stored = [UInt8(0x40), 1, UInt8(ascii: "b"), 0x7F, 0xA1, 0x1E] + Array(large.utf8)
        return H2Frames.block(H2Frames.get()) + stored
            + [UInt8](repeating: 0x80 | 62, count: references)
    }

    @Test func storesNoMoreOfABlockThanTheLimit() throws {
        let server = try H2Side(.server)
        var frames = H2Frames.opening()
        frames.append(.headers, 5, on: 1, bomb(60))
        server.receive(frames.bytes)
        #expect(server.log == ["1 fieldsTooLarge"] && server.session.failure == nil)
        #expect(server.session.memoryBytes < 128 * 1024)
    }

    /// The block would be 40 MB when it is decoded.
    @Test func endsConnectionWithinAnExcessiveBlock() throws {
        let server = try H2Side(.server)
        var frames = H2Frames.opening()
        frames.append(.headers, 5, on: 1, bomb(10_000))
        server.receive(frames.bytes)
        #expect(server.takeFrames().last?.number(at: 4) == 11 && server.log.isEmpty)
        #expect(server.session.failure == .headTooLarge && server.session.isFinished)
        #expect(server.session.block.decodedBytes < (32 + 256 + 8) * 1024)
    }

    /// A server with a limit of two streams, both of which are open.
    private func fullServer(acknowledged: Bool) throws -> H2Side {
        var limits = H2Limits()
        limits.streams = 2
        let server = try H2Side(.server, limits)
        var frames = H2Frames.opening()
        if acknowledged { frames.append(.settings, H2Frames.acknowledgement, on: 0) }
        server.receive(frames.bytes)
        frames = H2Frames()
        frames.request(H2Frames.post(), on: 1, endsStream: false)
        frames.get(on: 3)
        server.receive(frames.bytes)
        #expect(server.streams.count == 2)
        return server
    }

    /// RFC 9113 5.1.2: an error of the stream, whether the client knows the limit or not.
    @Test(arguments: [false, true])
    func refusesStreamsBeyondTheLimit(acknowledged: Bool) throws {
        let server = try fullServer(acknowledged: acknowledged)
        _ = server.takeFrames()
        var frames = H2Frames()
        frames.get(on: 5)
        frames.request(H2Frames.post(), on: 7, endsStream: false)
        frames.data("x", on: 7, endsStream: true)
        server.receive(frames.bytes)
        let written = server.takeFrames()
        #expect(written.map(\.stream) == [5, 7] && written.allSatisfy { $0.isKind(.reset) })
        #expect(written.map { $0.number() } == [7, 7])
        #expect(server.streams.count == 2 && server.session.streams.count == 2)
        #expect(server.session.failure == nil)
        server.streams[1].respond()
        server.write()
        frames = H2Frames()
        frames.get(on: 9)
        server.receive(frames.bytes)
        #expect(server.streams.count == 3, "a stream has ended, so another one may begin")
    }

    /// The table is that of the connection (RFC 7541 2.2).
    @Test func decodesTheBlockOfARefusedStream() throws {
        let server = try fullServer(acknowledged: true)
        let stored: [UInt8] = [0x40, 1, UInt8(ascii: "b"), 1, UInt8(ascii: "c")]
        let block = H2Frames.block(H2Frames.get()) + stored
        var frames = H2Frames()
        frames.append(.headers, 1, on: 5, Array(block.prefix(10)))
        frames.append(.continuation, 4, on: 5, Array(block.dropFirst(10)))
        server.receive(frames.bytes)
        #expect(!server.session.isInHeaderBlock)
        server.streams[1].respond()
        server.write()
        frames = H2Frames()
        frames.append(.headers, 5, on: 7, H2Frames.block(H2Frames.get()) + [0x80 | 62])
        server.receive(frames.bytes)
        #expect(server.streams.count == 3 && server.streams[2].request?.fields["b"] == "c")
    }

    /// RFC 9113 3.4, 6.5.1.
    @Test func announcesItsLimitsFirst() throws {
        var limits = H2Limits()
        limits.streams = 300
        let server = try H2Side(.server, limits)
        server.write()
        let frames = server.takeFrames()
        let settings = try #require(frames.first)
        #expect(settings.isKind(.settings) && settings.flags == 0 && settings.stream == 0)
        let values = stride(from: 0, to: settings.payload.count, by: 6).map { offset in
            [UInt32(settings.payload[offset + 1]), settings.number(at: offset + 2)]
        }
        #expect(values == [[3, 300], [4, 65_536], [6, 32_768], [9, 1]])
        #expect(!frames.dropFirst().contains { $0.isKind(.settings) })
    }

    /// RFC 9113 5.1: this side has reset the stream, and the client does not know that yet.
    @Test func ignoresTrailersOfAStreamThatItHasReset() throws {
        let server = try H2Side(.server)
        server.onRequest = { recorder in
            if let stream = recorder.stream { server.session.reset(stream, .cancel) }
        }
        var frames = H2Frames.opening()
        frames.request(H2Frames.post(), on: 1, endsStream: false)
        server.receive(frames.bytes)
        #expect(server.takeFrames().last?.isKind(.reset) == true)
        frames = H2Frames()
        frames.data("x", on: 1)
        frames.request([("a", "b")], on: 1)
        frames.get(on: 3)
        server.receive(frames.bytes)
        #expect(server.session.failure == nil && server.streams.count == 2)
        #expect(server.takeFrames().allSatisfy { !$0.isKind(.goAway) })
    }

    @Test func findsIdsThatWereLeftOut() {
        var ids = ClientStreamIDs()
        #expect(ids.use(5) == .new && ids.use(7) == .new && ids.use(5) == .known)
        #expect(ids.use(1) == .leftOut && ids.use(3) == .leftOut)
        #expect(ids.use(.max) == .new && ids.use(9) == .leftOut && ids.use(.max - 2) == .leftOut)
        #expect(ids.use(0) == .known && ids.use(2) == .known && ids.use(-1) == .known)
        ids = ClientStreamIDs()
        #expect(ids.use(.max) == .new && ids.use(1) == .leftOut)
    }

    /// Of a client that leaves out many, the last eight gaps are stored.
    @Test func forgetsOldGapsOfIds() {
        var ids = ClientStreamIDs()
        for id in stride(from: 5 as Int32, through: 41, by: 4) { #expect(ids.use(id) == .new) }
        #expect(ids.use(3) == .known && ids.use(7) == .known)
        for id in stride(from: 11 as Int32, through: 39, by: 4) { #expect(ids.use(id) == .leftOut) }
    }

    /// Acknowledgements that the client does not read.
    @Test func endsAfterUnreadAcknowledgements() throws {
        let server = try H2Side(.server)
        var frames = H2Frames.opening()
        for _ in 0..<99 { frames.append(.ping, on: 0, [UInt8](repeating: 0, count: 8)) }
        server.session.receive(frames.bytes.span, at: Instant(nanoseconds: 0))
        #expect(server.session.failure == nil)
        frames = H2Frames()
        frames.append(.ping, on: 0, [UInt8](repeating: 0, count: 8))
        frames.append(.ping, on: 0, [UInt8](repeating: 0, count: 8))
        server.session.receive(frames.bytes.span, at: Instant(nanoseconds: 0))
        #expect(server.session.failure == .unreadAcknowledgements)
    }

    /// At every byte of a conversation the input may end.
    @Test func takesEveryTruncation() throws {
        var frames = H2Frames.opening()
        frames.request(H2Frames.post() + [("content-length", "3")], on: 1, endsStream: false)
        frames.data("abc", on: 1, endsStream: true)
        frames.append(.headers, 1, on: 3, Array(H2Frames.block(H2Frames.get()).prefix(10)))
        frames.append(.continuation, 4, on: 3, Array(H2Frames.block(H2Frames.get()).dropFirst(10)))
        frames.append(.ping, on: 0, [UInt8](repeating: 7, count: 8))
        for count in 0...frames.bytes.count {
            let server = try H2Side(.server)
            server.onRequest = { $0.respond(body: "x") }
            server.receive(Array(frames.bytes.prefix(count)))
            #expect(server.session.failure == nil)
            #expect(server.streams.count <= 2)
            if count == frames.bytes.count { #expect(server.streams.count == 2) }
        }
    }
}
