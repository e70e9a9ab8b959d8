import Reactor
import Testing

@Suite struct AddressTests {
    @Test(arguments: [
        ("0.0.0.0", IPAddress.v4(0)),
        ("127.0.0.1", .v4(0x7F00_0001)),
        ("255.255.255.255", .v4(0xFFFF_FFFF)),
        ("::", .v6(0, 0)),
        ("::1", .v6(0, 1)),
        ("1::", .v6(0x0001_0000_0000_0000, 0)),
        ("2001:DB8::1", .v6(0x2001_0DB8_0000_0000, 1)),
        ("2001:0db8:0:0:0:0:0:0001", .v6(0x2001_0DB8_0000_0000, 1)),
        ("1:2:3:4:5:6:7::", .v6(0x0001_0002_0003_0004, 0x0005_0006_0007_0000)),
        ("::ffff:192.0.2.1", .v6(0, 0xFFFF_C000_0201)),
        ("64:ff9b::192.0.2.33", .v6(0x0064_FF9B_0000_0000, 0xC000_0221)),
        ("1:2:3:4:5:6:1.2.3.4", .v6(0x0001_0002_0003_0004, 0x0005_0006_0102_0304)),
    ])
    func readsAddresses(_ text: String, _ address: IPAddress) {
        #expect(IPAddress(text) == address)
    }

    @Test(arguments: [
        "", ".", "1", "1.2.3", "1.2.3.4.5", "256.0.0.1", "01.2.3.4", "1.2.3.0004", "1.2.3.",
        "0x7f.0.0.1",
        "1.2.3.4 ", "+1.2.3.4", "-1.2.3.4", "1..2.3",
        ":", ":::", "1:::2", "::1::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::",
        "12345::", "g::", "::1%eth0", "[::1]", "1.2.3.4::", "::1.2.3", "::1.2.3.4:5",
        ":1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:", "1:2:3:4:5:6:7:1.2.3.4", "::\u{663}",
    ])
    func rejectsMalformedAddresses(_ text: String) {
        #expect(IPAddress(text) == nil)
    }

    /// RFC 5952 section 4 and 5, by clause.
    @Test(arguments: [
        ("2001:0db8::0001", "2001:db8::1"),  // 4.1
        ("2001:db8:0:0:0:0:2:1", "2001:db8::2:1"),  // 4.2.1
        ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),  // 4.2.2
        ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),  // 4.2.3, the longest
        ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),  // 4.2.3, the first
        ("2001:DB8::ABCD", "2001:db8::abcd"),  // 4.3
        ("::ffff:c000:201", "::ffff:192.0.2.1"),  // 5
        ("0:0:0:0:0:0:0:0", "::"),
        ("0:0:0:0:0:0:0:1", "::1"),
        ("1:0:0:0:0:0:0:0", "1::"),
        ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
        ("10.0.0.255", "10.0.0.255"),
    ])
    func printsTheCanonicalForm(_ text: String, _ canonical: String) {
        #expect(IPAddress(text)?.description == canonical)
    }

    @Test(arguments: [
        ("127.0.0.1:8080", SocketAddress.ip(.v4(0x7F00_0001), port: 8080)),
        ("0.0.0.0:0", .ip(.v4(0), port: 0)),
        ("[::1]:65535", .ip(.v6(0, 1), port: 65535)),
        ("unix:/run/tributary.sock", .unix(path: "/run/tributary.sock")),
    ])
    func readsAndPrintsSocketAddresses(_ text: String, _ address: SocketAddress) {
        #expect(SocketAddress(text) == address)
        #expect(address.description == text)
    }

    @Test(arguments: [
        "", ":", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
        "127.0.0.1:+1",
        "127.0.0.1: 80", "localhost:80", "::1:80", "[127.0.0.1]:80", "[::1]", "[::1]80", "[::1:80",
        "unix:", "unix:run/a.sock", "unix:/a\0b",
    ])
    func rejectsMalformedSocketAddresses(_ text: String) {
        #expect(SocketAddress(text) == nil)
    }
}
