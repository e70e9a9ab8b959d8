import Basics
import HTTP
import Reactor
import Testing

@testable import Gateway

@Suite struct TrustedProxiesTests {
    private func proxies(
        _ networks: String, _ source: Config.Clients.AddressSource = .forwardedFor
    ) throws -> TrustedProxies {
        let entries = networks.split(separator: " ").map(String.init)
        return TrustedProxies(
            networks: try entries.filter { $0 != "unix" }.map { try AddressPrefix($0) },
            includesUnixSockets: entries.contains("unix"), source: source)
    }

    private func fields(_ name: FieldName, _ lines: [String]) throws -> Fields {
        var fields = Fields()
        for line in lines { fields.append(name, try #require(FieldValue(line))) }
        return fields
    }

    private func client(
        _ lines: [String], peer: String?, trusting networks: String,
        _ source: Config.Clients.AddressSource = .forwardedFor
    ) throws -> String? {
        let name: FieldName = source == .forwarded ? .forwarded : .xForwardedFor
        let peer = try peer.map { try #require(SocketAddress($0)) } ?? .unnamedUnix
        return try proxies(networks, source).client(of: fields(name, lines), peer: peer)
            .address?.description
    }

    static let own = "10.0.0.1:5000"

    @Test(arguments: [
        // No proxy is trusted, or not this peer.
        (["1.1.1.1"], "", "10.0.0.1"), (["1.1.1.1"], "192.168.0.0/16", "10.0.0.1"),
        // The rightmost address that is not a proxy's.
        ([], "10.0.0.0/8", "10.0.0.1"), (["1.1.1.1"], "10.0.0.0/8", "1.1.1.1"),
        (["6.6.6.6, 1.1.1.1"], "10.0.0.0/8", "1.1.1.1"),
        (["6.6.6.6, 1.1.1.1, 10.0.0.9"], "10.0.0.0/8", "1.1.1.1"),
        (["6.6.6.6", "1.1.1.1", "10.0.0.9"], "10.0.0.0/8", "1.1.1.1"),
        (["1.1.1.1, 10.0.0.9, 10.0.0.8"], "10.0.0.1", "10.0.0.8"),
        (["1.1.1.1:4711"], "10.0.0.0/8", "1.1.1.1"),
        (["[2001:db8::1]:1"], "10.0.0.0/8", "2001:db8::1"),
        (["2001:db8::1"], "10.0.0.0/8", "2001:db8::1"),
        (["1.1.1.1, ::ffff:10.0.0.7"], "10.0.0.0/8", "1.1.1.1"),
        // Every hop is trusted: the leftmost.
        (["10.0.0.5, 10.0.0.9"], "10.0.0.0/8", "10.0.0.5"),
        // An entry that is not an address ends the search.
        (["1.1.1.1, unknown"], "10.0.0.0/8", "10.0.0.1"),
        (["1.1.1.1, unknown, 10.0.0.9"], "10.0.0.0/8", "10.0.0.9"),
        (["1.1.1.1, 010.0.0.2"], "10.0.0.0/8", "10.0.0.1"),
        (["1.1.1.1, 10.0.0.2:99999"], "10.0.0.0/8", "10.0.0.1"),
        (["1.1.1.1, _hidden, 2.2.2.2"], "10.0.0.0/8", "2.2.2.2"),
        // Empty entries are skipped.
        (["1.1.1.1,, ,10.0.0.9,", ""], "10.0.0.0/8", "1.1.1.1"),
        ([",,,", ","], "10.0.0.0/8", "10.0.0.1"),
    ])
    func clientOfForwardedFor(_ lines: [String], _ networks: String, _ expected: String) throws {
        #expect(try client(lines, peer: Self.own, trusting: networks) == expected)
    }

    @Test(arguments: [
        (["for=1.1.1.1"], "", "10.0.0.1"), (["for=1.1.1.1"], "10.0.0.0/8", "1.1.1.1"),
        (["for=6.6.6.6, for=1.1.1.1, for=10.0.0.9"], "10.0.0.0/8", "1.1.1.1"),
        (["for=6.6.6.6, for=1.1.1.1", "for=\"10.0.0.9:80\""], "10.0.0.0/8", "1.1.1.1"),
        (["for=\"[2001:db8::1]:443\";proto=https"], "10.0.0.0/8", "2001:db8::1"),
        (["for=10.0.0.5,for=10.0.0.9"], "10.0.0.0/8", "10.0.0.5"),
        (["for=1.1.1.1, for=unknown"], "10.0.0.0/8", "10.0.0.1"),
        (["for=1.1.1.1, for=_hidden, for=10.0.0.9"], "10.0.0.0/8", "10.0.0.9"),
        (["for=1.1.1.1, proto=https"], "10.0.0.0/8", "10.0.0.1"),
        (["for=1.1.1.1, for=10.0.0.9:80"], "10.0.0.0/8", "10.0.0.1"),
        // An unterminated quoted string of a client.
        (["for=6.6.6.6, for=\"x, for=\"[2001:db8::9]:80\""], "10.0.0.0/8", "2001:db8::9"),
        (["for=\"x", "for=1.1.1.1"], "10.0.0.0/8", "1.1.1.1"),
    ])
    func clientOfForwarded(_ lines: [String], _ networks: String, _ expected: String) throws {
        #expect(try client(lines, peer: Self.own, trusting: networks, .forwarded) == expected)
    }

    /// A proxy forwards the header that it does not maintain as the client sent it.
    @Test func onlyTheNamedHeaderCounts() throws {
        var both = try fields(.xForwardedFor, ["1.1.1.1"])
        both.append(.forwarded, "for=2.2.2.2")
        let peer = SocketAddress(Self.own)
        #expect(
            try proxies("10.0.0.1").client(of: both, peer: peer).address?.description == "1.1.1.1")
        #expect(
            try proxies("10.0.0.1", .forwarded).client(of: both, peer: peer).address?.description
                == "2.2.2.2")
    }

    @Test(arguments: [Config.Clients.AddressSource.forwardedFor, .forwarded])
    func readsAtMost32Hops(_ source: Config.Clients.AddressSource) throws {
        let prefix = source == .forwarded ? "for=" : ""
        func lines(_ hops: Int) -> [String] {
            [(0..<hops).map { "\(prefix)10.0.0.\($0 + 1)" }.joined(separator: ", ")]
        }
        #expect(try client(lines(32), peer: Self.own, trusting: "10.0.0.0/8", source) == "10.0.0.1")
        #expect(try client(lines(33), peer: Self.own, trusting: "10.0.0.0/8", source) == "10.0.0.2")
        #expect(
            try client(lines(200), peer: Self.own, trusting: "10.0.0.0/8", source) == "10.0.0.169")
    }

