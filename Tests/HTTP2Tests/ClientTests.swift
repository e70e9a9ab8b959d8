import Basics
import HTTP
import TestSupport
import Testing

@testable import HTTP2

/// A session of a client, which gets frames that are written by hand.
@Suite struct ClientTests {
    /// A client with one GET, whose head was sent.
    private func client(
        limits: H2Limits = H2Limits(), settings: [(UInt16, UInt32)] = []
    ) throws -> (side: H2Side, request: H2Recorder) {
        let side = try H2Side(.client, limits)
        let request = try side.request()
        side.write()
        var frames = H2Frames()
        frames.settings(settings)
        side.receive(frames.bytes)
        _ = side.takeWritten()
        return (side, request)
    }

    private func receive(_ side: H2Side, _ write: (inout H2Frames) -> Void) {
        var frames = H2Frames()
        write(&frames)
        side.receive(frames.bytes)
    }

    private static let ok = [(":status", "200")]

    @Test func opensAConnection() throws {
        let side = try H2Side(.client)
        side.write()
        let bytes = side.takeWritten()
        #expect(bytes.starts(with: H2Frames.preface))
        let frames = H2Frame.all(in: Array(bytes.dropFirst(H2Frames.preface.count))).frames
        let settings = try #require(frames.first)
        #expect(settings.isKind(.settings))
        // ENABLE_PUSH of 0.
        #expect(settings.payload.starts(with: [0, 2, 0, 0, 0, 0]))
        #expect(!side.session.isBroken)
    }

    @Test func sendsRequestsTogether() throws {
        let side = try H2Side(.client)
        let requests = try (1...3).map { try side.request(.get, "/\($0)") }
        #expect(requests.compactMap { $0.stream?.id } == [1, 3, 5])
        #expect(requests.allSatisfy { $0.stream?.hasSentHead == false } && side.written.isEmpty)
        side.write()
        let bytes = side.takeWritten().dropFirst(H2Frames.preface.count)
        let frames = H2Frame.all(in: Array(bytes)).frames
        #expect(frames.count { $0.isKind(.headers) } == 3)
        #expect(requests.allSatisfy { $0.stream?.hasSentHead == true })
    }

    @Test func receivesInterimAndFinalHeads() throws {
        let (side, request) = try client()
        receive(side) {
            $0.request([(":status", "103"), ("link", "</a>")], on: 1, endsStream: false)
            $0.request(Self.ok + [("host", "x y"), ("expect", "?")], on: 1, endsStream: false)
            $0.data("ab", on: 1)
            $0.request([("x-end", "1")], on: 1)
        }
        #expect(request.responses.map(\.status.code) == [103, 200])
        #expect(request.text == "ab" && request.trailers?["X-End"] == "1")
        #expect(request.closed == .noError && side.session.streams.isEmpty)
    }

    @Test func knowsTheLimitOfTheServer() throws {
        let side = try H2Side(.client)
        #expect(side.session.peerStreamsMax == 100)
        receive(side) { $0.settings([(3, 7)]) }
        #expect(side.session.peerStreamsMax == 7)
        receive(side) { $0.settings([(3, 1000)]) }
        #expect(side.session.peerStreamsMax == 1000)
    }

    /// RFC 9113 6.8: streams above the last id were not processed.
    @Test func goAwayEndsLaterStreams() throws {
        let (side, first) = try client()
        let second = try side.request()
        side.write()
        let third = try side.request()
        receive(side) { $0.append(.goAway, on: 0, [0, 0, 0, 1, 0, 0, 0, 0]) }
        #expect(side.log == ["goaway 1 0"])
        #expect(first.closed == nil && !side.session.isBroken)
        #expect(second.closed == .refusedStream && second.stream?.hasSentHead == true)
        #expect(third.closed == .refusedStream && third.stream?.hasSentHead == false)
        let fourth = try side.request()
        #expect(fourth.stream == nil)
        receive(side) { $0.request(Self.ok, on: 1) }
        #expect(first.hasEnded && side.session.isFinished && !side.session.isBroken)
    }

