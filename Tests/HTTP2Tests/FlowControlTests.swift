import Basics
import HTTP
import TestSupport
import Testing

@testable import HTTP2

/// Windows, the order of output, and the memory that they bound.
@Suite struct FlowControlTests {
    private func respondsWith(_ count: Int, _ pair: SessionPair) {
        pair.server.onRequest = { $0.respond(body: String(repeating: "x", count: count)) }
    }

    /// At the edges of the window, whatever the client's credit.
    @Test(arguments: [65_534, 65_535, 65_536, 65_537, 1_000_000])
    func sendsBodiesOfAnySize(_ count: Int) throws {
        var limits = H2Limits()
        limits.streamWindow = 65_536
        let pair = try SessionPair(client: limits)
        respondsWith(count, pair)
        let request = try pair.client.request()
        pair.run()
        #expect(request.body.count == count && request.closed == .noError)
        #expect(pair.server.session.queuedBytes == 0)
    }

    @Test func waitsForTheWindow() throws {
        var limits = H2Limits()
        limits.streamWindow = 10
        let pair = try SessionPair(client: limits)
        respondsWith(25, pair)
        let request = try pair.client.request()
        request.consumes = false
        pair.run()
        #expect(request.body.count == 10 && !request.hasEnded)
        #expect(pair.server.session.queuedBytes == 15 && !pair.server.session.wantsWrite)
        let stream = try #require(request.stream)
        for count in [20, 25] {
            pair.client.session.didConsume(10, on: stream)
            pair.run()
            #expect(request.body.count == count)
        }
        #expect(request.hasEnded && request.closed == .noError)
    }

