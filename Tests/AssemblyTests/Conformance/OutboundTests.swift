import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// What backends may send, against the whole gateway: the response of another backend always
/// arrives, the next request gets its own response, and unsolicited data never reaches a client.
@Suite struct OutboundTests {
    /// A megabyte byte by byte would test no more than a kilobyte.
    static let cases = OutboundRows.all.flatMap { row in
        row.text.utf8.count > 4096 ? [(row, false)] : [(row, false), (row, true)]
    }

    @Test(arguments: cases)
    func hasTheExpectedOutcome(_ row: BackendRow, isByteByByte: Bool) throws {
        let harness = try GatewayHarness(
            """
            hostile: { from: b, get: /hostile }
            honest: { from: a, get: /honest }
            """, endpoint: "timeout: 1s\nsucceed_when: any")
        let backend = try HostileBackend(row, on: harness)
        if isByteByByte { harness.network.settings.split = .sizes([1]) }

        let response = try harness.fetch()
        #expect(response.status == 200)
        #expect(response.body.contains(#""honest":"/honest""#))
        #expect(!response.body.contains("poison"))
        harness.pass(50)
        let isKept = backend.open == 1
        let kind = response.body.firstMatch(of: /"kind":"(?<kind>\w+)"/).map { String($0.kind) }
        #expect("\(kind ?? "ok") \(isKept ? "kept" : "closed")" == row.outcome)
        #expect(response["Gateway-Complete"] == (kind == nil ? "true" : "false"))

        for number in 2...3 {
            let next = try harness.fetch()
            #expect(next.body.contains(#""hostile":{"answer":\#(number)}"#), "\(next.body)")
        }
        backend.close()
        harness.expectQuiet()
    }
}

extension BackendRow: CustomTestStringConvertible {
    var testDescription: String { name }
}

/// Backend `b`: responds to its first request as its row states, to every other one with a number.
private final class HostileBackend {
    private let row: BackendRow
    private unowned let harness: GatewayHarness
    private var listener: (any Listener)?
    private var peers: [ScriptedPeer] = []
    private var requests = 0

    init(_ row: BackendRow, on harness: GatewayHarness) throws {
        self.row = row
        self.harness = harness
        harness.backend(7002)?.close()
        listener = try harness.outside.listen(
            on: .ip(.v4(0x7F00_0001), port: 7002), sharedPort: false
        ) { [unowned self] stream in accept(stream) }
    }

    /// Connections that the gateway has not closed.
    var open: Int { peers.count { !$0.hasEnded && $0.failures.isEmpty } }

    func close() {
        listener?.close()
        for peer in peers { peer.stream.close() }
        peers = []
    }

    private func accept(_ stream: any ByteStream) {
        let peer = ScriptedPeer(stream)
        peers.append(peer)
        peer.onReceived = { [unowned self] peer in
            guard peer.text.hasSuffix("\r\n\r\n") else { return }
            peer.clearReceived()
            requests += 1
            let number = requests
            harness.outside.timer(after: .zero) { [unowned self] in respond(to: number, peer) }
        }
        peer.onEnded = { peer in peer.stream.close() }
    }

    private func respond(to number: Int, _ peer: ScriptedPeer) {
        guard number == 1 else {
            return peer.send(OutboundRows.response(#"{"answer":\#(number)}"#))
        }
        if !row.text.isEmpty { peer.send(row.text) }
        switch row.then {
        case .stays: break
        case .closes: closed(peer)
        case .resets:
            (peer.stream as? SimStream)?.reset()
            peers.removeAll { $0 === peer }
        case .sendsLater(let text):
            harness.outside.timer(after: .milliseconds(10)) { peer.send(text) }
        }
    }

    private func closed(_ peer: ScriptedPeer) {
        peer.stream.close()
        peers.removeAll { $0 === peer }
    }
}
