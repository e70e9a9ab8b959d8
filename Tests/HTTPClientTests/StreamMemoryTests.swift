import Basics
import HTTP
import HTTP2
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// What a pool buffers for streams counts in the budget of the exchange until it is delivered or dropped,
/// and a stream whose bytes do not fit fails.
@Suite struct StreamMemoryTests {
    enum Version: CaseIterable { case http1, http2 }
    enum End: CaseIterable { case complete, cancelled, failed }

    private static let chunks =
        String(repeating: "64\r\n" + String(repeating: "x", count: 100) + "\r\n", count: 1000)
        + "0\r\n\r\n"

    // MARK: Responses

    /// A backend that sends the head of a response, and the body when the test calls `sendBody`.
    private final class Download {
        let harness: any PoolTestHarness
        let budget: ByteBudget
        let sink = RecordingSink()
        var source: (any BodySource)?
        private(set) var sendBody: () -> Void = {}
        private(set) var breakOff: () -> Void = {}

        init(_ version: Version, limit: Int = 1_000_000) throws {
            budget = ByteBudget(limit: limit)
            switch version {
            case .http1:
                let harness = try PoolHarness {
                    $0.peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                }
                harness.network.settings.split = .sizes([10_000])
                self.harness = harness
                sendBody = { harness.backend.peers.last?.send(StreamMemoryTests.chunks) }
                breakOff = { harness.backend.peers.last?.stream.close() }
            case .http2:
                var last: H2BackendExchange?
                let harness = try H2PoolHarness { exchange in
                    last = exchange
                    guard let stream = exchange.recorder.stream else { return }
                    exchange.connection.side.session.sendResponse(
                        .ok, lines: Fields().wireText, on: stream, endsStream: false)
                }
                self.harness = harness
                sendBody = {
                    guard let last, let stream = last.recorder.stream else { return }
                    last.connection.side.session.sendBody(
                        Bytes(String(repeating: "x", count: 100_000)), on: stream,
                        at: Instant(nanoseconds: 0))
                    last.connection.flush()
                }
                breakOff = { last?.connection.peer.stream.close() }
            }
            try begin()
        }

        private func begin() throws {
            let promise = harness.pool.sendStreaming(harness.pool.request(.get, within: budget))
            harness.advance(by: .milliseconds(10))
            source = try #require(promise.value).body.source
            #expect(source != nil && budget.bytesHeld == 0)
        }

        /// A sink takes one piece and pauses, then the body arrives.
        func pauseAtFirstPiece() {
            sink.onPiece = { [unowned self] _ in source?.pause() }
            source?.startDelivery(to: sink)
            sendBody()
            harness.advance(by: .seconds(1))
        }

        func resume() {
            sink.onPiece = { _ in }
            source?.resume()
            harness.advance(by: .seconds(1))
        }
    }

