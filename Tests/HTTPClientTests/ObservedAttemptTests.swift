import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// What an exchange learns of the attempts of its calls, and in which order.
@Suite(.watched) struct ObservedAttemptTests {
    private struct TooSlow: Error {}

    private func harness(_ script: @escaping (BackendExchange) -> Void) throws -> PoolHarness {
        try PoolHarness(seed: 1, PoolSettings(), script)
    }

    private func exchange(on loop: any Loop) -> RecordingExchange {
        RecordingExchange(
            ExchangeStart(
                id: .own(1, 2), trace: TraceContext(from: Entropy(seed: 1)), local: loop.local,
                began: loop.now))
    }

    /// Sends a request as this attempt; nil for one that is not observed.
    private func send(
        _ attempt: Int?, of exchange: RecordingExchange, in harness: PoolHarness,
        within limit: Duration? = nil
    ) -> SentRequest {
        var request = ClientRequest(.get, "/abc", host: harness.pool.origin.hostFieldValue)
        request.exchange = ExchangeFields(of: exchange, span: 1, left: nil, attempt: attempt)
        return SentRequest(
            harness.pool.send(request, within: limit.map { TimeLimit($0, error: TooSlow()) }))
    }

    @Test func responsesAreReportedWithTheirConnection() throws {
        let harness = try harness { $0.respond("12345") }
        let exchange = exchange(on: harness.loop)
        for attempt in 0..<2 {
            #expect(harness.outcome(of: send(attempt, of: exchange, in: harness)) == "200 12345")
        }
        #expect(
            exchange.events == [
                "0 sent http11, reusing: false", "0 answered 200", "0 completed with 5",
                "1 sent http11, reusing: true", "1 answered 200", "1 completed with 5",
            ])
    }

    @Test func anAttemptWithoutANumberIsNotReported() throws {
        let harness = try harness { $0.respond("1") }
        let exchange = exchange(on: harness.loop)
        #expect(harness.outcome(of: send(nil, of: exchange, in: harness)) == "200 1")
        #expect(exchange.events == [])
    }

    @Test func aFailedConnectionIsReported() throws {
        let harness = try harness { $0.peer.stream.close() }
        let exchange = exchange(on: harness.loop)
        let outcome = harness.outcome(of: send(3, of: exchange, in: harness))
        #expect(outcome == "connectionTerminated")
        #expect(
            exchange.events == [
                "3 sent http11, reusing: false", "3 failed: connectionTerminated",
            ])
    }

    @Test func theTimeLimitIsReported() throws {
        let harness = try harness { _ in }
        let exchange = exchange(on: harness.loop)
        let sent = send(0, of: exchange, in: harness, within: .milliseconds(50))
        #expect(harness.outcome(of: sent) == "TooSlow")
        #expect(exchange.events.prefix(2) == ["0 sent http11, reusing: false", "0 timed out"])
    }

    @Test func aCancelledCallIsReported() throws {
        let harness = try harness { _ in }
        let exchange = exchange(on: harness.loop)
        let sent = send(0, of: exchange, in: harness)
        harness.advance(by: .milliseconds(50))
        #expect(exchange.events == ["0 sent http11, reusing: false"])
        harness.testbed.perform(on: harness.loop) { sent.cancel() }
        harness.advance(by: .milliseconds(50))
        #expect(exchange.events.last == "0 cancelled")
    }
}