    /// Nothing of a request that was cancelled before it was written is sent.
    @Test func cancelledRequestIsNotSent() throws {
        let (side, _) = try client()
        let request = try side.request()
        side.session.reset(try #require(request.stream), .cancel)
        side.write()
        #expect(request.closed == .cancel && side.takeFrames().isEmpty)
    }

    @Test func cancelsARequest() throws {
        let (side, request) = try client()
        side.session.reset(try #require(request.stream), .cancel)
        side.write()
        #expect(side.takeFrames().map(\.type) == [H2Frames.Kind.reset.rawValue])
        #expect(request.closed == .cancel && !side.session.isBroken)
        // What was on the way is ignored.
        receive(side) { $0.request(Self.ok, on: 1) }
        #expect(!side.session.isBroken)
    }

    @Test func serverResetsTheStream() throws {
        let (side, request) = try client()
        receive(side) { $0.reset(7, on: 1) }
        #expect(request.closed == .refusedStream && !side.session.isBroken)
    }

    /// A malformed response ends its stream, and no other.
    @Test(arguments: [
        [("x-a", "1")], [(":status", "2000")], [(":status", "101")],
        [(":status", "200"), ("connection", "close")],
        [(":status", "200"), ("content-length", "1"), ("content-length", "2")],
        [(":status", "200"), ("x-a", String(repeating: "a", count: 40_000))],
    ])
    func endsAMalformedResponse(_ fields: [(String, String)]) throws {
        let (side, first) = try client()
        let second = try side.request()
        side.write()
        receive(side) {
            var block = H2Frames.block(fields)[...]
            $0.append(.headers, 0, on: 1, Array(block.prefix(16_000)))
            while !block.isEmpty {
                block = block.dropFirst(16_000)
                let isLast = block.count <= 16_000
                $0.append(
                    .continuation, isLast ? H2Frames.endHeaders : 0, on: 1,
                    Array(block.prefix(16_000)))
                if isLast { break }
            }
        }
        #expect(first.closed == .protocolError && first.stream?.isMalformed == true)
        #expect(side.log.contains("invalid"))
        guard !side.session.isBroken else { return }
        receive(side) { $0.request(Self.ok, on: 3) }
        #expect(second.hasEnded && second.closed == .noError)
    }

    @Test(arguments: [("5", "abc"), ("2", "abc")])
    func endsAResponseOfAnotherLength(_ stated: String, _ body: String) throws {
        let (side, request) = try client()
        receive(side) {
            $0.request(Self.ok + [("content-length", stated)], on: 1, endsStream: false)
            $0.data(body, on: 1, endsStream: true)
        }
        #expect(!request.hasEnded && request.closed == .protocolError)
        #expect(request.stream?.isMalformed == true && !side.session.isBroken)
    }

    @Test func headOfAResponseToHEADMayStateALength() throws {
        let side = try H2Side(.client)
        let request = try side.request(.head)
        side.write()
        receive(side) {
            $0.settings([])
            $0.request(Self.ok + [("content-length", "7")], on: 1)
        }
        #expect(request.responses.first?.framing == BodyFraming.none && request.hasEnded)
    }

    @Test func refusesAPushedResponse() throws {
        let side = try H2Side(.client)
        let request = try side.request()
        side.write()
        _ = side.takeWritten()
        // Before the acknowledgement of ENABLE_PUSH, too.
        receive(side) {
            $0.settings([])
            $0.append(
                .pushPromise, H2Frames.endHeaders, on: 1,
                [0, 0, 0, 2] + H2Frames.block(H2Frames.get()))
        }
        #expect(side.session.isBroken && side.session.failure == .push)
        #expect(side.takeFrames().contains { $0.isKind(.goAway) && $0.number(at: 4) == 1 })
        #expect(!request.hasEnded)
    }

    /// Frames that are not HTTP/2, or not in their place, end the connection.
    @Test(arguments: [
        [UInt8]("HTTP/1.1 200 OK\r\n\r\n".utf8), [0, 0, 5, 4, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5],
        [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8],
    ])
    func breaksWithoutHTTP2(_ bytes: [UInt8]) throws {
        let side = try H2Side(.client)
        _ = try side.request()
        side.write()
        side.receive(bytes)
        #expect(side.session.isBroken)
    }

    /// A server whose resets are a flood, as a client's would be.
    @Test(arguments: [H2Code.noError, .cancel]) func endsAFloodOfResets(_ code: H2Code) throws {
        let side = try H2Side(.client)
        receive(side) { $0.settings([(3, 1000)]) }
        var sent = 0
        while !side.session.isBroken, sent < 1000 {
            let request = try side.request()
            side.write()
            let id = UInt32(try #require(request.stream).id)
            receive(side) { $0.reset(code.number, on: id) }
            sent += 1
        }
        #expect(side.session.failure == .flood && (150...250).contains(sent))
    }

    /// RFC 9113 8.1: a server that does not need the rest of a request may reset its stream behind
    /// the response.
    @Test(arguments: [true, false])
    func resetsBehindResponsesAreNoFlood(_ resetsFirst: Bool) throws {
        let side = try H2Side(.client)
        receive(side) { $0.settings([]) }
        for _ in 0..<3000 {
            let request = try side.request(.post, endsStream: false)
            side.write()
            let stream = try #require(request.stream)
            receive(side) { $0.request(Self.ok, on: UInt32(stream.id)) }
            if resetsFirst {
                side.session.reset(stream, .cancel)
                side.write()
            }
            receive(side) { $0.reset(0, on: UInt32(stream.id)) }
            #expect(request.closed == (resetsFirst ? .cancel : .noError))
        }
        #expect(side.session.failure == nil)
    }

    @Test func endsAFloodOfResetsOfAClosedStream() throws {
        let (side, _) = try client()
        var sent = 0
        while !side.session.isBroken, sent < 3000 {
            receive(side) { $0.reset(0, on: 1) }
            sent += 1
        }
        #expect(side.session.failure == .flood && (990...1000).contains(sent))
    }

    /// Complete responses pay for small frames.
    @Test func responsesReturnTheCostOfFrames() throws {
        let side = try H2Side(.client)
        receive(side) { $0.settings([]) }
        for _ in 0..<3000 {
            let request = try side.request()
            side.write()
            let id = UInt32(try #require(request.stream).id)
            receive(side) {
                $0.append(.ping, on: 0, [1, 2, 3, 4, 5, 6, 7, 8])
                $0.request(Self.ok, on: id)
            }
        }
        #expect(side.session.failure == nil)
    }

    @Test func pingIsAcknowledged() throws {
        let (side, _) = try client()
        side.session.sendPing()
        side.write()
        let ping = try #require(side.takeFrames().first { $0.isKind(.ping) })
        receive(side) { $0.append(.ping, H2Frames.acknowledgement, on: 0, ping.payload) }
        #expect(side.log == ["pong"])
    }

    /// The server may send no more than the window before this side has consumed it.
    @Test func windowBoundsTheBody() throws {
        var limits = H2Limits()
        limits.streamWindow = 100
        let pair = try SessionPair(client: limits)
        pair.server.onRequest = { $0.respond(body: String(repeating: "a", count: 1000)) }
        let request = try pair.client.request()
        request.consumes = false
        pair.run()
        #expect(request.body.count == 100)
        request.consumes = true
        pair.client.session.didConsume(100, on: try #require(request.stream))
        pair.run()
        #expect(request.body.count == 1000 && request.hasEnded)
    }

    @Test func returnsItsMemory() throws {
        var memory: EngineMemory?
        do {
            let (side, _) = try client()
            memory = side.session.engineMemory
            #expect(memory?.bytes ?? 0 > 0)
        }
        #expect(memory?.bytes == 0)
    }
}
