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
        let forward = QueryForward(["q", "page"])
        var bytes = Array(target.utf8)
        forward.append(from: try head(source).target, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == result)
    }
}
