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
        "/%EF%BD%A1", "/a%E3%80%80b", "/a%C2%A0b", "/%F0%9F%98%80", "/%C4%B1", "/a%E2%80%8Db",
        "/%E2%80%93", "/%E2%82%AC",
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
        "/a%EF%BC%8E", "/%C2%A0a", "/a%C2%A0", "/a%C2%A0/b", "/%E3%80%80", "/a%E2%80%83",
        "/%E2%80%8Ba",
        "/a%EF%BB%BF", "/a%E2%88%95b", "/a%E2%81%84b", "/a%EF%B9%94b", "/a%CD%BEb", "/a%EF%B9%96b",
        "/a%EF%B9%9Fb", "/%C5%BFecret", "/%E2%84%AAeys", "/a%EF%B9%92", "/a%F0%80%80%AFb",
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
        "/%C0%2E%C0%2E/a", "/%C0%6E./a", "/a%C1%1Cb", "/%F0%80%80%AE%F0%80%80%AE/a",
        "/%F8%80%80%80%AE./a", "/%FC%80%80%80%80%AE./a", "/..%C2%A0/a", "/%E2%80%8B../a",
        "/%E2%80%A5/a", "/%E2%80%A4%E2%80%A4/a", "/%EF%B9%92./a", "/a%EF%B9%A8b", "/..%E2%88%95a",
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
