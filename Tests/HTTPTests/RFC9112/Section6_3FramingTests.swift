import HTTP
import Testing

/// RFC 9112 6.3: the end of a message. Anything that parsers could interpret differently is
/// rejected.
@Suite struct Section6_3FramingTests {
    @Test(arguments: ["5", " \t 5 \t", "0005"])
    func readsALength(_ value: String) {
        #expect(
            requests(in: post("Content-Length:\(value)\r\n", "hello") + get())
                == "POST / {hello} | GET /")
    }

    @Test func readsNoBodyForLengthZeroAndForNoLength() {
        #expect(requests(in: post("Content-Length: 0\r\n") + get()) == "POST / | GET /")
        #expect(requests(in: post("") + get()) == "POST / | GET /")
    }

    @Test(arguments: [
        "-0", "-5", "+5", "0x5", "5 5", "0_5", "5e0", "5\0", "\u{b}5", "\u{a0}5", "\u{d9}\u{a5}",
        "5, 5",
        "5,", ",5", "", "5.0", "abc", "18446744073709551621", "9223372036854775808",
        "00000000000000000005", "5;5", "\"5\"",
    ])
    func rejectsALengthThatIsNotOneNumber(_ value: String) {
        #expect(requests(in: post("Content-Length: \(value)\r\n", "hello")) == "refused 400")
    }

    @Test(arguments: ["5", "6", "0"])
    func rejectsARepeatedLength(_ other: String) {
        let fields = "Content-Length: 5\r\nContent-Length: \(other)\r\n"
        #expect(requests(in: post(fields, "hello")) == "refused 400")
    }

    @Test(arguments: ["chunked", "Chunked", "\tCHUNKED "])
    func readsChunks(_ value: String) {
        let text = post("Transfer-Encoding: \(value)\r\n", "5\r\nhello\r\n0\r\n\r\n")
        #expect(requests(in: text + get()) == "POST / {hello} | GET /")
    }

    @Test(arguments: [
        "xchunked", "chunkedx", "chunk", "\"chunked\"", "'chunked'", "chunked;q=1", "cow", "",
        "chunkedchunked", "chunked, chunked", "chunked, gzip", "gzip, chunked", "gzip", ",chunked",
        "chunked,", "identity", "\u{a0}chunked\u{a0}", "chunked\r\nTransfer-Encoding: chunked",
    ])
    func rejectsEveryOtherCoding(_ value: String) {
        #expect(requests(in: post("Transfer-Encoding: \(value)\r\n", "0\r\n\r\n")) == "refused 501")
    }

    @Test(arguments: [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: ,chunked\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nTransfer-Encoding:\r\n\tchunked\r\n",
        "Transfer-Encoding:\r\n chunked\r\n",
        "Transfer-Encoding: \u{b}chunked\r\n",
        "Transfer-Encoding: chunked\r\r\n",
    ])
    func rejectsConflictingAndHiddenFramings(_ fields: String) {
        #expect(requests(in: post(fields, "0\r\n\r\n")) == "refused 400")
    }

    @Test(arguments: ["", "Connection: keep-alive\r\nContent-Length: 5\r\n"])
    func rejectsChunksBeforeHTTP11(_ fields: String) {
        let text = "POST / HTTP/1.0\r\n\(fields)Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        #expect(requests(in: text) == "refused 400")
    }

    @Test func rejectsATruncatedBody() {
        #expect(
            requests(in: post("Content-Length: 10\r\n", "hello"), thenEnds: true) == "refused 400")
        #expect(requests(in: post("Content-Length: 10\r\n", "hello")) == "waiting")
    }

    // MARK: Responses

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "200 {ok}"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "200 {ok}"),
        ("HTTP/1.1 204 No Content\r\n\r\n", "204"),
        ("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "204"),
        ("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "304"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "200 close"),
        ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "200 close"),
        ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n", "200"),
    ])
    func findsTheEndOfAResponse(_ text: String, _ expected: String) {
        #expect(responses(in: text) == expected)
        #expect(responses(in: text + text) == "\(expected) | \(expected)")
    }

    @Test func responseWithoutFramingEndsWithTheConnection() {
        #expect(responses(in: "HTTP/1.1 200 OK\r\n\r\nok", thenEnds: true) == "200 close {ok}")
        #expect(responses(in: "HTTP/1.1 200 OK\r\n\r\nok") == "waiting")
        #expect(responses(in: "HTTP/1.1 200 OK\r\n\r\n", thenEnds: true) == "200 close")
    }

    @Test func responseToHeadHasNoBody() {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
        #expect(responses(in: text + text, toHead: true) == "200 | 200")
    }

    @Test(arguments: [
        "Content-Length: 0x2", "Content-Length: abc", "Content-Length: 2\r\nContent-Length: 2",
        "Content-Length : 2", "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: gzip",
        "Transfer-Encoding: chunked\r\nContent-Length: 2", "X-A: a\0b", "X-A: a\rb", "X A: b",
        "nocolon",
        "X-A: 1\r\n two",
    ])
    func rejectsAmbiguousResponses(_ fields: String) {
        #expect(responses(in: "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nok") == "broken")
    }

    @Test func rejectsResponsesInChunksBeforeHTTP11() {
        let text = "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        #expect(responses(in: text) == "broken")
    }

    @Test(arguments: [
        "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Le",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
    ])
    func rejectsTruncatedResponses(_ text: String) {
        #expect(responses(in: text, thenEnds: true) == "broken")
    }
}
