import Basics
import HTTPServer
import Reactor
import Testing

@testable import HTTPServer

/// The addresses of one client, and its number of connections.
@Suite struct ClientCountsTests {
    private func client(_ address: String) -> ClientCounts.Client? {
        ClientCounts.Client(SocketAddress(address))
    }

    @Test func ignoresThePortOfAnAddress() {
        #expect(client("192.0.2.1:80") == client("192.0.2.1:81"))
        #expect(client("192.0.2.1:80") != client("192.0.2.2:80"))
    }

    @Test func countsAnIPv6NetworkOf64BitsAsOneClient() {
        #expect(client("[2001:db8::1]:80") == client("[2001:db8::ffff:0:0:2]:80"))
        #expect(client("[2001:db8::1]:80") != client("[2001:db8:0:1::1]:80"))
        #expect(client("[::ffff:192.0.2.1]:80") == client("192.0.2.1:80"))
        #expect(client("[::c000:201:0:0]:80") != client("192.0.2.1:80"))
    }

    @Test func unixSocketsHaveNoClient() {
        #expect(client("unix:/run/a.sock") == nil)
        #expect(ClientCounts.Client(nil) == nil)
    }

    @Test func removesAClientWithoutConnections() throws {
        let connections = ClientCounts()
        let one = try #require(client("192.0.2.1:80"))
        #expect(
            connections.add(one, as: .served, atMost: 2)
                && connections.add(one, as: .served, atMost: 2))
        #expect(!connections.add(one, as: .served, atMost: 2))
        connections.remove(one, as: .served)
        #expect(connections.count == 1)
        connections.remove(one, as: .served)
        connections.remove(one, as: .served)
        #expect(connections.count == 0)
        #expect(connections.add(one, as: .served, atMost: 1))
    }

    @Test func countsRequestsOfAClientTogether() throws {
        let connections = ClientCounts()
        let (one, two) = (
            try #require(client("192.0.2.1:80")), try #require(client("192.0.2.2:80"))
        )
        for client in [one, one, two] {
            #expect(connections.add(client, as: .served, atMost: 2))
        }
        connections.requests(of: one).increment()
        connections.requests(of: one).increment()
        connections.requests(of: one).decrement()
        #expect(connections.requests(of: one).value == 1)
        #expect(connections.requests(of: two).value == 0)
    }

    @Test func countsRefusedConnectionsApart() throws {
        let connections = ClientCounts()
        let one = try #require(client("192.0.2.1:80"))
        #expect(
            connections.add(one, as: .refused, atMost: 1)
                && !connections.add(one, as: .refused, atMost: 1))
        #expect(connections.add(one, as: .served, atMost: 1))
        connections.remove(one, as: .served)
        #expect(connections.count == 1)
        connections.remove(one, as: .refused)
        #expect(connections.count == 0)
    }
}
