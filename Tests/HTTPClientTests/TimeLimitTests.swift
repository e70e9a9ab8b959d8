import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// The time limit of a request ends it in any state, and leaves nothing open.
@Suite struct TimeLimitTests {
    private struct TooSlow: Error {}

    private func send(
        _ harness: PoolHarness, _ path: String = "/", within milliseconds: Int64 = 300
    ) -> SentRequest {
        SentRequest(
            harness.pool.send(
                ClientRequest(.get, path),
                within: TimeLimit(.milliseconds(milliseconds), error: TooSlow())))
    }

    @Test func responseInTimeIsDelivered() throws {
        let harness = try PoolHarness { exchange in
            exchange.after(.milliseconds(200)) { exchange.respond(exchange.path) }
        }
        let sent = send(harness, "/a")
        #expect(harness.outcome(of: sent) == "200 /a")
        // The timer is gone: the connection of the request serves another one.
        harness.advance(by: .seconds(1))
        #expect(harness.counts == "0 in flight, 1 idle, 1 open")
        #expect(harness.backend.log == ["1.1 /a"])
        harness.expectQuiet()
    }

    @Test func closesTheConnectionOfARequestThatTakesTooLong() throws {
        let harness = try PoolHarness { _ in }
        let sent = send(harness)
        harness.advance(by: .milliseconds(299))
        #expect(sent.outcome == nil && harness.pool.inFlight == 1)
        harness.advance(by: .milliseconds(2))
        #expect(sent.outcome == "TooSlow")
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        #expect(harness.backend.peers.map(\.hasEnded) == [true])
        harness.expectQuiet()
    }

    @Test func removesAWaitingRequestFromTheQueue() throws {
        var settings = PoolSettings()
        settings.maxConnections = 1
        let harness = try PoolHarness(settings) { exchange in
            exchange.after(.milliseconds(500)) { exchange.respond(exchange.path) }
        }
        let first = send(harness, "/a", within: 1000)
        let waiting = send(harness, "/b")
        #expect(harness.outcome(of: waiting) == "TooSlow")
        #expect(harness.outcome(of: first) == "200 /a")
        #expect(harness.backend.log == ["1.1 /a"])
        harness.expectQuiet()
    }

    @Test func endsTheConnectionAttempt() throws {
        let harness = try PoolHarness()
        harness.network.connectBehaviors[PoolHarness.address] = .silent
        let sent = send(harness)
        #expect(harness.outcome(of: sent) == "TooSlow")
        harness.advance(by: .milliseconds(1))
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    @Test func cancelledRequestHasNoTimer() throws {
        let harness = try PoolHarness { _ in }
        let sent = send(harness)
        harness.advance(by: .milliseconds(10))
        sent.cancel()
        harness.advance(by: .seconds(1))
        #expect(sent.outcome == "Cancelled")
        harness.expectQuiet()
    }
}

/// The fields of responses that a call does not use are not kept; everything else of the head is.
@Suite struct UnusedFieldsTests {
    private func response(_ method: HTTP.Method = .get, status: Int) throws -> ClientResponse? {
        let harness = try PoolHarness { exchange in
            exchange.perform(.status(status, "body", "X-Field: 1"))
        }
        let template = RequestTemplate(
            host: "a", responseBytesMax: 1000, statusesWithoutFields: 200...299)
        let target = try #require(Target("/"))
        let promise = harness.pool.send(
            ClientRequest(method: method, target: target, template: template))
        harness.network.run(until: { !promise.isPending })
        let response = promise.value
        #expect(harness.pool.idle == 1, "the connection is reusable as usual")
        harness.expectQuiet()
        return response
    }

    @Test func dropsThemForTheseStatuses() throws {
        let dropped = try #require(try response(status: 200))
        #expect(dropped.fields.isEmpty && String(dropped.content) == "body")
        let kept = try #require(try response(status: 404))
        #expect(kept.fields["X-Field"] == "1" && String(kept.content) == "body")
    }
}
