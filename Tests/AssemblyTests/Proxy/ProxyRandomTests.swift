import Assembly
import Basics
import HTTP
import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// Bodies of random sizes in both directions, in random pieces, between peers that read at random
/// times: what arrives is what was sent, byte for byte, and what looks complete is complete.
@Suite(.watched) struct ProxyRandomTests {
    enum Fault { case truncation, backendReset, clientReset }

    /// One exchange with everything random drawn from a seed.
    private final class Run {
        let harness: ProxyHarness
        let entropy: Entropy
        let upload: [UInt8]
        let download: [UInt8]
        let uploadIsChunked: Bool
        let downloadFraming: Int
        private(set) var client: ScriptedPeer?
        private(set) var heldMax = 0
        /// Of the response, by the backend.
        private(set) var sentBytes = 0

        /// When the last piece of the response is sent: behind everything else.
        static let lastPiece = 60_000

        init(seed: UInt64) throws {
            let entropy = Entropy(seed: seed)
            self.entropy = entropy
            harness = try ProxyHarness(seed: seed)
            upload = Self.bytes(entropy)
            download = Self.bytes(entropy)
            uploadIsChunked = entropy.below(2) == 0
            downloadFraming = entropy.below(3)
            harness.gateway.network.settings.windowBytes = 500 + entropy.below(60_000)
            harness.gateway.randomizeLatency(upTo: entropy.below(5))
        }

        /// Mostly small, sometimes larger than all buffers.
        private static func bytes(_ entropy: Entropy) -> [UInt8] {
            let count = entropy.below(entropy.below(4) == 0 ? 300_000 : 5_000)
            // The scripted backend reads text.
            return (0..<count).map { _ in UInt8(0x20 + entropy.below(0x5F)) }
        }

        func start() throws {
            let framing =
                uploadIsChunked
                ? "Transfer-Encoding: chunked" : "Content-Length: \(upload.count)"
            let client = try harness.send(request("POST", "/x/a", [framing]))
            self.client = client
            schedule(upload, isChunked: uploadIsChunked, until: 2_000) {
                client.stream.write($0.span)
            }
            if uploadIsChunked { at(2_100) { client.send("0\r\n\r\n") } }
            pauseSometimes(client)
            at(50 + entropy.below(500)) { [self] in respond() }
            for time in stride(from: 100, to: Self.lastPiece, by: 500) {
                at(time) { [self] in
                    heldMax = max(heldMax, harness.gateway.instance?.snapshot.bufferedBytes ?? 0)
                }
            }
        }

        private func respond() {
            guard let backend = harness.connections.last else { return }
            let framing =
                switch downloadFraming {
                case 0: "Content-Length: \(download.count)\r\n"
                case 1: "Transfer-Encoding: chunked\r\n"
                default: ""
                }
            backend.send("HTTP/1.1 200 OK\r\n\(framing)\r\n")
            pauseSometimes(backend)
            let isChunked = downloadFraming == 1
            let rest = min(download.count, 1 + entropy.below(100))
            schedule(Array(download.dropLast(rest)), isChunked: isChunked, until: 3_000) {
                [self] in
                sentBytes += $0.count
                backend.stream.write($0.span)
            }
            at(Self.lastPiece) { [self] in
                let piece = Array(download.suffix(rest))
                backend.stream.write(Self.framed(piece, isChunked).span)
                if isChunked { backend.send("0\r\n\r\n") }
                if downloadFraming == 2 { backend.stream.finishWriting() }
            }
        }

        private static func framed(_ piece: [UInt8], _ isChunked: Bool) -> [UInt8] {
            guard isChunked else { return piece }
            var text = TextBuffer()
            text.append(chunk: piece.span)
            return Bytes(copying: text.span).array
        }

