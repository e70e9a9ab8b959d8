import HTTP
import Testing

/// Requests that hide another one. The hidden request must not be read as a request of its own
/// unless the framing is unambiguous.
@Suite struct SmugglingTests {
    private static let hidden = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test(arguments: [
        post("Content-Length: 47\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n" + hidden),
        post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "26\r\n\(hidden)\r\n0\r\n\r\n"),
        post("Content-Length: 38\r\nContent-Length: 0\r\n", hidden),
        post("Content-Length : 38\r\n", hidden),
        post("Transfer-\r\nEncoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n" + hidden),
        post("Transfer Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n" + hidden),
        post("Transfer-Encoding: chunked\r\n", "0\r\nXX" + hidden),
        post("Transfer-Encoding: chunked\r\n", "2;\nxx\r\n4c\r\n0\r\n\r\n" + hidden),
        get("/", "X-A: 1\r\n\r\r\n") + hidden,
        "GET / HTTP/1.1\r\nHost: a\r\n\rGET /smuggled HTTP/1.1\r\n\r\n",
    ])
    func hiddenRequestIsNeverRead(_ text: String) {
        let transcript = requests(in: text)
        #expect(!transcript.contains("GET /smuggled"))
        #expect(transcript.contains("refused"))
    }

    @Test func requestInsideABodyIsABody() {
        let text = post("Content-Length: \(Self.hidden.utf8.count)\r\n", Self.hidden)
        #expect(requests(in: text + get("/next")) == "POST / {\(Self.hidden)} | GET /next")
    }

    @Test func ignoresACodingNamedByTheConnectionField() {
        let fields = "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n"
        let text = post(fields, "0\r\n\r\n" + Self.hidden)
        #expect(requests(in: text) == "POST / | GET /smuggled")
    }

    @Test func similarFieldNamesDoNotFrameAMessage() {
        let text = post("Transfer_Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n")
        #expect(requests(in: text) == "POST / {0\r\n\r\n}")
    }

    @Test func bytesBehindTheStatedLengthAreTheNextRequest() {
        let text = post("Content-Length: 5\r\n", "helloEXTRA\r\n\r\n")
        #expect(requests(in: text) == "POST / {hello} | refused 400")
    }
}
