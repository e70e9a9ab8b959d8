import Basics
import HTTP
import Testing

@Suite struct TargetTests {
    @Test(
        arguments: [
            ("/", "/", nil, [""]), ("/a", "/a", nil, ["a"]),
            ("/a/b?c=d", "/a/b", "c=d", ["a", "b"]),
            ("/a//b/", "/a//b/", nil, ["a", "", "b", ""]),
            ("/a%2Fb/c", "/a%2Fb/c", nil, ["a%2Fb", "c"]),
            ("/?", "/", "", [""]), ("/a?b?c", "/a", "b?c", ["a"]), ("http://h", "/", nil, [""]),
            ("http://h?q", "/", "q", [""]), ("http://h:80/a/b?q", "/a/b", "q", ["a", "b"]),
        ] as [(String, String, String?, [String])])
    func splitsPathAndQuery(_ text: String, _ path: String, _ query: String?, _ segments: [String])
        throws
    {
        let target = try #require(Target(text))
        #expect(String(target.path) == path)
        #expect(target.query.map { String($0) } == query)
        #expect(target.segments.map { String($0) } == segments)
        var line = TextBuffer()
        line.append(originFormOf: target)
        #expect(String(line) == path + (query.map { "?\($0)" } ?? ""))
    }

    @Test func readsTheAuthorityOfTheAbsoluteForm() {
        #expect(Target("http://h:80/a:b")?.authority.map { String($0) } == "h:80")
        #expect(Target("/a:b")?.authority == nil)
    }

    @Test func readsTheParametersOfTheQuery() throws {
        let target = try #require(Target("/?q=1&z=%41+b&&q=a%26b&flag&=x&q=&bad=%zz"))
        let parameters = target.parameters.map { parameter in
            let name = parameter.decodedName.map { String($0) } ?? "?"
            let value = parameter.decodedValue.map { String($0) } ?? "?"
            return "\(name)=\(value)"
        }
        #expect(parameters == ["q=1", "z=A b", "q=a&b", "flag=", "=x", "q=", "bad=?"])
        #expect(Target("/")?.parameters.map(\.name.count) == [])
    }

    @Test(arguments: [
        ("a%2Fb", "a/b"), ("a%25b", "a%b"), ("a%252Fb", "a%2Fb"), ("a%23b", "a#b"), ("a@b", "a@b"),
        ("a%3Fb%26c", "a?b&c"), ("caf%C3%A9", "café"), ("a%20b", "a b"), ("a+b", "a+b"),
        ("a;b=c,d", "a;b=c,d"), ("%F0%9F%98%80", "😀"), ("a:b!$'()*", "a:b!$'()*"), ("%61", "a"),
        ("", ""),
    ])
    func segmentsAreDecodedAndEncodedOnce(_ sent: String, _ meant: String) {
        let decoded = Bytes(sent).percentDecoded()
        #expect(decoded == Bytes(meant))
        var encoded: [UInt8] = []
        encoded.append(percentEncoding: Bytes(meant).span)
        #expect(Bytes(encoded).percentDecoded() == Bytes(meant))
        #expect(
            Target(Bytes("/" + String(Bytes(encoded))))?.segments.map { $0 } == [Bytes(encoded)])
    }

    @Test(arguments: ["%", "%1", "%zz", "a%2", "%%%"])
    func rejectsBrokenEscapes(_ text: String) {
        #expect(Bytes(text).percentDecoded() == nil)
    }

    @Test func encodesEveryByteSoThatItStaysInItsSegment() {
        let all = Bytes((0...255).map { UInt8($0) })
        var encoded: [UInt8] = []
        encoded.append(percentEncoding: all.span)
        let unreserved = Set(
            "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._~%".utf8)
        #expect(encoded.allSatisfy { unreserved.contains($0) })
        #expect(Bytes(encoded).percentDecoded() == all)
        #expect(Bytes(encoded).percentDecoded(plusIsSpace: true) == all)
    }
}