    @Test(arguments: Version.allCases, End.allCases)
    func countsWhatASinkDoesNotTake(_ version: Version, _ end: End) throws {
        let download = try Download(version)
        download.pauseAtFirstPiece()
        #expect(download.sink.outcome == nil && !download.sink.received.isEmpty)
        #expect((5000...70_000).contains(download.budget.bytesHeld))
        switch end {
        case .complete: download.resume()
        case .cancelled: download.source?.cancel()
        case .failed:
            download.breakOff()
            download.harness.advance(by: .milliseconds(10))
            if version == .http2 { #expect(download.budget.bytesHeld > 0, "still deliverable") }
            download.resume()
        }
        #expect(download.budget.bytesHeld == 0)
        switch (end, version) {
        case (.complete, _):
            #expect(download.sink.outcome == "ended" && download.sink.received.count == 100_000)
        case (.cancelled, _): #expect(download.sink.outcome == nil)
        case (.failed, .http2): #expect(download.sink.outcome == "responseIncomplete")
        // Its close waits behind what is not read.
        case (.failed, .http1): #expect(download.sink.outcome == "ended")
        }
        download.harness.expectQuiet()
    }

    /// Also if its sink pauses: what that holds is needed as well.
    @Test(arguments: Version.allCases) func failsWithoutRoom(_ version: Version) throws {
        let download = try Download(version, limit: 4000)
        download.pauseAtFirstPiece()
        #expect(download.sink.outcome == "memoryLimit" && download.budget.bytesHeld == 0)
        #expect(download.harness.pool.inFlight == 0)
        download.harness.expectQuiet()
    }

    /// What arrives before there is a sink, which takes it in the same loop iteration.
    @Test(arguments: Version.allCases, [true, false])
    func countsNothingBeforeTheDelivery(_ version: Version, _ isDropped: Bool) throws {
        let download = try Download(version)
        download.sendBody()
        download.harness.advance(by: .seconds(1))
        #expect(download.budget.bytesHeld == 0)
        if isDropped {
            download.source = nil
        } else {
            download.source?.startDelivery(to: download.sink)
            download.harness.advance(by: .seconds(1))
            #expect(download.sink.received.count == 100_000)
        }
        download.harness.advance(by: .milliseconds(10))
        #expect(download.budget.bytesHeld == 0 && download.harness.pool.inFlight == 0)
        download.harness.expectQuiet()
    }

    /// Freeing memory closes connections of clients, which may be that of the stream.
    @Test(arguments: Version.allCases)
    func countsNothingIfFreeingMemoryCancelsTheStream(_ version: Version) throws {
        let download = try Download(version, limit: 4000)
        download.budget.reclaim = { [unowned download] _ in download.source?.cancel() }
        download.pauseAtFirstPiece()
        #expect(download.sink.outcome == nil && download.budget.bytesHeld == 0)
        #expect(download.harness.pool.inFlight == 0)
        download.budget.reclaim = nil
        download.harness.expectQuiet()
    }

    /// The window is large only for a user that keeps taking the body.
    @Test(arguments: [false, true]) func windowGrowsWithWhatIsTaken(_ takesMuch: Bool) throws {
        let harness = try H2PoolHarness {
            $0.respond(String(repeating: "x", count: 2_000_000))
        }
        let source = try #require(harness.streamed().body.source)
        let sink = RecordingSink()
        sink.onPiece = { if !takesMuch || $0.received.count > 200_000 { source.pause() } }
        source.startDelivery(to: sink)
        harness.advance(by: .seconds(1))
        let recorder = try #require(harness.backend.connections[0].side.streams.first)
        let untaken = (recorder.stream?.sentBytes ?? 0) - sink.received.count
        // It grows again when half of it was taken.
        #expect(takesMuch ? (128_000...256 * 1024).contains(untaken) : untaken <= 64 * 1024)
        source.cancel()
        harness.expectQuiet()
    }

    /// By 192 KiB: before, it has 64 KiB.
    @Test(arguments: [(64, 0), (200, 1)])
    func windowGrowsTo256KiBOnce(_ taken: Int, _ count: Int) throws {
        let harness = try H2PoolHarness { $0.respond(String(repeating: "x", count: 1 << 20)) }
        let source = try #require(harness.streamed().body.source)
        let sink = RecordingSink()
        sink.onPiece = { if $0.received.count >= taken * 1024 { source.pause() } }
        source.startDelivery(to: sink)
        harness.advance(by: .seconds(1))
        let updates = harness.backend.connections[0].frames.filter {
            $0.isKind(.windowUpdate) && $0.stream == 1 && $0.number() > 64 * 1024
        }
        #expect(updates.map { $0.number() } == Array(repeating: 192 * 1024, count: count))
        source.cancel()
        harness.expectQuiet()
    }

    // MARK: Requests

    /// A backend that takes nothing of a body before the test calls `takeAll`.
    private final class Upload {
        let harness: any PoolTestHarness
        let budget: ByteBudget
        let source = ScriptedSource(.chunked)
        let sent: SentRequest
        private(set) var takeAll: () -> Void = {}
        private(set) var breakOff: () -> Void = {}

        init(_ version: Version, limit: Int = 1_000_000) throws {
            budget = ByteBudget(limit: limit)
            switch version {
            case .http1:
                let harness = try PoolHarness()
                harness.network.settings.windowBytes = 1000
                harness.backend.onAccept = { $0.stream.pauseReading() }
                self.harness = harness
                takeAll = { harness.backend.peers.last?.stream.resumeReading() }
                breakOff = { harness.backend.peers.last?.stream.close() }
            case .http2:
                var last: H2BackendExchange?
                let harness = try H2PoolHarness { exchange in
                    last = exchange
                    exchange.recorder.consumes = false
                    exchange.recorder.onEnd = { exchange.respond("/") }
                }
                self.harness = harness
                takeAll = {
                    guard let last, let stream = last.recorder.stream else { return }
                    last.recorder.consumes = true
                    last.connection.side.session.didConsume(last.recorder.body.count, on: stream)
                    last.connection.flush()
                }
                breakOff = { last?.connection.peer.stream.close() }
            }
            sent = SentRequest(
                harness.pool.send(
                    harness.pool.request(.post, body: .stream(source), within: budget)))
            harness.advance(by: .milliseconds(10))
        }

        func deliver(_ count: Int) {
            source.deliver(String(repeating: "x", count: count))
            harness.advance(by: .milliseconds(10))
        }
    }

    @Test(arguments: Version.allCases, End.allCases)
    func countsWhatABackendDoesNotTake(_ version: Version, _ end: End) throws {
        let upload = try Upload(version)
        upload.deliver(100_000)
        #expect((30_000...110_000).contains(upload.budget.bytesHeld))
        #expect(upload.sent.outcome == nil)
        switch end {
        case .complete:
            upload.takeAll()
            upload.harness.advance(by: .seconds(1))
            #expect(upload.budget.bytesHeld == 0 && !upload.source.isCancelled)
            upload.source.end()
            #expect(upload.harness.outcome(of: upload.sent) == "200 /")
        case .cancelled: upload.sent.cancel()
        case .failed: upload.breakOff()
        }
        upload.harness.advance(by: .seconds(1))
        #expect(upload.budget.bytesHeld == 0)
        #expect(upload.source.isCancelled == (end != .complete))
        upload.harness.expectQuiet()
    }

    @Test(arguments: Version.allCases) func requestFailsWithoutRoom(_ version: Version) throws {
        let upload = try Upload(version, limit: 20_000)
        upload.deliver(100_000)
        #expect(upload.sent.outcome == "memoryLimit" && upload.source.isCancelled)
        #expect(upload.budget.bytesHeld == 0 && upload.harness.pool.inFlight == 0)
        upload.harness.expectQuiet()
    }

    /// Freeing memory closes connections of clients, which may be that of the upload.
    @Test(arguments: Version.allCases)
    func failsNothingTwiceIfFreeingMemoryCancelsTheRequest(_ version: Version) throws {
        let upload = try Upload(version, limit: 20_000)
        upload.budget.reclaim = { [unowned upload] _ in upload.sent.cancel() }
        upload.deliver(100_000)
        #expect(upload.sent.outcome != "memoryLimit" && upload.source.isCancelled)
        upload.harness.advance(by: .seconds(1))
        #expect(upload.budget.bytesHeld == 0 && upload.harness.pool.inFlight == 0)
        upload.budget.reclaim = nil
        upload.harness.expectQuiet()
    }

    /// Small pieces are written at the end of the loop iteration.
    @Test func countsPiecesThatBlockLater() throws {
        let upload = try Upload(.http1)
        upload.deliver(5000)
        #expect((3000...6000).contains(upload.budget.bytesHeld))
        upload.takeAll()
        upload.harness.advance(by: .seconds(1))
        #expect(upload.budget.bytesHeld == 0)
        upload.source.end()
        #expect(upload.harness.outcome(of: upload.sent) == "200 /")
        upload.harness.expectQuiet()
    }

    /// The connection resets few streams at once; a cancelled one may keep its bytes for a while.
    @Test func countsTheBytesOfACancelledRequestUntilItsReset() throws {
        let upload = try Upload(.http2)
        upload.deliver(100_000)
        for _ in 0..<120 {
            let other = SentRequest(upload.harness.pool.send(ClientRequest(.get, "/other")))
            upload.harness.advance(by: .milliseconds(1))
            other.cancel()
        }
        #expect(upload.budget.bytesHeld > 30_000)
        upload.sent.cancel()
        upload.harness.advance(by: .milliseconds(10))
        #expect(upload.source.isCancelled && upload.budget.bytesHeld > 30_000)
        upload.harness.advance(by: .seconds(5))
        #expect(upload.budget.bytesHeld == 0)
        upload.harness.expectQuiet()
    }
}

extension Pool {
    /// A request of an exchange with this budget.
    fileprivate func request(
        _ method: HTTP.Method, body: Body = .described(length: nil), within budget: ByteBudget
    ) -> ClientRequest {
        let entropy = Entropy(seed: 1)
        let exchange = RecordingExchange(
            ExchangeStart(
                id: RequestID(from: entropy), trace: TraceContext(from: entropy), local: loop.local,
                began: now, budget: budget))
        var request = ClientRequest(method, body: body)
        request.exchange = ExchangeFields(of: exchange, span: 1, left: nil)
        return request
    }
}
