import Basics
import HTTP
import TestSupport
import Testing

@testable import HTTP2

/// GOAWAY, and the memory after the end.
@Suite struct ShutdownTests {
    /// RFC 9113 6.8: first the highest id, then the last stream that is served.
    @Test func announcesAShutdown() throws {
        let server = try H2Side(.server)
        var frames = H2Frames.opening()
        frames.get(on: 1)
        server.receive(frames.bytes)
        _ = server.takeWritten()
        server.session.announceShutdown()
        server.write()
        let announced = server.takeFrames()
        #expect(announced.first?.isKind(.goAway) == true)
        #expect(announced.first?.number() == 0x7FFF_FFFF && announced.first?.number(at: 4) == 0)
        #expect(announced.last?.isKind(.ping) == true)
        // A request that was on the way.
        frames = H2Frames()
        frames.get(on: 3)
        server.receive(frames.bytes)
        #expect(server.streams.count == 2)
        server.session.shutDown()
        server.write()
        #expect(server.takeFrames().first { $0.isKind(.goAway) }?.number() == 3)
        // One that comes too late is not served.
        frames = H2Frames()
        frames.get(on: 5)
        server.receive(frames.bytes)
        #expect(server.streams.count == 2 && !server.session.isFinished)
        for received in server.streams { received.respond(body: "x") }
        server.write()
        #expect(server.session.isFinished)
        #expect(server.takeFrames().count { $0.isKind(.data) && $0.flags == 1 } == 2)
    }

    @Test func finishesWithoutStreams() throws {
        let pair = try SessionPair()
        pair.run()
        #expect(!pair.server.session.isFinished)
        pair.server.session.shutDown()
        pair.run()
        #expect(pair.server.session.isFinished)
        #expect(pair.client.log == ["goaway 0 0"])
        let request = try pair.client.request()
        #expect(request.stream == nil, "the client opens no stream")
    }

    @Test func finishesAfterTheClientsGoAway() throws {
        let server = try H2Side(.server)
        var frames = H2Frames.opening()
        frames.get(on: 1)
        frames.append(.goAway, on: 0, [0, 0, 0, 0, 0, 0, 0, 0])
        server.receive(frames.bytes)
        #expect(server.log == ["1 GET / end", "goaway 0 0"] && !server.session.isFinished)
        server.streams.first?.respond(body: "x")
        server.write()
        #expect(server.session.isFinished)
    }

    /// Every byte that nghttp2 allocated is returned, wherever the connection ends.
    @Test func returnsAllMemory() throws {
        var frames = H2Frames.opening()
        for stream in stride(from: 1 as UInt32, to: 41, by: 2) {
            frames.request(
                H2Frames.post() + [("x-\(stream)", String(repeating: "v", count: 200))],
                on: stream, endsStream: stream % 3 == 0)
        }
        frames.append(.headers, 1, on: 41, H2Frames.block(H2Frames.get()))
        for count in stride(from: 0, through: frames.bytes.count, by: 97) {
            let memory: EngineMemory
            do {
                let server = try H2Side(.server)
                server.onRequest = { $0.respond(body: String(repeating: "x", count: 100_000)) }
                server.receive(Array(frames.bytes.prefix(count)))
                memory = server.session.engineMemory
                #expect(memory.bytes > 0)
                #expect(server.session.memoryBytes >= memory.bytes + server.session.queuedBytes)
            }
            #expect(memory.bytes == 0)
        }
    }

    /// A session with open streams is released with all that it holds.
    @Test func releasesHandlers() throws {
        weak var handler: H2Recorder?
        do {
            let server = try H2Side(.server)
            var frames = H2Frames.opening()
            frames.get(on: 1)
            server.receive(frames.bytes)
            handler = server.streams.first
            #expect(handler != nil)
        }
        #expect(handler == nil)
    }
}