        /// Sends bytes in random pieces at random times, in order.
        private func schedule(
            _ bytes: [UInt8], isChunked: Bool, until end: Int,
            _ send: @escaping ([UInt8]) -> Void
        ) {
            let count = 1 + entropy.below(20)
            var cuts = (0..<count - 1).map { _ in entropy.below(bytes.count + 1) }.sorted()
            cuts.append(bytes.count)
            let times = (0..<count).map { _ in entropy.below(end) }.sorted()
            var start = 0
            for (cut, time) in zip(cuts, times) {
                let piece = Self.framed(Array(bytes[start..<cut]), isChunked)
                start = cut
                at(time) { send(piece) }
            }
        }

        private func pauseSometimes(_ peer: ScriptedPeer) {
            guard entropy.below(2) == 0 else { return }
            at(entropy.below(1_000)) { peer.stream.pauseReading() }
            at(2_000 + entropy.below(8_000)) { peer.stream.resumeReading() }
        }

        func at(_ milliseconds: Int, _ action: @escaping () -> Void) {
            harness.gateway.after(milliseconds, action)
        }

        // MARK: Results

        /// What the backend received of the body, and whether it is complete.
        var received: (body: [UInt8], isComplete: Bool) {
            var reader = RequestReader(limits: Limits())
            let bytes = Bytes(harness.received)
            var position = 0
            var body: [UInt8] = []
            while let event = try? reader.read(bytes.span, from: &position) {
                switch event {
                case .body(let range): body += bytes.array[range]
                case .complete: return (body, true)
                case .needsMore: return (body, false)
                case .head, .trailers: continue
                }
            }
            return (body, false)
        }

        /// What the client received of the response, and whether it looks complete.
        var response: (body: [UInt8], isComplete: Bool) {
            guard let client else { return ([], false) }
            var reader = ResponseReader(limits: Limits())
            let bytes = Bytes(client.received)
            var position = 0
            var body: [UInt8] = []
            while let event = try? reader.read(bytes.span, from: &position) {
                switch event {
                case .body(let range): body += bytes.array[range]
                case .complete: return (body, true)
                case .needsMore: return (body, false)
                case .head, .trailers, .interim: continue
                }
            }
            return (body, false)
        }
    }

    @Test(arguments: 1..<UInt64(61)) func bodiesArriveUnchanged(seed: UInt64) throws {
        let run = try Run(seed: seed)
        try run.start()
        run.harness.pass(Double(Run.lastPiece + 20_000))
        let (received, response) = (run.received, run.response)
        #expect(received.isComplete && received.body == run.upload)
        #expect(response.isComplete && response.body == run.download)
        // 64 KiB and one read in each direction.
        #expect(run.heldMax <= 2 * 64 * 1024 + 2 * 64 * 1024)
        run.harness.expectQuiet()
    }

    @Test(arguments: 1..<UInt64(41), [Fault.truncation, .backendReset, .clientReset])
    func whatLooksCompleteIsComplete(seed: UInt64, _ fault: Fault) throws {
        let run = try Run(seed: seed)
        try run.start()
        let time = 200 + run.entropy.below(5_000)
        run.harness.pass(Double(time))
        let backend = run.harness.connections.last
        // While the upload waits for a backend that does not read, the end of a client is not detected.
        backend?.stream.resumeReading()
        run.harness.pass(200)
        switch fault {
        // The end of the connection ends such a body, so only a reset shows that it is incomplete.
        case .truncation where run.downloadFraming == 2, .backendReset:
            (backend?.stream as? SimStream)?.reset()
        case .truncation: backend?.stream.close()
        case .clientReset: (run.client?.stream as? SimStream)?.reset()
        }
        run.harness.pass(60)
        if fault == .clientReset {
            #expect(backend?.hasEnded != false || backend?.failures.isEmpty == false)
        }
        run.harness.pass(Double(Run.lastPiece + 20_000))
        // Before its head, a failure is a problem of the gateway.
        if run.client?.text.hasPrefix("HTTP/1.1 200 OK") == true {
            let response = run.response
            #expect(!response.isComplete || response.body == run.download)
            #expect(run.download.starts(with: response.body))
        }
        #expect(!run.received.isComplete || run.received.body == run.upload)
        // The response was not repeated, and the request was sent once.
        #expect(run.harness.connections.count == 1)
        run.harness.expectQuiet()
    }
}
