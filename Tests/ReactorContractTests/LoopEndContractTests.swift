import Basics
import Promises
import Reactor
import SimReactor
import Testing
import UVReactor

/// Streams and connection attempts that are still open when their loop closes.
@Suite(.timeLimit(.minutes(5))) struct LoopEndContractTests {
    @Test(arguments: Conformer.allCases)
    func openStreamsFailWhenTheLoopCloses(_ conformer: Conformer) throws {
        var peers: [Peer] = []
        let left = try closeLoop(conformer) { harness, stop in
            harness.peers { client, server in
                peers = [client, server]
                stop()
            }
        }
        #expect(!left.isEmpty)
        #expect(peers.map(\.failures) == [[.cancelled], [.cancelled]])
        #expect(peers.map(\.hasEnded) == [false, false])
    }

    /// Positive control: the other end of the same connection is notified.
    @Test(arguments: Conformer.allCases)
    func closedStreamsAreNotNotified(_ conformer: Conformer) throws {
        var peers: [Peer] = []
        _ = try closeLoop(conformer) { harness, stop in
            harness.peers { client, server in
                peers = [client, server]
                client.stream.close()
                stop()
            }
        }
        #expect(peers.map(\.failures) == [[], [.cancelled]])
    }

    @Test(arguments: Conformer.allCases)
    func streamsWithUnsentBytesFailToo(_ conformer: Conformer) throws {
        var peers: [Peer] = []
        _ = try closeLoop(conformer) { harness, stop in
            harness.peers { client, server in
                peers = [client, server]
                server.stream.pauseReading()
                let bytes = [UInt8](repeating: 7, count: 16 * 1024 * 1024)
                client.stream.write(bytes.span)
                client.stream.finishWriting()
                #expect(client.stream.unsentBytes > 0)
                stop()
            }
        }
        #expect(peers.map(\.failures) == [[.cancelled], [.cancelled]])
    }

    @Test(arguments: Conformer.loops)
    func attemptsToConnectAreCancelled(_ conformer: Conformer) throws {
        var results: [Result<any ByteStream, any Error>] = []
        var accepted = 0
        _ = try closeLoop(conformer) { harness, stop in
            guard let listener = harness.listen({ _ in accepted += 1 }) else { return }
            outcome(of: harness.loop.connect(to: listener.address)) { results.append($0) }
            stop()
        }
        try #require(results.count == 1)
        #expect(throws: IOFailure.cancelled) { try results[0].get() }
        #expect(accepted == 0)
    }

    @Test(arguments: Conformer.loops)
    func workStartedByADelegateAtTheEndIsCancelled(_ conformer: Conformer) throws {
        var results: [Result<any ByteStream, any Error>] = []
        var fired = 0
        _ = try closeLoop(conformer) { harness, stop in
            harness.peers { client, _ in
                client.onFailed = { _ in
                    harness.loop.timer(after: .zero) { fired += 1 }
                    outcome(of: harness.loop.connect(to: .loopback)) { results.append($0) }
                }
                stop()
            }
        }
        try #require(results.count == 1)
        #expect(throws: IOFailure.cancelled) { try results[0].get() }
        #expect(fired == 0)
    }
}

/// Runs a loop until the body calls `stop`, and closes it with everything that is still open on it.
///
/// - Returns: what was open
private func closeLoop(
    _ conformer: Conformer,
    _ body: (_ harness: ContractHarness, _ stop: @escaping () -> Void) -> Void
) throws -> [String] {
    switch conformer {
    case .libuv, .secureLibuv:
        return try UVLoop.run { loop in
            let watchdog = loop.timer(after: .seconds(20)) {
                Issue.record("the test did not finish")
                loop.stop()
            }
            let stop = {
                watchdog.cancel()
                loop.stop()
            }
            body(
                ContractHarness(loop: conformer.isSecure ? try SecureLoop(loop) : loop, stop: stop),
                stop)
        }
    case .simulated, .secureSimulated:
        let network = SimNetwork(seed: 1)
        let loop = network.makeLoop("test")
        var isStopped = false
        let stop = { isStopped = true }
        body(
            ContractHarness(loop: conformer.isSecure ? try SecureLoop(loop) : loop, stop: stop),
            stop)
        #expect(network.run(until: { isStopped }), "did not finish")
        let left = loop.close()
        #expect(network.runUntilQuiet())
        #expect(loop.leftovers == [])
        return left
    }
}
