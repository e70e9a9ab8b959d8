import HTTP
import Testing

/// RFC 9110 10.1.1: `Expect`.
@Suite struct Section10_1_1ExpectTests {
    @Test(arguments: ["100-continue", "100-CONTINUE"])
    func readsExpectContinue(_ value: String) {
        let text = post("Content-Length: 2\r\nExpect: \(value)\r\n", "ok")
        #expect(requests(in: text) == "POST / expects {ok}")
    }

    @Test func ignoresExpectBeforeHTTP11() {
        let text = "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok"
        #expect(requests(in: text) == "POST / close {ok}")
    }

    /// The server rejects them.
    @Test func readsUnknownExpectations() {
        #expect(
            requests(in: get("/", "Expect: something-else\r\n")) == "GET / expects the unknown")
    }
}
