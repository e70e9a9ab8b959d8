import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// A cancelled request ends at once, in any state, and leaves nothing open.
@Suite struct CancellationTests {
    /// Cancels after each event from the first packet until after the response.
    @Test(arguments: 0...14)
    func cancellationAtAnyMomentLeavesThePoolUsable(event: Int) throws {
        let harness = try PoolHarness()
        harness.network.settings.split = .sizes([20])
        let sent = harness.send(.get, "/a")
        for _ in 0..<event { harness.network.step() }
        let before = sent.outcome
        sent.cancel()
        harness.advance(by: .seconds(1))
        #expect(sent.outcome == before ?? "Cancelled")
        #expect(harness.pool.inFlight == 0)
        #expect(harness.outcome(.get, "/b") == "200 /b")
        harness.expectQuiet()
    }

    @Test func closesTheConnectionOfACancelledRequest() throws {
        let harness = try PoolHarness { exchange in
            if exchange.path != "/slow" { exchange.respond(exchange.path) }
        }
        #expect(harness.outcome(.get, "/a") == "200 /a")
        let slow = harness.send(.get, "/slow")
        harness.advance(by: .milliseconds(10))
        slow.cancel()
        #expect(harness.outcome(.get, "/b") == "200 /b")
        #expect(harness.backend.log == ["1.1 /a", "1.2 /slow", "2.1 /b"])
        harness.advance(by: .milliseconds(1))
        #expect(harness.backend.peers.map(\.hasEnded) == [true, false])
        harness.expectQuiet()
    }

    @Test func cancelsTheConnectionAttemptOfACancelledRequest() throws {
        let harness = try PoolHarness()
        harness.network.connectBehaviors[PoolHarness.address] = .silent
        let sent = harness.send()
        harness.advance(by: .milliseconds(10))
        #expect(harness.pool.connections == 1)
        sent.cancel()
        harness.advance(by: .milliseconds(1))
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        #expect(harness.network.leftovers == ["backend: 1 listeners"])
        harness.expectQuiet()
    }

    @Test func removesACancelledRequestFromTheQueue() throws {
        var settings = PoolSettings()
        settings.maxConnections = 1
        let harness = try PoolHarness(settings)
        let sent = ["/a", "/b", "/c"].map { harness.send(.get, $0) }
        sent[1].cancel()
        #expect(harness.outcome(of: sent[2]) == "200 /c")
        #expect(harness.backend.log == ["1.1 /a", "1.2 /c"])
        harness.expectQuiet()
    }

    @Test func replacesTheConnectionOfACancelledRequestForAQueuedOne() throws {
        var settings = PoolSettings()
        settings.maxConnections = 1
        let harness = try PoolHarness(settings) { exchange in
            if exchange.path != "/slow" { exchange.respond(exchange.path) }
        }
        let slow = harness.send(.get, "/slow")
        let next = harness.send(.get, "/b")
        harness.advance(by: .milliseconds(10))
        slow.cancel()
        #expect(harness.outcome(of: next) == "200 /b")
        #expect(harness.backend.log == ["1.1 /slow", "2.1 /b"])
        harness.expectQuiet()
    }

    @Test func cancelsAResend() throws {
        let harness = try PoolHarness { exchange in
            if exchange.turn == 1 {
                exchange.respond(exchange.path)
            } else {
                exchange.peer.stream.close()
            }
        }
        #expect(harness.outcome(.get, "/a") == "200 /a")
        harness.network.connectBehaviors[PoolHarness.address] = .silent
        let sent = harness.send(.get, "/b")
        harness.advance(by: .milliseconds(10))
        #expect(harness.counts == "1 in flight, 0 idle, 1 open")
        sent.cancel()
        harness.advance(by: .milliseconds(1))
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }

    @Test func cancelledResendMakesRoomForAQueuedRequest() throws {
        var settings = PoolSettings()
        settings.maxConnections = 1
        let harness = try PoolHarness(settings) { exchange in
            if exchange.path == "/broken" {
                exchange.peer.stream.close()
            } else {
                exchange.respond(exchange.path)
            }
        }
        #expect(harness.outcome(.get, "/a") == "200 /a")
        harness.network.connectBehaviors[PoolHarness.address] = .silent
        let broken = harness.send(.get, "/broken")
        let next = harness.send(.get, "/b")
        harness.advance(by: .milliseconds(10))
        harness.network.connectBehaviors[PoolHarness.address] = nil
        broken.cancel()
        #expect(harness.outcome(of: next) == "200 /b")
        #expect(harness.backend.log == ["1.1 /a", "1.2 /broken", "2.1 /b"])
        harness.expectQuiet()
    }

    @Test func timeoutCancelsTheRequest() throws {
        let harness = try PoolHarness { _ in }
        let sent = SentRequest(harness.request().timeout(.milliseconds(300), error: TooSlow()))
        #expect(harness.outcome(of: sent) == "TooSlow")
        harness.advance(by: .milliseconds(1))
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        #expect(harness.backend.peers.map(\.hasEnded) == [true])
        harness.expectQuiet()
    }

    private struct TooSlow: Error {}
}
