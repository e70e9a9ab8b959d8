import Basics
import HTTP
import HTTP2
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPServer

/// Bodies that pass in pieces, and that one side does not take, while memory is short.
@Suite(.watched) struct StreamMemoryTests {
    /// A server whose service starts to read the body of each request, pauses it after the first piece,
    /// and responds when the test calls `respond`.
    private func pausingServer(_ limit: Int) throws -> ServerHarness {
        var settings = ServerSettings()
        settings.bufferedBytes = limit
        return try ServerHarness.http2(settings) { harness, request, exchange in
            let sink = RecordingSink()
            let source = request.body.source
            sink.onPiece = { source?.pause() }
            source?.startDelivery(to: sink)
            return ServerHarness.deferred(harness, request, exchange)
        }
    }

    /// What the client of an upload sends ahead of its reader.
    @Test(arguments: [10_000, 1_000_000])
    func pausedUploadIsRejectedWhenMemoryIsUsedUp(_ limit: Int) throws {
        let harness = try pausingServer(limit)
        let peer = try harness.connect()
        peer.send(post("Content-Length: 100000\r\n", "first"))
        harness.advance()
        peer.send(String(repeating: "x", count: 30_000))
        harness.advance()
        if limit < 100_000 {
            #expect(peer.text.hasPrefix("HTTP/1.1 503 ") && peer.text.contains("Retry-After: "))
            #expect(harness.server.bufferedBytes == 0)
            #expect(harness.server.losses[.bufferedBytes] == 1 && harness.cancelled == [0])
        } else {
            #expect(peer.text.isEmpty && harness.server.bufferedBytes > 15_000)
        }
        peer.stream.close()
        harness.advance(3000)
        #expect(harness.server.bufferedBytes == 0)
    }

    @Test(arguments: [90_000, 1_000_000])
    func pausedUploadOfAStreamIsRejectedWhenMemoryIsUsedUp(_ limit: Int) throws {
        let harness = try pausingServer(limit)
        let client = try H2Client(harness)
        let uploads = try (0..<2).map { number in
            let upload = try client.send(.post, "/\(number)", endsStream: false)
            harness.advance()
            try client.send("first", on: upload)
            harness.advance()
            return upload
        }
        for upload in uploads {
            try client.send(String(repeating: "x", count: 40_000), on: upload)
            harness.advance()
        }
        if limit < 100_000 {
            #expect(uploads.count { $0.summary == "503" } == 1, "until there is room")
            #expect(harness.server.losses[.bufferedBytes] == 1)
            #expect((50_000...90_000).contains(harness.server.bufferedBytes))
        } else {
            #expect(uploads.allSatisfy { $0.responses.isEmpty })
            #expect(harness.server.bufferedBytes > 80_000)
        }
        #expect(!client.peer.hasEnded, "the connection stays")
        client.peer.stream.close()
        harness.advance(100)
        #expect(harness.server.bufferedBytes == 0)
    }

    /// A reader that takes no more than the first piece is sent one window.
    @Test func uploadHasAWindowOf256KiB() throws {
        let harness = try ServerHarness.http2 { harness, request, exchange in
            let source = request.body.source
            source?.startDelivery(to: PassingReader { source?.pause() })
            return ServerHarness.deferred(harness, request, exchange)
        }
        let client = try H2Client(harness)
        let upload = try client.send(.post, endsStream: false)
        harness.advance()
        try client.send(String(repeating: "x", count: 600_000), on: upload)
        harness.advance(100)
        // Before the client has acknowledged the settings, windows begin one byte smaller.
        let sent = try #require(upload.stream?.sentBytes)
        #expect((256 * 1024...256 * 1024 + 1).contains(sent))
        client.peer.stream.close()
        harness.advance(100)
        #expect(harness.server.bufferedBytes == 0)
    }

    /// Without a flush, which closed windows prevent.
    @Test func countsPiecesThatNoWindowAdmits() throws {
        let body = ScriptedBody(.chunked)
        var settings = ServerSettings()
        settings.limits.writeTimeout = .seconds(5)
        let harness = try ServerHarness.http2(settings) { _, _, exchange in
            exchange.local.value(Response(status: .ok, body: .stream(body)))
        }
        var limits = H2Limits()
        limits.streamWindow = 0
        let client = try H2Client(harness, limits)
        let request = try client.send()
        harness.advance()
        let before = harness.server.bufferedBytes
        harness.onServer { body.deliver(String(repeating: "x", count: 50_000)) }
        harness.advance()
        #expect(harness.server.bufferedBytes >= before + 50_000)
        #expect(request.closed == nil)
        harness.advance(6000)
        #expect(request.closed == .cancel, "write_timeout holds")
        #expect(harness.server.bufferedBytes < 50_000)
    }
}

/// Limits the time of a body itself, as one that passes it on does.
private final class PassingReader: BodySink {
    private let onPiece: () -> Void

    init(onPiece: @escaping () -> Void) { self.onPiece = onPiece }

    var limitsTime: Bool { true }

    func bodyReceived(_ piece: Span<UInt8>) { onPiece() }

    func bodyEnded(trailers: Fields) {}

    func bodyFailed(_ error: any Error) {}
}
