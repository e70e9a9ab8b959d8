import HTTP
import Reactor
import Testing

@testable import Gateway

/// The client's address in 66 cases: the header lines of the request, the trusted networks, and
/// the client that follows from them. The peer is 10.0.0.1 unless a case says otherwise.
@Suite struct ClientAddressTableTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let lines: [String]
        let trusted: String
        let client: String?
        var peer: String? = "10.0.0.1:5000"
        var testDescription: String { "\(lines) trusting '\(trusted)' from \(peer ?? "unix")" }

        init(
            _ lines: [String], _ trusted: String, _ client: String?, peer: String? = "10.0.0.1:5000"
        ) {
            self.lines = lines
            self.trusted = trusted
            self.client = client
            self.peer = peer
        }
    }

    private static let all = "10.0.0.0/8"

    static let forwardedFor: [Case] = [
        // Nothing is trusted, so nothing is read.
        Case([], "", "10.0.0.1"), Case(["1.1.1.1"], "", "10.0.0.1"),
        Case(["1.1.1.1"], "10.0.0.2", "10.0.0.1"), Case(["1.1.1.1"], "unix", "10.0.0.1"),
        Case(["1.1.1.1"], "1.1.1.1", "10.0.0.1"),
        // One proxy.
        Case([], all, "10.0.0.1"), Case([""], all, "10.0.0.1"), Case(["1.1.1.1"], all, "1.1.1.1"),
        Case(["1.1.1.1"], "10.0.0.1", "1.1.1.1"), Case(["1.1.1.1"], "0.0.0.0/0", "1.1.1.1"),
        // A client that sends the header itself: only the last entry is the proxy's.
        Case(["6.6.6.6, 1.1.1.1"], all, "1.1.1.1"), Case(["6.6.6.6", "1.1.1.1"], all, "1.1.1.1"),
        Case(["10.0.0.7, 1.1.1.1"], all, "1.1.1.1"), Case(["127.0.0.1, 1.1.1.1"], all, "1.1.1.1"),
        // Several proxies, in one line and in several.
        Case(["1.1.1.1, 10.0.0.9"], all, "1.1.1.1"), Case(["1.1.1.1", "10.0.0.9"], all, "1.1.1.1"),
        Case(["6.6.6.6, 1.1.1.1, 10.0.0.9, 10.0.0.8"], all, "1.1.1.1"),
        Case(["1.1.1.1, 10.0.0.9"], "10.0.0.1", "10.0.0.9"),
        Case(["1.1.1.1, 10.0.0.9"], "10.0.0.1 10.0.0.9", "1.1.1.1"),
        // All of them are trusted.
        Case(["10.0.0.9"], all, "10.0.0.9"), Case(["10.0.0.9, 10.0.0.8"], all, "10.0.0.9"),
        // Spaces, tabs, empty entries.
        Case(["1.1.1.1,10.0.0.9"], all, "1.1.1.1"), Case(["1.1.1.1 ,\t10.0.0.9"], all, "1.1.1.1"),
        Case([", 1.1.1.1,,"], all, "1.1.1.1"), Case([",", "1.1.1.1", ","], all, "1.1.1.1"),
        // Ports and IPv6.
        Case(["1.1.1.1:80"], all, "1.1.1.1"), Case(["2001:db8::1"], all, "2001:db8::1"),
        Case(["[2001:db8::1]"], all, "2001:db8::1"),
        Case(["[2001:db8::1]:80"], all, "2001:db8::1"),
        Case(["2001:DB8:0:0::1"], all, "2001:db8::1"),
        Case(["::ffff:1.1.1.1"], all, "1.1.1.1"),
        Case(["1.1.1.1, ::ffff:10.0.0.9"], all, "1.1.1.1"),
        Case(["1.1.1.1"], "::1", "1.1.1.1", peer: "[::1]:9"),
        Case(["1.1.1.1"], all, "1.1.1.1", peer: "[::ffff:10.0.0.1]:9"),
        Case(["1.1.1.1"], "", "2001:db8::2", peer: "[2001:db8::2]:9"),
        // An entry that is not an address ends the search at the hop before it.
        Case(["unknown"], all, "10.0.0.1"), Case(["1.1.1.1, unknown"], all, "10.0.0.1"),
        Case(["1.1.1.1, unknown, 10.0.0.9"], all, "10.0.0.9"),
        Case(["1.1.1.1, 010.0.0.9"], all, "10.0.0.1"), Case(["1.1.1.1, 10.0.9"], all, "10.0.0.1"),
        Case(["1.1.1.1, 10.0.0.9:99999"], all, "10.0.0.1"),
        Case(["1.1.1.1, \"10.0.0.9\""], all, "10.0.0.1"),
        Case(["1.1.1.1, 10.0.0.9/32"], all, "10.0.0.1"),
        Case(["1.1.1.1, [10.0.0.9]"], all, "10.0.0.1"),
        Case(["1.1.1.1, localhost"], all, "10.0.0.1"), Case(["1.1.1.1;10.0.0.9"], all, "10.0.0.1"),
        // A unix socket.
        Case(["1.1.1.1"], "", nil, peer: nil), Case(["1.1.1.1"], "0.0.0.0/0", nil, peer: nil),
        Case([], "unix", nil, peer: nil), Case(["6.6.6.6, 1.1.1.1"], "unix", "1.1.1.1", peer: nil),
        Case(["unknown"], "unix", nil, peer: nil),
    ]

    static let forwarded: [Case] = [
        Case(["for=1.1.1.1"], "", "10.0.0.1"), Case(["for=1.1.1.1"], all, "1.1.1.1"),
        Case(["For=1.1.1.1;proto=https;by=10.0.0.1"], all, "1.1.1.1"),
        Case(["for=6.6.6.6, for=1.1.1.1"], all, "1.1.1.1"),
        Case(["for=6.6.6.6", "for=1.1.1.1", "for=10.0.0.9"], all, "1.1.1.1"),
        Case(["for=\"1.1.1.1:80\""], all, "1.1.1.1"),
        Case(["for=\"[2001:db8::1]:80\""], all, "2001:db8::1"),
        Case(["for=\"1.1.1.1:_hidden\""], all, "1.1.1.1"),
        Case(["for=10.0.0.9, for=10.0.0.8"], all, "10.0.0.9"),
        Case(["for=unknown"], all, "10.0.0.1"), Case(["for=1.1.1.1, for=unknown"], all, "10.0.0.1"),
        Case(["for=1.1.1.1, for=_gazonk, for=10.0.0.9"], all, "10.0.0.9"),
        Case(["for=1.1.1.1, proto=https"], all, "10.0.0.1"),
        Case(["for=1.1.1.1, for=2001:db8::1"], all, "10.0.0.1"),
        Case(["for=1.1.1.1, for=\"[2001:db8::1\""], all, "10.0.0.1"),
        Case(["for=1.1.1.1, for=10.0.0.9;for=6.6.6.6"], all, "10.0.0.1"),
        // A quote of the client does not hide what a proxy appended.
        Case(["for=6.6.6.6, for=\"x, for=1.1.1.1"], all, "1.1.1.1"),
        Case(["for=\"x, for=\"[2001:db8::1]:80\""], all, "2001:db8::1"),
        Case(["for=6.6.6.6;x=\", for=1.1.1.1;x=\"a, b\""], all, "1.1.1.1"),
        Case(["for=\"x\\, for=1.1.1.1;x=\"a\\\", b\\\\\""], all, "1.1.1.1"),
        Case(["for=\"x, for=10.0.0.9"], all, "10.0.0.9"),
        Case(["for=\"x", "for=1.1.1.1"], all, "1.1.1.1"),
        Case(["1.1.1.1"], all, "10.0.0.1"), Case(["for=1.1.1.1"], "unix", "1.1.1.1", peer: nil),
    ]

    private func client(
        _ entry: Case, _ source: Config.Clients.AddressSource, _ name: FieldName
    ) throws -> String? {
        var fields = Fields()
        for line in entry.lines { fields.append(name, try #require(FieldValue(line))) }
        let trusted = entry.trusted.split(separator: " ").map(String.init)
        let proxies = TrustedProxies(
            networks: try trusted.filter { $0 != "unix" }.map { try AddressPrefix($0) },
            includesUnixSockets: trusted.contains("unix"), source: source)
        let peer = try entry.peer.map { try #require(SocketAddress($0)) } ?? .unnamedUnix
        return proxies.client(of: fields, peer: peer).address?.description
    }

    @Test func tableHasEnoughCases() {
        #expect(Self.forwardedFor.count + Self.forwarded.count >= 60)
    }

    @Test(arguments: forwardedFor) func clientOfXForwardedFor(_ entry: Case) throws {
        #expect(try client(entry, .forwardedFor, .xForwardedFor) == entry.client)
        // The other header is that of the client.
        let peer = entry.peer.flatMap { SocketAddress($0) }.flatMap(address)
        #expect(try client(entry, .forwarded, .xForwardedFor) == peer)
    }

    @Test(arguments: forwarded) func clientOfForwarded(_ entry: Case) throws {
        #expect(try client(entry, .forwarded, .forwarded) == entry.client)
        let peer = entry.peer.flatMap { SocketAddress($0) }.flatMap(address)
        #expect(try client(entry, .forwardedFor, .forwarded) == peer)
    }

    private func address(of peer: SocketAddress) -> String? {
        if case .ip(let address, _) = peer { address.unmapped.description } else { nil }
    }
}
