import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// Random behaviour: many requests, some of them cancelled, and a backend with all kinds of
/// responses and failures.
@Suite struct ChaosTests {
    @Test(arguments: [UInt64](1...60))
    func everyRequestGetsItsOwnResponseOrAFailure(seed: UInt64) throws {
        let chance = Entropy(seed: seed &* 7919)
        var settings = PoolSettings()
        settings.maxIdle = chance.below(4)
        settings.maxConnections = chance.chance(oneIn: 3) ? nil : 1 + chance.below(4)
        settings.idleTimeout = .milliseconds(5)
        let isSplit = chance.chance(oneIn: 2)
        let behaviors = BackendBehavior.allCases.filter { $0 != .extra || !isSplit }
        let harness = try PoolHarness(seed: seed, settings) { exchange in
            // Every other request gets a regular response.
            let behavior =
                chance.chance(oneIn: 2) ? .regular : behaviors[chance.below(behaviors.count)]
            behavior.respond(to: exchange)
        }
        harness.network.settings.split = isSplit ? .random : .whole
        harness.network.settings.latency = .microseconds(20)...(.microseconds(900))

        var requests: [(path: String, isPost: Bool, sent: SentRequest)] = []
        for number in 0..<120 {
            let isPost = chance.chance(oneIn: 3)
            let path = "/\(number)"
            let sent = harness.send(isPost ? .post : .get, path)
            // The timeout of a caller: otherwise a hanging request keeps its connection from the
            // others.
            harness.loop.timer(after: .milliseconds(20)) { sent.cancel() }
            requests.append((path, isPost, sent))
            if chance.chance(oneIn: 5) { requests[chance.below(requests.count)].sent.cancel() }
            harness.advance(by: .microseconds(chance.below(1500)))
        }
        harness.advance(by: .seconds(2))

        // Positive control: some requests get responses although hanging ones hold connections.
        #expect(requests.count { $0.sent.outcome == "200 \($0.path)" } >= 10, "seed \(seed)")
        for request in requests {
            let outcome = request.sent.outcome ?? "nothing"
            #expect(
                BackendBehavior.possible.contains(outcome) || outcome == "200 \(request.path)",
                "seed \(seed): \(request.path) got \(outcome)")
            let times = harness.backend.log.count { $0.hasSuffix(" \(request.path)") }
            #expect(times <= (request.isPost ? 1 : 2), "seed \(seed): \(request.path)")
        }
        harness.expectQuiet()
    }

    /// The behaviour of a backend for one request.
    private enum BackendBehavior: CaseIterable {
        case regular, chunks, untilClose, slow, close, reset, truncated, extra, malformed, hang,
            thenClose

        static let possible: Set = [
            "connectionTerminated", "responseIncomplete", "protocolError", "Cancelled",
        ]

        func respond(to exchange: BackendExchange) {
            let (peer, path) = (exchange.peer, exchange.path)
            switch self {
            case .regular: exchange.respond(path)
            case .chunks:
                peer.send(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "1\r\n/\r\n\(path.utf8.count - 1)\r\n\(path.dropFirst())\r\n0\r\n\r\n")
            case .untilClose:
                peer.send("HTTP/1.1 200 OK\r\n\r\n\(path)")
                peer.stream.close()
            case .slow: exchange.after(.milliseconds(3)) { exchange.respond(path) }
            case .close: peer.stream.close()
            case .reset: (peer.stream as? SimStream)?.reset()
            case .truncated:
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n\(path)")
                peer.stream.close()
            case .extra:
                // In one piece with the response. Bytes that arrive after the next request was sent
                // cannot be distinguished from its response, since HTTP/1.1 responses have no
                // identifiers.
                peer.send(
                    "HTTP/1.1 200 OK\r\nContent-Length: \(path.utf8.count)\r\n\r\n\(path)"
                        + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nPOISON")
            case .malformed: peer.send("200 OK")
            case .hang: break
            case .thenClose:
                exchange.respond(path)
                peer.stream.close()
            }
        }
    }
}
