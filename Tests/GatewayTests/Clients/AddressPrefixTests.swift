import Reactor
import Testing

@testable import Gateway

@Suite struct AddressPrefixTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.0.0.0/8"), ("192.0.2.1", "192.0.2.1/32"), ("0.0.0.0/0", "0.0.0.0/0"),
        ("192.0.2.128/25", "192.0.2.128/25"), ("2001:db8::/32", "2001:db8::/32"),
        ("::/0", "::/0"), ("::1", "::1/128"), ("2001:db8:0:0:8000::/65", "2001:db8:0:0:8000::/65"),
        ("::ffff:10.0.0.0/104", "10.0.0.0/8"), ("::ffff:10.0.0.1", "10.0.0.1/32"),
    ])
    func parsesNetwork(_ text: String, _ network: String) throws {
        #expect(try AddressPrefix(text).description == network)
    }

    @Test(arguments: [
        "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/+8",
        "10.0.0.0/8/8", "10.0.0/8", "010.0.0.0/8", "2001:db8::/129", "[::1]/128", "fe80::1%eth0",
        "::ffff:0:0/95", "10.0.0.0/99999999999999999999", "localhost", " 10.0.0.0/8", "10.0.0.0:80",
    ])
    func refusesInvalidNetwork(_ text: String) {
        #expect(throws: AddressPrefix.Fault.syntax) { try AddressPrefix(text) }
    }

    @Test(arguments: [
        ("10.0.0.1/8", "10.0.0.0/8"), ("192.0.2.129/25", "192.0.2.128/25"),
        ("1.2.3.4/0", "0.0.0.0/0"),
        ("2001:db8::1/32", "2001:db8::/32"), ("2001:db8::1/127", "2001:db8::/127"),
    ])
    func refusesBitsAfterThePrefix(_ text: String, _ meant: String) throws {
        let network = try AddressPrefix(meant)
        #expect(throws: AddressPrefix.Fault.bitsAfterPrefix(network)) { try AddressPrefix(text) }
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.255.255", true), ("10.0.0.0/8", "11.0.0.0", false),
        ("10.0.0.0/8", "9.255.255.255", false), ("10.0.0.0/8", "::ffff:10.1.2.3", true),
        ("10.0.0.0/8", "::10.1.2.3", false), ("0.0.0.0/0", "255.255.255.255", true),
        ("0.0.0.0/0", "::1", false), ("::/0", "2001:db8::1", true), ("::/0", "10.0.0.1", false),
        ("::/0", "::ffff:10.0.0.1", false), ("192.0.2.1", "192.0.2.1", true),
        ("192.0.2.1", "192.0.2.2", false), ("192.0.2.128/25", "192.0.2.127", false),
        ("2001:db8::/32", "2001:db8:ffff::", true), ("2001:db8::/32", "2001:db9::", false),
        ("2001:db8::/64", "2001:db8:0:0:ffff::", true),
        ("2001:db8::/64", "2001:db8:0:1::", false),
        ("2001:db8::/65", "2001:db8::7fff:0:0:0", true),
        ("2001:db8::/65", "2001:db8::8000:0:0:0", false), ("::1", "::1", true),
        ("::1", "::2", false),
    ])
    func containsAddresses(_ network: String, _ address: String, _ expected: Bool) throws {
        let ip = try #require(IPAddress(address))
        #expect(try AddressPrefix(network).contains(ip) == expected)
    }
}
