import Basics
import HTTP
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// Ownership between pools, calls and connections.
@Suite struct PoolLifetimeTests {
    @Test func droppedPoolClosesItsConnections() throws {
        let network = SimNetwork(seed: 1)
        let loop = network.makeLoop("client")
        let backend = try ScriptedBackend(on: network.makeLoop("backend"), at: PoolHarness.address)
        {
            exchange in
            exchange.respond(exchange.path)
        }
        weak var dropped: Pool?
        do {
            let pool = Pool(
                origin: Origin(host: "127.0.0.1", port: 7001), settings: PoolSettings(), loop: loop)
            dropped = pool
            let sent = SentRequest(
                pool.send(
                    ClientRequest(responseBytesMax: 10)))
            network.run(until: { sent.outcome != nil })
            #expect(sent.outcome == "200 /" && pool.idle == 1)
        }
        #expect(dropped == nil)
        backend.close()
        network.runUntilQuiet()
        #expect(network.leftovers == [], "no stream and no timer")
    }

    @Test func callRetainsItsPoolUntilItsResponse() throws {
        let network = SimNetwork(seed: 1)
        let loop = network.makeLoop("client")
        let backend = try ScriptedBackend(on: network.makeLoop("backend"), at: PoolHarness.address)
        {
            exchange in
            exchange.respond(exchange.path)
        }
        let sent = SentRequest(
            Pool(
                origin: Origin(host: "127.0.0.1", port: 7001), settings: PoolSettings(), loop: loop
            )
            .send(
                ClientRequest(.get, "/a", responseBytesMax: 10)))
        network.run(until: { sent.outcome != nil })
        #expect(sent.outcome == "200 /a")
        backend.close()
        network.runUntilQuiet()
        #expect(network.leftovers == [])
    }
}
