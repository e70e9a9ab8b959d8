import Basics
import HTTP
import Testing

/// The one list of what servers read in different ways.
@Suite struct PathReadingTests {
    private func reading(_ path: String) -> PathReading { PathReading(of: Bytes(path).span) }

    @Test(arguments: [
        "/", "/a", "/a/", "/a/b.c", "/.well-known/x", "/...a", "/a..b/..c", "/a%20b",
        "/%C3%A9/%E2%82%AC",
        "/100%25", "/a%25zz", "/%41dmin", "/a:b@c,d=e&f+g!$'()*~", "/a%2Eb", "/x%3Dy", "a", "",
        "/%EF%BD%A1", "/%E3%80%80", "/%F0%9F%98%80",
    ])
    func allServersReadIt(_ path: String) {
        #expect(reading(path) == .plain)
    }

    @Test(arguments: [
        "//", "//a", "/a//b", "/a//", "/a;b", "/;/a", "/a;", "/a%3Bb", "/a%2Fb", "/a%2f", "/%2Fa",
        "/a%3Fb", "/a%23b", "/%20a", "/a%20", "/a%20/b", "/%20", "/a.", "/a./b", "/...", "/a%2e/b",
        "/a%09",
        "/a%0Ab", "/%0D", "/a%1F", "/a%7F", "/%252F", "/a%252e%252e/b", "/%2541", "/%E9", "/%FF/a",
        "/%C3", "/%C0%AF", "/%C0%80a", "/%E0%80%AF", "/%ED%A0%80", "/%EF%BC%8F", "/%EF%BD%81dmin",
        "/a%EF%BC%8E",
    ])
    func someServersReadAnotherPath(_ path: String) {
        #expect(reading(path) >= .ambiguous)
    }

    @Test(arguments: [
        "/.", "/..", "/./a", "/../a", "/a/..", "/%2e", "/.%2E/a", "/a%2F..", "/..%2fa", "/..;/a",
        "/..;x=1",
        "/..%3Ba", "/;..", "/a;..", "/..%3F", "/.%23", "/..%20/a", "/%20../a", "/..%09", "/.%0D.",
        "/a%00", "/%00",
        "/a%5Cb", "/%5c", "/..%5ca", "/%C0%AE%C0%AE/a", "/%C0%AE.%C0%AFa", "/%E0%80%AE./a",
        "/a%C1%9Cb", "/%C0%80",
        "/%EF%BC%8E%EF%BC%8E/a", "/%EF%BC%8E%EF%BC%8E%EF%BC%8Fa", "/%EF%BC%BCa", "..", "a%2F..",
    ])
    func someServersLeaveTheFolder(_ path: String) {
        #expect(reading(path) == .harmful)
    }

    /// What a backend decodes twice is another path, and no folder of every server.
    @Test(arguments: ["/%252e%252e/a", "/%255C", "/%2500"])
    func escapesOfEscapesAreAmbiguousOnly(_ path: String) {
        #expect(reading(path) == .ambiguous)
    }

    /// Each byte, alone and escaped, has a reading, wherever it stands.
    @Test func everyByteHasAReading() {
        let digits = Array("0123456789ABCDEF")
        for byte in UInt8.min...UInt8.max {
            let escape = "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            let isPlain =
                byte > 0x20 && byte < 0x7F && !"/;?#\\.%".utf8.contains(byte) || byte == 0x20
                || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "%")
            #expect((reading("/a\(escape)b") == .plain) == isPlain, "\(escape)")
        }
    }
}
