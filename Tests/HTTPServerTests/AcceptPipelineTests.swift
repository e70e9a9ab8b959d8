import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPServer

/// A stage that reads what precedes everything else of a connection can be put in front of all others.
@Suite struct AcceptPipelineTests {
    // MARK: A stage of the test

    /// Its connections begin with a line of the client; `bad` ends them.
    private final class LineStage: AcceptStage {
        private(set) var lines: [String] = []

        func connection(for input: StageInput, in pipeline: AcceptPipeline)
            -> any AcceptingConnection
        {
            LineConnection(input, in: pipeline) { self.lines.append($0) }
        }
    }

    private final class LineConnection: AcceptingConnection, ByteStreamDelegate {
        var input: StageInput
        let pipeline: AcceptPipeline
        private let lineRead: (String) -> Void
        private var received: [UInt8] = []

        init(
            _ input: StageInput, in pipeline: AcceptPipeline, lineRead: @escaping (String) -> Void
        ) {
            self.input = input
            self.pipeline = pipeline
            self.lineRead = lineRead
        }

        func begin(_ received: Span<UInt8>) {
            pipeline.table.updateActivity(at: slot, from: .busy, to: .idle)
            input.read(for: self)
            if !received.isEmpty { streamReceived(received) }
        }

        func streamReceived(_ bytes: Span<UInt8>) {
            received.append(copying: bytes)
            guard let end = received.firstIndex(of: UInt8(ascii: "\n")) else { return }
            let line = String(decoding: received[..<end], as: UTF8.self)
            lineRead(line)
            guard line != "bad" else { return close() }
            pipeline.table.removeActivity(at: slot)
            let rest = Array(received[(end + 1)...])
            pipeline.passOn(input, rest.span)
        }

        func streamEnded() { close() }
        func streamFailed(_ failure: IOFailure) { close() }
        func streamDrained() {}
        func streamBlocked() {}

        func close() {
            pipeline.table.removeActivity(at: slot)
            input.stream.close()
            pipeline.table.remove(self)
        }

        func leaveIdle(_ reason: LeaveReason) { close() }
        func hasWaited(_ duration: Duration, now: Instant) -> Bool { true }
        var holdsMemory: Bool { false }
    }

    // MARK: The pipeline

    private let line = LineStage()
    private let port = SocketAddress.ip(.v4(0x7F00_0001), port: 7000)

    /// Accepts connections that pass these stages.
    private func listen(_ harness: ServerHarness, _ stages: [any AcceptStage]) throws {
        let pipeline = AcceptPipeline(
            stages, plainFacts: nil, number: 0, of: harness.server.context, in: harness.server.table
        )
        harness.server.adopt(
            try harness.serverLoop.listen(on: port, sharedPort: false) { stream in
                pipeline.begin(stream, for: nil)
            })
    }

    /// A client that sends bytes in two pieces, the first one of this length.
    private func send(
        _ bytes: [UInt8], cutAt count: Int, _ harness: ServerHarness
    ) throws -> ScriptedPeer {
        let peer = ScriptedPeer(try harness.testbed.connect(to: port))
        peer.stream.write(Array(bytes[..<count]).span)
        harness.advance()
        peer.stream.write(Array(bytes[count...]).span)
        harness.advance()
        return peer
    }

    /// The TLS stage, with a handshake that this security performs.
    private func tls(_ security: ServerSecurity, _ harness: ServerHarness) -> TLSStage {
        let handshakes = Handshakes(
            of: harness.server.context, in: harness.server.table, Listeners(haveTLS: []))
        return TLSStage(security, timeout: .seconds(10), redirect: nil, handshakes)
    }

    @Test(arguments: 0...23)
    func passesTheRestOnToHTTP1(_ count: Int) throws {
        let harness = try ServerHarness()
        try listen(harness, [line])
        let peer = try send(Array(("one\n" + get("/x")).utf8), cutAt: count, harness)
        #expect(line.lines == ["one"] && summary(of: peer) == "200 /x")
        peer.stream.close()
        harness.advance()
        #expect(harness.server.connectionCount == 0)
    }

    @Test(arguments: 0...36)
    func passesTheRestOnToThePrefaceStage(_ count: Int) throws {
        var frames = H2Frames.opening()
        frames.get("/x", on: 1)
        for (rest, logged) in [
            (frames.bytes, "GET /x 200 2"), (Array(get("/long").utf8), "GET /long 200 5"),
        ] {
            let harness = try ServerHarness()
            try listen(harness, [line, PrefaceStage(servesHTTP1: true)])
            let bytes = Array("one\n".utf8) + rest
            let peer = try send(bytes, cutAt: min(count, bytes.count), harness)
            #expect(harness.log == [logged] && harness.server.connectionCount == 1)
            peer.stream.close()
            harness.advance()
            #expect(harness.server.connectionCount == 0)
        }
    }

