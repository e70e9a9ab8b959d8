import Reactor
import Testing

@testable import Gateway

@Suite struct AddressSetTests {
    private func set(_ networks: [String]) throws -> AddressSet {
        AddressSet(try networks.map { try AddressPrefix($0) })
    }

    @Test(arguments: [
        (["10.0.0.0/8"], "10.0.0.0", true), (["10.0.0.0/8"], "10.255.255.255", true),
        (["10.0.0.0/8"], "9.255.255.255", false), (["10.0.0.0/8"], "11.0.0.0", false),
        (["192.0.2.1"], "192.0.2.1", true), (["192.0.2.1"], "192.0.2.0", false),
        (["192.0.2.1"], "192.0.2.2", false), ([], "192.0.2.1", false), ([], "::1", false),
        (["0.0.0.0/0"], "0.0.0.0", true), (["0.0.0.0/0"], "255.255.255.255", true),
        (["0.0.0.0/0"], "::1", false), (["::/0"], "::", true), (["::/0"], "10.0.0.1", false),
        (["::/0"], "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true),
        (["2001:db8::/32"], "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", true),
        (["2001:db8::/32"], "2001:db9::", false), (["2001:db8::/32"], "2001:db7:ffff::", false),
        (["2001:db8:0:0:8000::/65"], "2001:db8::7fff:0:0:0", false),
        (["2001:db8:0:0:8000::/65"], "2001:db8::8000:0:0:0", true),
        (["::1", "10.0.0.1"], "::1", true), (["::1", "10.0.0.1"], "10.0.0.1", true),
        // A network inside of another one, and overlapping ones in any order.
        (["10.0.0.0/8", "10.1.0.0/16"], "10.200.0.1", true),
        (["10.1.0.0/16", "10.0.0.0/8"], "10.200.0.1", true),
        (["10.0.0.0/8", "10.0.0.1", "12.0.0.0/8"], "11.0.0.1", false),
        (["10.0.0.0/8", "10.0.0.1", "12.0.0.0/8"], "12.0.0.1", true),
    ])
    func findsAddresses(_ networks: [String], _ address: String, _ isFound: Bool) throws {
        let address = try #require(IPAddress(address))
        #expect(try set(networks).contains(address) == isFound)
    }

    @Test func joinsOverlappingNetworks() throws {
        #expect(try set(["10.0.0.0/8", "10.1.0.0/16", "10.0.0.0/8", "::1"]).count == 2)
    }

    /// Against a search through all networks.
    @Test func agreesWithTheNetworks() {
        var random = SystemlessRandom(state: 7)
        for _ in 0..<50 {
            let networks = (0..<40).compactMap { _ -> AddressPrefix? in
                let bits = UInt32(truncatingIfNeeded: random.next()) & 0x0300_000F
                let length = Int(random.next() % 33)
                let mask = length == 0 ? 0 : UInt32.max << UInt32(32 - length)
                return try? AddressPrefix("\(IPAddress.v4(bits & mask))/\(length)")
            }
            let set = AddressSet(networks)
            for _ in 0..<200 {
                let address = IPAddress.v4(UInt32(truncatingIfNeeded: random.next()) & 0x0300_001F)
                #expect(set.contains(address) == networks.contains { $0.contains(address) })
            }
        }
    }

    @Test func holdsManyNetworks() throws {
        let networks = try (0..<100_000).map { index in
            try AddressPrefix("\(IPAddress.v4(0x0A00_0000 + UInt32(index) * 2))/32")
        }
        let set = AddressSet(networks)
        #expect(set.count == 100_000)
        for index in stride(from: UInt32(0), to: 200_000, by: 977) {
            #expect(set.contains(.v4(0x0A00_0000 + index)) == (index % 2 == 0))
        }
    }
}

/// The same numbers in every run (SplitMix64).
private struct SystemlessRandom {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