    @Test func sendsNothingOnAClosedWindow() throws {
        let server = try H2Side(.server)
        server.onRequest = { $0.respond(body: "hello") }
        var frames = H2Frames.opening()
        frames.settings([(4, 0)])
        frames.get(on: 1)
        server.receive(frames.bytes)
        #expect(!server.takeFrames().contains { $0.isKind(.data) })
        frames = H2Frames()
        frames.windowUpdate(2, on: 1)
        server.receive(frames.bytes)
        #expect(
            server.takeFrames().filter { $0.isKind(.data) }.map(\.payload) == [Array("he".utf8)])
        frames = H2Frames()
        frames.settings([(4, 100)])
        server.receive(frames.bytes)
        let data = server.takeFrames().filter { $0.isKind(.data) }
        #expect(data.map(\.payload) == [Array("llo".utf8)] && data.first?.flags == 1)
    }

    /// The window of a stream bounds what a client sends before the service reads it.
    @Test func bodyWaitsForCredit() throws {
        let pair = try SessionPair()
        pair.server.onRequest = { $0.consumes = false }
        let request = try pair.client.request(.post, endsStream: false)
        let stream = try #require(request.stream)
        pair.client.session.sendBody(
            Bytes(String(repeating: "x", count: 100_000)), on: stream, at: Instant(nanoseconds: 0))
        pair.run()
        let received = try #require(pair.server.streams.first)
        #expect(received.body.count == 64 * 1024 && !received.hasEnded)
        let half = try #require(received.stream)
        pair.server.session.didConsume(64 * 1024, on: half)
        pair.run()
        #expect(received.body.count == 100_000 && received.hasEnded)
    }

    /// The window of the connection bounds what a client sends on all streams together.
    @Test func bodiesTogetherWaitForCredit() throws {
        let pair = try SessionPair()
        pair.server.onRequest = { $0.consumes = false }
        for _ in 0..<20 {
            let request = try pair.client.request(.post, endsStream: false)
            pair.client.session.sendBody(
                Bytes(String(repeating: "x", count: 100_000)), on: try #require(request.stream),
                at: Instant(nanoseconds: 0))
        }
        pair.run()
        #expect(pair.server.streams.map(\.body.count).reduce(0, +) == 1024 * 1024)
    }

    @Test func growsTheWindowOfAStream() throws {
        let pair = try SessionPair()
        pair.server.onRequest = { received in
            received.consumes = false
            if let stream = received.stream {
                received.side.session.growWindow(of: stream, to: 256 * 1024)
            }
        }
        let request = try pair.client.request(.post, endsStream: false)
        let stream = try #require(request.stream)
        pair.client.session.sendBody(
            Bytes(String(repeating: "x", count: 1 << 20)), on: stream, at: Instant(nanoseconds: 0))
        pair.run()
        let count = try #require(pair.server.streams.first?.body.count)
        // Before the client has acknowledged the settings, windows begin one byte smaller.
        #expect((256 * 1024...256 * 1024 + 1).contains(count))
    }

    /// Discarded bytes of a closed stream still return their credit to the connection.
    @Test func discardedBytesKeepTheConnectionOpen() throws {
        let pair = try SessionPair()
        pair.server.onRequest = { $0.consumes = false }
        for _ in 0..<40 {
            let request = try pair.client.request(.post, endsStream: false)
            let stream = try #require(request.stream)
            pair.client.session.sendPiece(
                [UInt8](repeating: 1, count: 60_000).span, on: stream, at: Instant(nanoseconds: 0))
            pair.run()
            let received = try #require(pair.server.streams.last)
            #expect(received.body.count == 60_000)
            pair.client.session.reset(stream, .cancel)
            pair.run()
            pair.server.session.didDiscard(60_000)
        }
    }

    /// `writePending` stops at its limit and continues later.
    @Test func limitsTheOutputOfOneCall() throws {
        let server = try H2Side(.server)
        var frames = H2Frames.opening()
        frames.settings([(4, 1 << 20)])
        frames.windowUpdate(1 << 20, on: 0)
        for stream in [1, 3] as [UInt32] { frames.get(on: stream) }
        server.receive(frames.bytes)
        _ = server.takeWritten()
        for received in server.streams {
            received.respond(body: String(repeating: "x", count: 100_000))
        }
        server.write(atMost: 20_000)
        let first = server.takeWritten().count
        #expect((20_000..<37_000).contains(first))
        #expect(server.session.wantsWrite)
        server.write(atMost: 1)
        #expect((1..<16_400).contains(server.takeWritten().count))
        server.write()
        let rest = server.takeFrames()
        #expect(rest.count { $0.isKind(.data) && $0.flags == 1 } == 2)
        #expect(!server.session.wantsWrite && server.session.queuedBytes == 0)
    }

    /// Streams share the connection: none waits for the end of another one.
    @Test func interleavesStreams() throws {
        let server = try H2Side(.server)
        var frames = H2Frames.opening()
        for stream in [1, 3] as [UInt32] { frames.get(on: stream) }
        server.receive(frames.bytes)
        for received in server.streams {
            received.respond(body: String(repeating: "x", count: 30_000))
        }
        server.write()
        let streams = server.takeFrames().filter { $0.isKind(.data) }.map(\.stream)
        #expect(streams == [1, 3, 1, 3])
    }

    /// RFC 9113 5.2.1, 6.9.1: the end of a stream needs no window. The response uses up that of its
    /// stream, or another response that of the connection.
    @Test(arguments: [true, false], [Fields(), ["X-Status": "0"]])
    func sendsTheEndOnAClosedWindow(_ isOfConnection: Bool, _ trailers: Fields) throws {
        let server = try H2Side(.server)
        var frames = H2Frames.opening()
        frames.settings([(4, isOfConnection ? 1 << 20 : 5)])
        for stream in [1, 3] as [UInt32] { frames.get(on: stream) }
        server.receive(frames.bytes)
        let streams = try server.streams.map { try #require($0.stream) }
        for stream in streams {
            server.session.sendResponse(
                .ok, lines: Fields().wireText, on: stream, endsStream: false)
        }
        server.session.sendPiece(
            Array("hello".utf8).span, on: streams[0], at: Instant(nanoseconds: 0))
        server.write()
        if isOfConnection {
            server.session.sendPiece(
                [UInt8](repeating: 1, count: 1 << 17).span, on: streams[1],
                at: Instant(nanoseconds: 0))
        }
        server.write()
        _ = server.takeWritten()
        server.session.endBody(of: streams[0], trailers: trailers)
        server.write()
        let sent = server.takeFrames()
        #expect(sent.map(\.stream) == [1] && server.streams[0].hasSentEnd)
        let frame = try #require(sent.first)
        if trailers.isEmpty {
            #expect(frame.isKind(.data) && frame.flags == 1 && frame.payload.isEmpty)
        } else {
            #expect(frame.isKind(.headers) && frame.flags == 5)
        }
        #expect(server.streams[0].closed == .noError && !server.session.wantsWrite)
    }

    /// The end of a body without bytes, which is known before the head is sent.
    @Test(arguments: [Fields(), ["X-Status": "0"]])
    func sendsAnEmptyBodyOnAClosedWindow(_ trailers: Fields) throws {
        var limits = H2Limits()
        limits.streamWindow = 0
        let pair = try SessionPair(client: limits, server: limits)
        pair.run()
        pair.server.onRequest = { received in
            guard let stream = received.stream else { return }
            received.respond(.continue)
            received.side.session.sendResponse(
                .ok, lines: Fields().wireText, on: stream, endsStream: false)
            received.side.session.endBody(of: stream, trailers: trailers)
        }
        let request = try pair.client.request(.post, endsStream: false)
        let stream = try #require(request.stream)
        pair.client.session.endBody(of: stream, trailers: trailers)
        pair.run()
        let received = try #require(pair.server.streams.first)
        #expect(received.hasEnded && received.trailers == request.trailers)
        #expect(request.hasEnded && request.trailers?.isEmpty == trailers.isEmpty)
        #expect(request.closed == .noError && received.closed == .noError)
    }

    /// The peer still sends on the stream, and opens the window that the end did not wait for.
    @Test func openingTheWindowAfterTheEndHasNoEffect() throws {
        let server = try H2Side(.server)
        var frames = H2Frames.opening()
        frames.settings([(4, 5)])
        frames.request(H2Frames.post(), on: 1, endsStream: false)
        server.receive(frames.bytes)
        let stream = try #require(server.streams.first?.stream)
        server.session.sendResponse(.ok, lines: Fields().wireText, on: stream, endsStream: false)
        server.session.sendPiece(Array("hello".utf8).span, on: stream, at: Instant(nanoseconds: 0))
        server.write()
        server.session.endBody(of: stream, trailers: Fields())
        server.write()
        _ = server.takeWritten()
        frames = H2Frames()
        frames.windowUpdate(100, on: 1)
        frames.data("x", on: 1, endsStream: true)
        server.receive(frames.bytes)
        #expect(server.takeFrames() == [])
        #expect(server.streams[0].text == "x" && server.streams[0].closed == .noError)
    }

    /// An upload, whose window the server does not open.
    @Test(arguments: [Fields(), ["X-Sum": "0"]])
    func sendsTheEndOfARequestOnAClosedWindow(_ trailers: Fields) throws {
        var limits = H2Limits()
        limits.streamWindow = 5
        let pair = try SessionPair(server: limits)
        pair.server.onRequest = { $0.consumes = false }
        pair.run()
        let request = try pair.client.request(.post, endsStream: false)
        let stream = try #require(request.stream)
        pair.client.session.sendPiece(
            Array("hello".utf8).span, on: stream, at: Instant(nanoseconds: 0))
        pair.run()
        let received = try #require(pair.server.streams.first)
        #expect(received.text == "hello" && !received.hasEnded)
        pair.client.session.endBody(of: stream, trailers: trailers)
        pair.run()
        #expect(received.hasEnded && received.trailers?.isEmpty == trailers.isEmpty)
    }

    @Test func reportsWhenAllIsSent() throws {
        let pair = try SessionPair()
        let request = try pair.client.request()
        pair.run()
        let received = try #require(pair.server.streams.first)
        let stream = try #require(received.stream)
        let session = pair.server.session
        session.sendResponse(.ok, lines: Fields().wireText, on: stream, endsStream: false)
        for piece in ["one", "two", "three"] {
            session.sendPiece(Array(piece.utf8).span, on: stream, at: Instant(nanoseconds: 0))
        }
        #expect(stream.queuedBytes == 11 && session.queuedBytes == 11)
        pair.run()
        #expect(received.drained == 1 && stream.sentBytes == 11 && request.text == "onetwothree")
        session.endBody(of: stream, trailers: Fields())
        pair.run()
        #expect(request.hasEnded && received.hasSentEnd && received.drained == 1)
    }
}
