import Basics
import Reactor
import Testing

@testable import Gateway

@Suite struct ForwardedHopTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("192.0.2.1:80", "192.0.2.1"), ("192.0.2.1:0", "192.0.2.1"),
        ("192.0.2.1:65535", "192.0.2.1"), ("2001:db8::1", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"), ("[2001:db8::1]:443", "2001:db8::1"),
        ("2001:DB8:0::1", "2001:db8::1"), ("::ffff:192.0.2.1", "192.0.2.1"),
        ("[::ffff:c000:201]:1", "192.0.2.1"), ("::1", "::1"),
        ("192.0.2.1:", nil), ("192.0.2.1:65536", nil), ("192.0.2.1:-1", nil),
        ("192.0.2.1:+80", nil), ("192.0.2.1:080000", nil), ("192.0.2.1:8a", nil),
        ("192.0.2.1:_x", nil), ("192.0.2.1:80:80", nil), ("[2001:db8::1", nil),
        ("2001:db8::1]", nil), ("[2001:db8::1]443", nil), ("[192.0.2.1]", nil),
        ("[192.0.2.1]:80", nil), ("[]", nil), ("[]:80", nil), ("[", nil), (":80", nil), ("", nil),
        ("010.0.0.1", nil), ("1.2.3", nil), ("1.2.3.4.5", nil), ("1.2.3.256", nil),
        ("fe80::1%eth0", nil), ("unknown", nil), ("_hidden", nil), ("localhost", nil),
        ("\"192.0.2.1\"", nil), ("192.0.2.1 ", nil), ("192.0.2.1/32", nil), ("0x7f.1", nil),
        ("2130706433", nil), ("\u{661}.2.3.4", nil),
    ])
    func entryOfForwardedFor(_ entry: String, _ address: String?) {
        #expect(
            ForwardedHop.address(inForwardedFor: Bytes(entry))?.description == address)
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("192.0.2.1:80", "192.0.2.1"),
        ("192.0.2.1:_x-1.y", "192.0.2.1"),
        ("[2001:db8::1]", "2001:db8::1"), ("[2001:db8::1]:443", "2001:db8::1"),
        ("[2001:db8::1]:_port", "2001:db8::1"), ("[::ffff:192.0.2.1]", "192.0.2.1"),
        ("2001:db8::1", nil), ("192.0.2.1:_", nil), ("192.0.2.1:_a b", nil),
        ("192.0.2.1:99999", nil), ("unknown", nil), ("unknown:80", nil), ("_gazonk", nil),
        ("_gazonk:80", nil), ("[192.0.2.1]", nil), ("", nil),
    ])
    func nodeOfForwarded(_ node: String, _ address: String?) {
        #expect(ForwardedHop.address(inNode: Bytes(node))?.description == address)
    }

    @Test func veryLongEntryIsNoAddress() {
        let entry = "192.0.2.1:" + String(repeating: "0", count: 30_000)
        #expect(ForwardedHop.address(inForwardedFor: Bytes(entry)) == nil)
        #expect(ForwardedHop.address(inNode: Bytes("192.0.2.1:_" + entry)) == nil)
    }

    @Test(arguments: [
        ([], []), (["a"], ["a"]), (["a, b ,\tc"], ["c", "b", "a"]),
        (["a,b", "c"], ["c", "b", "a"]),
        (["", "a"], ["a"]), ([",", "a,,b,", " , "], ["b", "a"]), ([",,,"], []),
    ])
    func entriesComeFromTheRight(_ lines: [String], _ entries: [String]) {
        #expect(ReversedEntries(lines.map { Bytes($0) }).map { String($0) } == entries)
    }

    @Test func manyCommasAreNoEntries() {
        let line = Bytes(String(repeating: ",", count: 32 << 10))
        #expect(Array(ReversedEntries([line, line])).isEmpty)
    }
}
