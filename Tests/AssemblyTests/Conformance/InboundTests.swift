import Basics
import HTTP
import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// What clients may send, against the whole gateway: the outcome must be that of the table, whether
/// the bytes arrive at once, one by one, in two pieces, or after another request.
@Suite struct InboundTests {
    @Test(arguments: InboundRows.all) func hasTheExpectedOutcome(_ row: WireRow) throws {
        let inbound = try Inbound(row)
        #expect(inbound.outcome([row.bytes]) == row.outcome)
        inbound.harness.expectQuiet()
    }

    @Test(arguments: InboundRows.all.filter(\.cuts))
    func outcomeIsIndependentOfPacketBoundaries(_ row: WireRow) throws {
        let inbound = try Inbound(row)
        let bytes = row.bytes
        #expect(inbound.outcome(bytes.map { [$0] }) == row.outcome, "byte by byte")
        // About two dozen positions each; the readers' own tests cut at every position.
        for cut in stride(from: 1, to: bytes.count, by: 1 + bytes.count / 24) {
            let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])]
            let outcome = inbound.outcome(pieces)
            if outcome != row.outcome { Issue.record("cut at \(cut): \(outcome)") }
        }
        inbound.harness.expectQuiet()
    }

    /// TLS changes nothing; several writes of one moment are one record.
    @Test(arguments: InboundRows.all) func outcomeIsTheSameOverTLS(_ row: WireRow) throws {
        let inbound = try Inbound(row, isSecure: true)
        #expect(inbound.outcome([row.bytes]) == row.outcome)
        let cut = row.bytes.count / 2
        let pieces = [Array(row.bytes[..<cut]), Array(row.bytes[cut...])]
        if row.cuts { #expect(inbound.outcome(pieces) == row.outcome, "in two records") }
        inbound.harness.expectQuiet()
    }

    /// A valid request before it, in the same packet, changes nothing.
    @Test(arguments: InboundRows.all.filter(\.cuts))
    func outcomeIsTheSameAfterAnotherRequest(_ row: WireRow) throws {
        let inbound = try Inbound(row)
        let before = Array(Sent.get().utf8)
        #expect(inbound.outcome([before + row.bytes], behindGet: true) == "200 " + row.outcome)
        inbound.harness.expectQuiet()
    }
}

/// A gateway with the routes `GET /ok` and `POST /ok`, and a client that sends a row.
private final class Inbound {
    let harness: GatewayHarness
    private let row: WireRow
    private let isSecure: Bool

    init(_ row: WireRow, isSecure: Bool = false) throws {
        self.row = row
        self.isSecure = isSecure
        let tls = isSecure ? ", tls: { cert: server.pem, key: server.key }" : ""
        harness = try GatewayHarness(
            config: """
                version: 1
                listen: { address: 127.0.0.1:8080\(tls) }
                backends: { a: { url: "http://127.0.0.1:7001" } }
                endpoints:
                  - { route: GET /ok, calls: { one: { from: a, get: /1, required: true } } }
                  - { route: POST /ok, calls: { one: { from: a, get: /1, required: true } } }
                """)
    }

    func outcome(_ pieces: [[UInt8]], behindGet: Bool = false) -> String {
        let connected = isSecure ? try? harness.secureStream() : try? harness.stream()
        guard let stream = connected else { return "not connected" }
        let peer = ScriptedPeer(stream)
        for piece in pieces where !piece.isEmpty {
            stream.write(piece.span)
            harness.pass(0.1)
        }
        if row.ends { stream.finishWriting() }
        harness.pass(100)
        let methods = (behindGet ? ["GET"] : []) + [row.method]
        var outcome = statuses(in: peer.received, methods)
        if peer.hasEnded {
            outcome.append("closed")
        } else if let follower = followed(peer, stream) {
            outcome.append(follower)
        }
        stream.close()
        harness.pass(1)
        return outcome.joined(separator: " ")
    }

    /// Sends one more request on the connection; nil if its response is as expected.
    private func followed(_ peer: ScriptedPeer, _ stream: any ByteStream) -> String? {
        peer.clearReceived()
        stream.write(Array(Sent.get().utf8).span)
        harness.pass(100)
        let statuses = statuses(in: peer.received, ["GET"])
        if statuses.isEmpty { return "waits" }
        return statuses == ["200"] ? nil : "then \(statuses)"
    }

    /// The statuses of the final responses; every byte must belong to one.
    private func statuses(in received: [UInt8], _ methods: [String]) -> [String] {
        var reader = ResponseReader(limits: Limits())
        var statuses: [String] = []
        var position = 0
        reader.answersHead = methods.first == "HEAD"
        do throws(WireError) {
            while true {
                switch try reader.read(received.span, from: &position) {
                case .head(let head): statuses.append("\(head.status)")
                case .interim, .body, .trailers: break
                case .complete:
                    let next = statuses.count
                    reader.answersHead = next < methods.count && methods[next] == "HEAD"
                case .needsMore: return statuses + (reader.isInMessage ? ["half a response"] : [])
                }
            }
        } catch {
            return statuses + ["malformed"]
        }
    }
}
