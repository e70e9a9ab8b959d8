import Basics
import Reactor
import Testing

@testable import Gateway

/// Lines of `Forwarded` (RFC 7239); an element is written `address proto host` here, `-` for a
/// missing part, `?` for a malformed element.
@Suite struct ForwardedElementTests {
    /// `for=192.0.2.1;x1=1;x2=2...`
    private static func manyPairs(_ count: Int) -> String {
        (["for=192.0.2.1"] + (1..<count).map { "x\($0)=\($0)" }).joined(separator: ";")
    }

    @Test(arguments: [
        ("for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60 http -"),
        ("For=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17 - -"),
        ("for=192.0.2.43, for=198.51.100.17", "192.0.2.43 - -|198.51.100.17 - -"),
        ("for=192.0.2.43,for=\"192.0.2.1:80\"", "192.0.2.43 - -|192.0.2.1 - -"),
        ("for=\"_gazonk\"", "- - -"), ("for=unknown;proto=https", "- https -"),
        ("proto=https;host=a.example", "- https a.example"),
        ("for=192.0.2.1; host=\"a.example:8080\" ; proto=https", "192.0.2.1 https a.example:8080"),
        ("for=\"192.0.2.1\";host=\"a\\\"b\\\\c\"", "192.0.2.1 - a\"b\\c"),
        ("for=\"\\1\\9\\2.0.2.1\"", "192.0.2.1 - -"),
        ("host=\"a,b;c\", for=192.0.2.1", "- - a,b;c|192.0.2.1 - -"),
        ("for=192.0.2.1;unknown=x;proto=wss", "192.0.2.1 wss -"),
        (";;for=192.0.2.1;;", "192.0.2.1 - -"), (",, for=192.0.2.1 ,,", "192.0.2.1 - -"),
        ("", ""), (" , ,\t", ""), (";", "- - -"),
        // Not in the grammar.
        ("for=192.0.2.1:80", "?"), ("for=[2001:db8::1]", "?"), ("for=2001:db8::1", "?"),
        ("for", "?"), ("for=", "?"), ("=192.0.2.1", "?"), ("for =192.0.2.1", "?"),
        ("for= 192.0.2.1", "?"), ("192.0.2.1", "?"), ("for=192.0.2.1;for=192.0.2.2", "?"),
        ("for=192.0.2.1 x, for=192.0.2.2", "?|192.0.2.2 - -"),
        ("for=\"192.0.2.1\"x", "?"), ("proto=\"a b\"", "- - -"), ("proto=1http", "- - -"),
        (manyPairs(16), "192.0.2.1 - -"),
        (manyPairs(17) + ";for=192.0.2.2, for=192.0.2.3", "?|192.0.2.3 - -"),
        // An unterminated quoted string includes the rest of the line.
        ("for=192.0.2.1, for=\"192.0.2.2", "192.0.2.1 - -|?"),
        ("for=\"192.0.2.1, for=192.0.2.2", "?"), ("for=\"192.0.2.1\\", "?"),
        ("for=6.6.6.6, for=\"x, for=\"[2001:db8::9]:80\";proto=https", "6.6.6.6 - -|?"),
    ])
    func isRead(_ line: String, _ expected: String) {
        #expect(text(ForwardedElement.all(in: Bytes(line))) == expected)
        // The same from the right, where the line is well-formed.
        if !expected.contains("?") {
            #expect(text(ForwardedElement.reversed(in: Bytes(line)).reversed()) == expected)
        }
    }

    private func text(_ elements: [ForwardedElement?]) -> String {
        elements.map { element in
            guard let element else { return "?" }
            return [
                element.address?.description, element.proto.map { String($0) },
                element.host.map { String($0) },
            ]
            .map { $0 ?? "-" }.joined(separator: " ")
        }.joined(separator: "|")
    }

    /// What a client wrote does not change what a proxy appended; the last element is the first.
    @Test(arguments: [
        (#"for="x, for=192.0.2.1"#, "192.0.2.1 - -|?"),
        (#"for="x, for="[2001:db8::9]:80";proto=https"#, "2001:db8::9 https -|?"),
        (#"for=6.6.6.6, for="x\, for=192.0.2.1"#, "192.0.2.1 - -|?|6.6.6.6 - -"),
        (#"for="x\", for=192.0.2.1;host="a,\"b""#, "192.0.2.1 - a,\"b|?"),
        (#"for=192.0.2.1:80, for=192.0.2.2"#, "192.0.2.2 - -|?"),
    ])
    func isReadFromTheRight(_ line: String, _ expected: String) {
        #expect(text(Array(ForwardedElement.reversed(in: Bytes(line)))) == expected)
    }

    @Test(arguments: [
        ",", ";", "\"", "\\", "=", "for=", "for=\"", "a=b,", "a=b;", "\",", " ", "\\\"",
    ])
    func hostileLineIsReadInOnePass(_ piece: String) {
        let line = String(repeating: piece, count: (32 << 10) / piece.utf8.count)
        #expect(ForwardedElement.all(in: Bytes(line)).count <= line.utf8.count)
        #expect(Array(ForwardedElement.reversed(in: Bytes(line))).count <= line.utf8.count)
    }
}
