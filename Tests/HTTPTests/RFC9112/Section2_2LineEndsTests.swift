import HTTP
import Testing

/// RFC 9112 2.2: a line ends with CRLF, and neither byte may occur elsewhere.
@Suite struct Section2_2LineEndsTests {
    @Test(arguments: [
        "GET / HTTP/1.1\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX-A: 1\r\n\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX-A: 1\r\n\r\r\n",
        "GET /\rHTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /\nHTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX-A: a\rX-B: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX-A:\n\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nx:\rTransfer-Encoding: chunked\r\n\r\n",
    ])
    func rejectsBareLineEnds(_ text: String) {
        #expect(requests(in: text) == "refused 400")
    }

    @Test func rejectsBareCarriageReturns() {
        let text = get().replacing("\r\n", with: "\r")
        #expect(requests(in: text, thenEnds: true) == "refused 400")
    }

    @Test(arguments: [1, 3, 8])
    func ignoresEmptyLinesBeforeARequest(_ count: Int) {
        #expect(requests(in: String(repeating: "\r\n", count: count) + get()) == "GET /")
    }

    @Test func rejectsEndlessEmptyLines() {
        #expect(requests(in: String(repeating: "\r\n", count: 9) + get()) == "refused 400")
    }

    @Test(arguments: ["\r", "\r\n", "\r\n\r\n"])
    func emptyLinesAloneAreNoMessage(_ text: String) {
        #expect(requests(in: text, thenEnds: true) == "")
        #expect(requests(in: get() + text, thenEnds: true) == "GET /")
    }

    @Test(arguments: [
        "\u{ef}\u{bb}\u{bf}GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        " GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
        "\0G\0E\0T\0 \0/\0\r\0\n\0",
        "\r\n\r\n\0\r\nQUIT\n",
    ])
    func rejectsBytesBeforeARequestOrItsFields(_ text: String) {
        #expect(requests(in: text) == "refused 400")
    }
}
