import Basics
import HTTP
import Testing

@testable import Gateway

@Suite struct QueryForwardTests {
    @Test(arguments: [
        ("/x?q=1&z=9&q=a%26b&page=2&q=", "/find?fixed=1", "/find?fixed=1&q=1&q=a%26b&page=2&q="),
        ("/x?q=1", "/find", "/find?q=1"),
        ("/x", "/find", "/find"),
        ("/x?", "/find", "/find"),
        ("/x?other=1", "/find", "/find"),
        ("/x?q=a+b/%2f&%71=%C3%A9", "/find", "/find?q=a%20b%2F%2F&q=%C3%A9"),
        ("/x?q", "/find", "/find?q="),
        ("/x?q=100%&&&page==", "/find", "/find?q=100%25&page=%3D"),
        ("/x?Q=1&qq=2", "/find", "/find"),
    ])
    func appends(_ source: String, _ target: String, _ result: String) throws {
        let forward = QueryForward.names([Bytes("q"), Bytes("page")])
        var bytes = Array(target.utf8)
        forward.append(from: try head(source).target, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == result)
    }

    /// `query: all`: every parameter but the declared `lang`, byte for byte.
    @Test(arguments: [
        ("/x?q=1&z=9&q=a%26b", "/find?fixed=1", "/find?fixed=1&q=1&z=9&q=a%26b"),
        ("/x?q=1&lang=de&z=2&lang=en", "/find", "/find?q=1&z=2"),
        ("/x?l%61ng=de&Lang=de&languages=x", "/find", "/find?Lang=de&languages=x"),
        ("/x?a+b=c+d&%7e=~&e=%2f%2F%zz&f", "/find", "/find?a+b=c+d&%7e=~&e=%2f%2F%zz&f"),
        ("/x?=&a==b&&c=?/;:@,$!", "/find", "/find?=&a==b&c=?/;:@,$!"),
        ("/x?lang=de", "/find", "/find"),
        ("/x?", "/find", "/find"),
        ("/x", "/find", "/find"),
    ])
    func allForwardsUndeclaredParametersUnchanged(
        _ source: String, _ target: String, _ result: String
    ) throws {
        let forward = QueryForward.all(except: [Bytes("lang")])
        var bytes = Array(target.utf8)
        forward.append(from: try head(source).target, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == result)
    }
}
