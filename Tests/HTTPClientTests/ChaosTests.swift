import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// Everything at once, by chance: many requests, some of them cancelled, and a backend that does
/// all that backends do.
@Suite struct ChaosTests {
    @Test(arguments: [UInt64](1...60))
    func everyRequestGetsItsOwnResponseOrAFailure(seed: UInt64) throws {
        let chance = Entropy(seed: seed &* 7919)
        var settings = PoolSettings()
        settings.maxIdle = chance.below(4)
        settings.maxConnections = chance.chance(oneIn: 3) ? nil : 1 + chance.below(4)
        settings.idleTimeout = .milliseconds(5)
        let isSplit = chance.chance(oneIn: 2)
        let moods = Mood.allCases.filter { $0 != .extra || !isSplit }
        let harness = try PoolHarness(seed: seed, settings) { asked in
            // Every other request is simply answered.
            let mood = chance.chance(oneIn: 2) ? .answer : moods[chance.below(moods.count)]
            mood.meet(asked)
        }
        harness.network.settings.split = isSplit ? .random : .whole
        harness.network.settings.latency = .microseconds(20)...(.microseconds(900))

        var requests: [(path: String, isPost: Bool, sent: Sent)] = []
        for number in 0..<120 {
            let isPost = chance.chance(oneIn: 3)
            let path = "/\(number)"
            let sent = harness.send(isPost ? .post : .get, path)
            // A caller's own timeout: else a request that hangs keeps its connection from the others.
            harness.loop.timer(after: .milliseconds(20)) { sent.cancel() }
            requests.append((path, isPost, sent))
            if chance.chance(oneIn: 5) { requests[chance.below(requests.count)].sent.cancel() }
            harness.pass(.microseconds(chance.below(1500)))
        }
        harness.pass(.seconds(2))

        // The control: some are answered, however often a request that hangs holds a connection.
        #expect(requests.count { $0.sent.outcome == "200 \($0.path)" } >= 10, "seed \(seed)")
        for request in requests {
            let outcome = request.sent.outcome ?? "nothing"
            #expect(
                Mood.possible.contains(outcome) || outcome == "200 \(request.path)",
                "seed \(seed): \(request.path) got \(outcome)")
            let times = harness.backend.log.count { $0.hasSuffix(" \(request.path)") }
            #expect(times <= (request.isPost ? 1 : 2), "seed \(seed): \(request.path)")
        }
        harness.expectQuiet()
    }

    /// What a backend does with a request.
    private enum Mood: CaseIterable {
        case answer, chunks, untilClose, slow, close, reset, half, extra, nonsense, hang, bye

        static let possible: Set = [
            "connectionTerminated", "responseIncomplete", "protocolError", "Cancelled",
        ]

        func meet(_ asked: BackendExchange) {
            let (peer, path) = (asked.peer, asked.path)
            switch self {
            case .answer: asked.answer(path)
            case .chunks:
                peer.send(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "1\r\n/\r\n\(path.utf8.count - 1)\r\n\(path.dropFirst())\r\n0\r\n\r\n")
            case .untilClose:
                peer.send("HTTP/1.1 200 OK\r\n\r\n\(path)")
                peer.stream.close()
            case .slow: asked.after(.milliseconds(3)) { asked.answer(path) }
            case .close: peer.stream.close()
            case .reset: (peer.stream as? SimStream)?.reset()
            case .half:
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n\(path)")
                peer.stream.close()
            case .extra:
                // In one piece with the answer. What comes after the next request went out cannot
                // be told from its answer: answers have no names in HTTP/1.1.
                peer.send(
                    "HTTP/1.1 200 OK\r\nContent-Length: \(path.utf8.count)\r\n\r\n\(path)"
                        + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nPOISON")
            case .nonsense: peer.send("200 OK")
            case .hang: break
            case .bye:
                asked.answer(path)
                peer.stream.close()
            }
        }
    }
}
