import Basics
import HTTP
import TestSupport
import Testing

@testable import HTTP2

/// The abuse budget, in virtual time.
@Suite struct FloodTests {
    private static let ping = [UInt8](repeating: 0, count: 8)

    /// How many repetitions a server takes, one each so many milliseconds, before it ends the
    /// connection; at most 3,000.
    private func taken(
        everyMs interval: Int64 = 0, responding: Bool = false,
        _ write: (inout H2Frames, UInt32) -> Void
    ) throws -> Int {
        let server = try H2Side(.server)
        if responding { server.onRequest = { $0.respond(body: "x") } }
        server.receive(H2Frames.opening().bytes)
        for number in 0..<3000 {
            var frames = H2Frames()
            write(&frames, UInt32(2 * number + 1))
            server.receive(frames.bytes, at: Int64(number) * interval)
            if server.session.failure != nil {
                #expect(server.session.failure == .flood)
                let goAway = server.takeFrames().last
                #expect(goAway?.isKind(.goAway) == true && goAway?.number(at: 4) == 11)
                #expect(server.session.isFinished)
                return number
            }
        }
        return 3000
    }

    /// The opening has cost one point.
    @Test func limitsCheapFrames() throws {
        #expect(try taken { frames, _ in frames.append(.ping, on: 0, Self.ping) } == 999)
        #expect(try taken { frames, _ in frames.append(.settings, on: 0) } == 999)
        #expect(
            try taken { frames, _ in frames.append(.priority, on: 1, [0, 0, 0, 3, 1]) } == 999)
    }

    /// 100 per second are never too many.
    @Test func refillsWithTime() throws {
        #expect(
            try taken(everyMs: 10) { frames, _ in frames.append(.ping, on: 0, Self.ping) } == 3000)
        let faster = try taken(everyMs: 5) { frames, _ in frames.append(.ping, on: 0, Self.ping) }
        #expect((1990...2010).contains(faster))
    }

    /// CVE-2023-44487: a request that is reset at once costs 5.
    @Test func limitsRapidResets() throws {
        #expect(
            try taken { frames, stream in
                frames.get(on: stream)
                frames.reset(on: stream)
            } == 199)
        #expect(
            try taken(everyMs: 50) { frames, stream in
                frames.get(on: stream)
                frames.reset(on: stream)
            } == 3000)
    }

    /// CVE-2025-8671: the client makes this side reset the stream.
    @Test func limitsResetsOfThisSide() throws {
        #expect(
            try taken { frames, stream in
                frames.request(H2Frames.get() + [("connection", "close")], on: stream)
            } == 199)
        #expect(
            try taken { frames, stream in
                frames.request(
                    H2Frames.post() + [("content-length", "1")], on: stream, endsStream: false)
                frames.data("xx", on: stream, endsStream: true)
            } == 199)
        let windows = try taken { frames, stream in
            frames.request(H2Frames.post(), on: stream, endsStream: false)
            frames.windowUpdate(0x7FFF_FFFF, on: stream)
        }
        #expect((165...200).contains(windows), "5 or 6 points each")
    }

    /// A client that knows the limit of streams pays for exceeding it as for a reset.
    @Test func limitsRefusedStreams() throws {
        func refused(acknowledged: Bool) throws -> Int {
            try taken { frames, stream in
                if acknowledged, stream == 1 {
                    frames.append(.settings, H2Frames.acknowledgement, on: 0)
                }
                frames.request(H2Frames.post(), on: stream, endsStream: false)
            }
        }
        #expect(try refused(acknowledged: false) == 1099, "the first 100 are served")
        #expect(try refused(acknowledged: true) == 299)
    }

    /// Such heads get 431, and take more work than others.
    @Test func limitsHeadsBeyondTheLimit() throws {
        let fields = (0..<110).map { ("x-\($0)", "") }
        #expect(
            try taken { frames, stream in
                if stream == 1 { frames.append(.settings, H2Frames.acknowledgement, on: 0) }
                frames.request(H2Frames.get() + fields, on: stream)
            } == 199, "of the refused ones, too")
    }

    /// CVE-2025-8671, with trailers that cannot be accepted.
    @Test func limitsInvalidTrailers() throws {
        #expect(
            try taken { frames, stream in
                frames.request(H2Frames.post(), on: stream, endsStream: false)
                frames.request([("expect", "x")], on: stream)
            } == 199)
    }

    /// nghttp2 ignores such frames, but decodes them.
    @Test func limitsHeadersOnClosedStreams() throws {
        #expect(
            try taken(responding: true) { frames, _ in frames.get(on: 1) } == 1001,
            "the first one is served, and its response refills the budget")
    }

    @Test func limitsEmptyData() throws {
        let server = try H2Side(.server)
        var frames = H2Frames.opening()
        frames.request(H2Frames.post(), on: 1, endsStream: false)
        server.receive(frames.bytes)
        frames = H2Frames()
        for _ in 0..<998 { frames.append(.data, on: 1, []) }
        server.receive(frames.bytes)
        #expect(server.session.failure == nil)
        frames = H2Frames()
        for _ in 0..<2 { frames.append(.data, 8, on: 1, [0]) }
        server.receive(frames.bytes)
        #expect(server.session.failure == .flood, "padding alone is no data")
    }

    /// CVE-2019-9511: windows that open by a byte.
    @Test func limitsSmallWindowUpdates() throws {
        let small = try taken { frames, _ in frames.windowUpdate(1023, on: 0) }
        #expect(small == 999)
        let large = try taken { frames, _ in frames.windowUpdate(1024, on: 0) }
        #expect(large == 3000)
    }

    /// How many pieces of a streamed response a client takes that sends a PING and a small
    /// WINDOW_UPDATE for each, as gRPC does, before the connection ends; at most 3,000.
    private func pieces(sent: Bool) throws -> Int {
        let server = try H2Side(.server)
        var frames = H2Frames.opening()
        frames.get(on: 1)
        server.receive(frames.bytes)
        let stream = try #require(server.streams.first?.stream)
        server.session.sendResponse(.ok, lines: Span(), on: stream, endsStream: false)
        for number in 0..<3000 {
            if sent {
                let now = Instant(nanoseconds: 0)
                server.session.sendPiece([UInt8(ascii: "x")].span, on: stream, at: now)
                server.write()
            }
            var frames = H2Frames()
            frames.windowUpdate(1, on: 0)
            frames.append(.ping, on: 0, Self.ping)
            server.receive(frames.bytes)
            if server.session.failure != nil { return number }
        }
        return 3000
    }

    @Test func returnsPointsForPieces() throws {
        #expect(try pieces(sent: true) == 3000)
        #expect((490...500).contains(try pieces(sent: false)))
    }

    /// CVE-2019-9511: a window that opens by a byte cuts the body into pieces that are no progress.
    @Test func returnsNoPointsForPiecesThatTheWindowCuts() throws {
        let server = try H2Side(.server)
        var frames = H2Frames.opening()
        frames.settings([(4, 0)])
        frames.get(on: 1)
        server.receive(frames.bytes)
        let stream = try #require(server.streams.first?.stream)
        server.session.sendResponse(.ok, lines: Span(), on: stream, endsStream: false)
        let body = [UInt8](repeating: 0, count: 5000)
        server.session.sendPiece(body.span, on: stream, at: Instant(nanoseconds: 0))
        var updates = 0
        while server.session.failure == nil, updates < 3000 {
            frames = H2Frames()
            frames.windowUpdate(1, on: 1)
            server.receive(frames.bytes)
            updates += 1
        }
        #expect((990...1000).contains(updates) && stream.sentBytes == updates - 1)
    }

    /// A client that reads its responses may send more than one that does not.
    @Test func returnsPointsForResponses() throws {
        func pings(responding: Bool) throws -> Int {
            try taken(responding: responding) { frames, stream in
                if responding { frames.get(on: stream) }
                frames.append(.ping, on: 0, Self.ping)
                frames.append(.ping, on: 0, Self.ping)
            }
        }
        #expect(try pings(responding: false) == 499)
        #expect(try pings(responding: true) == 3000)
    }

    @Test func neverHoldsMoreThanTheBudget() {
        var budget = AbuseBudget()
        let now = Instant(nanoseconds: 5_000_000_000)
        for _ in 0..<1000 { budget.responseDelivered() }
        var taken = 0
        while budget.charge(.frame, at: now) { taken += 1 }
        #expect(taken == 1000)
    }
}