    /// The first stage that is not at the front gets what was read, also if it is nothing; the one at the
    /// front begins to read.
    @Test func passesTheRestOnToTheHandshake() throws {
        var received: [Bytes?] = []
        nonisolated(unsafe) let record = { received.append($0) }
        let security = ServerSecurity { stream, bytes, _, loop in
            unsafe record(bytes)
            stream.close()
            return loop.local.error(IOFailure.tlsFailed("seen"))
        }
        let harness = try ServerHarness()
        try listen(harness, [line, tls(security, harness)])
        for text in ["one\nhello", "one\n"] {
            #expect(try send(Array(text.utf8), cutAt: 0, harness).hasEnded)
        }
        #expect(received == [Bytes("hello"), Bytes()])
        #expect(harness.log == ["handshake TLS: seen", "handshake TLS: seen"])
        #expect(harness.server.connectionCount == 0)

        let plain = try ServerHarness()
        try listen(plain, [tls(security, plain)])
        _ = try send([], cutAt: 0, plain)
        #expect(received.last == .some(nil))
    }

    /// The handshake of a client that has sent its line.
    @Test(arguments: ["http/1.1", "h2"])
    func servesBehindLineAndHandshake(_ applicationProtocol: String) throws {
        var policy = SimServerPolicy(names: ["a"])
        policy.applicationProtocols = [applicationProtocol]
        let harness = try ServerHarness()
        try listen(harness, [line, tls(.simulated(policy), harness)])
        let stream = try #require(harness.testbed.connect(to: port) as? SimStream)
        stream.write(Bytes("one\n").span)
        var hello = SimHello()
        hello.serverName = "a"
        hello.applicationProtocols = [applicationProtocol]
        var isComplete = false
        stream.beginHandshake(hello) { isComplete = true }
        harness.advance(100)
        #expect(isComplete && line.lines == ["one"])
        let peer = ScriptedPeer(stream)
        if applicationProtocol == "h2" {
            var frames = H2Frames.opening()
            frames.get("/x", on: 1)
            peer.send(frames)
        } else {
            peer.send(get("/x"))
        }
        harness.advance()
        #expect(harness.log == ["GET /x 200 2"])
        #expect(harness.requests.first?.exchange.peer.facts?.isSecure == true)
        peer.stream.close()
        harness.advance()
        #expect(harness.server.connectionCount == 0)
    }

    @Test func rejectsPlainTextBehindALine() throws {
        let harness = try ServerHarness()
        try listen(harness, [line, tls(.simulated(SimServerPolicy(names: ["a"])), harness)])
        for count in [0, 4, 9] {
            let peer = try send(Array(("one\n" + get("/x")).utf8), cutAt: count, harness)
            #expect(summary(of: peer) == "400 close!")
            peer.stream.close()
        }
        harness.advance(3000)
        #expect(harness.server.connectionCount == 0)
    }

    @Test func aStageEndsAConnection() throws {
        let harness = try ServerHarness()
        try listen(harness, [line, PrefaceStage(servesHTTP1: true)])
        let other = try harness.connect()
        let peer = try send(Array(("bad\n" + get("/x")).utf8), cutAt: 2, harness)
        #expect(peer.hasEnded && peer.received.isEmpty && harness.requests.isEmpty)
        #expect(harness.server.connectionCount == 1)
        other.stream.close()
        harness.advance()
    }

    /// They get their bytes one after the other, in the order of the list.
    @Test func stagesFollowEachOther() throws {
        let harness = try ServerHarness()
        let second = LineStage()
        try listen(harness, [line, second])
        let peer = try send(Array(("one\ntwo\n" + get("/x")).utf8), cutAt: 6, harness)
        #expect(line.lines == ["one"] && second.lines == ["two"])
        #expect(summary(of: peer) == "200 /x")
        peer.stream.close()
        harness.advance()
    }

    /// A connection in a stage is idle, is in the table, and ends with a drain.
    @Test func drainEndsAConnectionInAStage() throws {
        let harness = try ServerHarness()
        try listen(harness, [line])
        let peer = ScriptedPeer(try harness.testbed.connect(to: port))
        harness.advance()
        #expect(harness.server.connectionCount == 1)
        var isDrained = false
        harness.onServer { harness.server.drain().whenSettled { _ in isDrained = true } }
        harness.advance()
        #expect(isDrained && peer.hasEnded)
    }
}
