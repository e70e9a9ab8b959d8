import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// Sharing, reload and end of pools.
@Suite struct ConnectionPoolsTests {
    private let network = SimNetwork(seed: 1)
    private let origin = Origin(host: "127.0.0.1", port: 7001)

    private func shortIdle() -> PoolSettings {
        var settings = PoolSettings()
        settings.idleTimeout = .seconds(1)
        return settings
    }

    @Test func equalOriginsAndSettingsShareAPool() {
        let pools = ConnectionPools(loop: network.makeLoop("client"))
        let pool = pools.pool(for: origin, settings: PoolSettings())
        #expect(pools.pool(for: origin, settings: PoolSettings()) === pool)
        #expect(pools.pool(for: origin, settings: shortIdle()) !== pool)
        #expect(
            pools.pool(for: Origin(host: "127.0.0.1", port: 7002), settings: PoolSettings())
                !== pool)
    }

    @Test func keepsAPoolThatTheNewPlanUses() {
        let pools = ConnectionPools(loop: network.makeLoop("client"))
        let pool = pools.pool(for: origin, settings: PoolSettings())
        pools.retireUnused()
        #expect(pools.pool(for: origin, settings: PoolSettings()) === pool)
        pools.retireUnused()
        #expect(pools.pool(for: origin, settings: PoolSettings()) === pool)
    }

    @Test func drainsAPoolThatTheNewPlanDoesNotUse() throws {
        let loop = network.makeLoop("client")
        let backend = try ScriptedBackend(on: network.makeLoop("backend"), at: PoolHarness.address)
        {
            exchange in
            exchange.respond(exchange.path)
        }
        let pools = ConnectionPools(loop: loop)
        let pool = pools.pool(for: origin, settings: PoolSettings())
        pools.retireUnused()
        #expect(outcome(of: pool) == "200 /")
        #expect(pool.idle == 1)
        pools.retireUnused()
        #expect(pool.idle == 0)
        #expect(pools.pool(for: origin, settings: PoolSettings()) !== pool)
        #expect(outcome(of: pool) == "200 /")
        #expect(pool.connections == 0)
        backend.close()
        network.runUntilQuiet()
        #expect(network.leftovers == [])
    }

    @Test func closeWaitsForRunningCalls() throws {
        let backend = try ScriptedBackend(on: network.makeLoop("backend"), at: PoolHarness.address)
        { _ in
        }
        let pools = ConnectionPools(loop: network.makeLoop("client"))
        let pool = pools.pool(for: origin, settings: PoolSettings())
        let sent = send(to: pool)
        network.advance(by: .milliseconds(10))
        var isClosed = false
        pools.close().whenSettled { _ in isClosed = true }
        network.advance(by: .milliseconds(10))
        #expect(!isClosed)
        let late = send(to: pool)
        network.advance(by: .milliseconds(10))
        #expect(late.outcome == "connectionRefused")
        backend.peers[0].send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        network.advance(by: .milliseconds(10))
        #expect(sent.outcome == "200 hi" && isClosed)
        backend.close()
        network.runUntilQuiet()
        #expect(network.leftovers == [])
    }

    @Test func clientWithoutPoolsClosesAtOnce() {
        let loop = network.makeLoop("client")
        let pools = ConnectionPools(loop: loop)
        var isClosed = false
        pools.close().whenSettled { _ in isClosed = true }
        network.advance(by: .milliseconds(1))
        #expect(isClosed)
    }

    private func send(to pool: Pool) -> SentRequest {
        SentRequest(
            pool.send(
                ClientRequest(responseBytesMax: 100)))
    }

    private func outcome(of pool: Pool) -> String? {
        let sent = send(to: pool)
        network.run(until: { sent.outcome != nil })
        return sent.outcome
    }
}