    @Test(arguments: [
        ("[::1]:80", "::1", ["1.1.1.1"], "1.1.1.1"),
        ("[::ffff:10.0.0.1]:80", "10.0.0.0/8", ["1.1.1.1"], "1.1.1.1"),
        ("[::ffff:10.0.0.1]:80", "", ["1.1.1.1"], "10.0.0.1"),
        (nil, "", ["1.1.1.1"], nil), (nil, "0.0.0.0/0 ::/0", ["1.1.1.1"], nil),
        (nil, "unix", ["6.6.6.6, 1.1.1.1"], "1.1.1.1"), (nil, "unix", [], nil),
        (nil, "unix", ["unknown"], nil), (nil, "unix 10.0.0.0/8", ["1.1.1.1, 10.0.0.9"], "1.1.1.1"),
        ("10.0.0.1:80", "unix", ["1.1.1.1"], "10.0.0.1"),
    ])
    func peersOfEveryKind(
        _ peer: String?, _ networks: String, _ lines: [String], _ expected: String?
    ) throws {
        #expect(try client(lines, peer: peer, trusting: networks) == expected)
    }
    /// An unknown peer is not on a unix socket: its headers count for nothing.
    @Test(arguments: [Config.Clients.AddressSource.forwardedFor, .forwarded])
    func unknownPeerIsNoTrustedProxy(_ source: Config.Clients.AddressSource) throws {
        let proxies = try proxies("unix 0.0.0.0/0 ::/0", source)
        var both = try fields(.xForwardedFor, ["1.1.1.1"])
        both.append(.forwarded, "for=1.1.1.1")
        #expect(proxies.client(of: both, peer: nil).host == .unknown)
        #expect(
            proxies.client(of: both, peer: .unnamedUnix).host
                == .ip(try #require(IPAddress("1.1.1.1"))))
        #expect(proxies.client(of: Fields(), peer: .unnamedUnix).host == .unixSocket)
    }
}
