import Basics
import HTTP
import Testing

/// RFC 9112 7.1: chunks, their extensions, the trailers.
@Suite struct Section7_1ChunkedTests {
    private func chunked(_ body: String) -> String {
        post("Transfer-Encoding: chunked\r\n", body)
    }

    @Test(arguments: [
        ("5\r\nhello\r\n0\r\n\r\n", " {hello}"),
        ("A\r\n0123456789\r\n0\r\n\r\n", " {0123456789}"),
        ("a\r\n0123456789\r\n0\r\n\r\n", " {0123456789}"),
        ("0005\r\nhello\r\n000\r\n\r\n", " {hello}"),
        ("5;a=b;c\r\nhello\r\n0;last\r\n\r\n", " {hello}"),
        ("5;a=\"b;c\"\r\nhello\r\n0\r\nX-T: 1\r\nX-U:\r\n\r\n", " {hello}"),
        ("5; a = b ; c\t=\"\\\"x\\\\\t\u{e4}\";d\r\nhello\r\n0;a;b=c;d=\"\"\r\n\r\n", " {hello}"),
        ("2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", " {hello}"),
        ("0\r\n\r\n", ""),
        ("0\r\nContent-Length: 30\r\nTransfer-Encoding: chunked\r\nHost: evil\r\n\r\n", ""),
    ])
    func readsChunks(_ body: String, _ expected: String) {
        #expect(requests(in: chunked(body) + get()) == "POST /\(expected) | GET /")
    }

    @Test(arguments: [
        "INVALID!!!\r\n", "zz\r\nhello\r\n0\r\n\r\n", "-5\r\nhello\r\n", "+5\r\nhello\r\n",
        "0x5\r\nhello\r\n", "5these\r\nhello\r\n", "5 \r\nhello\r\n", " 5\r\nhello\r\n",
        "5 abc\r\nhello\r\n", ";a=b\r\nhello\r\n", "5\0\r\nhello\r\n", "\r\nhello",
        "5\nhello\n0\n\n",
        "10000000000000005\r\nhello\r\n", "8000000000000000\r\nhello\r\n", "ffffffffffffffff\r\n",
        "5;a\rb\r\nhello\r\n", "5;a\0b\r\nhello\r\n", "2;\nxx\r\n4c\r\n0\r\n\r\n", "5\r\r;ABCD\r\n",
        "5;\u{7f}\r\nhello\r\n",
        // Names are tokens, values tokens or quoted strings (RFC 9112 7.1.1).
        "5;\r\nhello\r\n", "5; \r\nhello\r\n", "5;;a\r\nhello\r\n", "5;a;\r\nhello\r\n",
        "5;=b\r\nhello\r\n", "5;a=\r\nhello\r\n", "5;a=;b\r\nhello\r\n", "5;a=b=c\r\nhello\r\n",
        "5;a \r\nhello\r\n", "5;a b\r\nhello\r\n", "5;a=b c\r\nhello\r\n",
        "5;a=\"b\r\nhello\r\n", "5;a=\"b\"c\r\nhello\r\n", "5;a=b\"c\"\r\nhello\r\n",
        "5;a=\"b\\\r\nhello\r\n", "5;\"a\"\r\nhello\r\n",
    ])
    func rejectsMalformedSizes(_ body: String) {
        #expect(requests(in: chunked(body)) == "refused 400")
    }

    @Test(arguments: Array("\u{1} \t\"(),/:<>?@[\\]{}\u{80}\u{e4}\u{ff}"))
    func rejectsAByteThatIsNoTokenInAName(_ character: Character) {
        #expect(requests(in: chunked("1;a\(character)c\r\na\r\n0\r\n\r\n")) == "refused 400")
        #expect(requests(in: chunked("1;abc\r\na\r\n0\r\n\r\n")) == "POST / {a}")
    }

    @Test(arguments: [
        "5\r\nhelloXX\r\n0\r\n\r\n", "5\r\nhello0\r\n\r\n", "5\r\nhello\r\n\r\n0\r\n\r\n",
        "5\r\nhello\n0\r\n\r\n", "5\r\nhello\rX0\r\n\r\n", "3\r\nhello\r\n0\r\n\r\n",
    ])
    func rejectsDataOfAnotherLengthThanStated(_ body: String) {
        #expect(requests(in: chunked(body)) == "refused 400")
    }

    @Test(arguments: [
        "0\r\nX-A: 1\0\r\n\r\n", "0\r\nX-A: 1\n\n", "0\r\nX-A : 1\r\n\r\n", "0\r\n folded\r\n\r\n",
        "0\r\nXXGET / HTTP/1.1\r\n\r\n", "0\r\n\r\r\n", "0\r\n\n", "0\r\n: 1\r\n\r\n",
        "0\r\nX: a\rb\r\n\r\n",
    ])
    func rejectsMalformedTrailers(_ body: String) {
        #expect(requests(in: chunked(body)) == "refused 400")
    }

    @Test(arguments: [
        ("", ""), ("X-T: 1\r\nX-U:\r\n", "X-T: 1\r\nX-U:\r\n"), ("A: b\r\n", "A: b\r\n"),
    ])
    func reportsTrailersWithoutTheEmptyLine(_ section: String, _ expected: String) {
        let text = latin1(chunked("5\r\nhello\r\n0\r\n\(section)\r\n") + get())
        for pieces in arrivals(of: text) {
            let transcript = transcript(ofRequests: pieces)
            #expect(transcript.description == "POST / {hello} | GET /")
            #expect(transcript.trailers == expected)
        }
    }

    @Test func rejectsALongSizeLine() {
        for body in [
            "5;a=" + String(repeating: "x", count: 300),
            String(repeating: "0", count: 300) + "5\r\nhello",
        ] {
            #expect(requests(in: chunked(body)) == "refused 400")
        }
    }

    @Test func rejectsExtensionsThatOutweighTheData() {
        let padded = "1;" + String(repeating: "x", count: 200) + "\r\na\r\n"
        let text = chunked(String(repeating: padded, count: 100) + "0\r\n\r\n")
        #expect(transcript(ofRequests: [latin1(text)]).description == "refused 400")
    }

    /// With its carriage return.
    @Test(arguments: [(253, "POST / {a}"), (254, "refused 400")])
    func readsExtensionsOfAtMost256BytesALine(_ count: Int, _ expected: String) {
        let line = "1;" + String(repeating: "x", count: count)
        let text = chunked("\(line)\r\na\r\n0\r\n\r\n")
        #expect(transcript(ofRequests: [latin1(text)]).description == expected)
    }

    /// 128 chunks have 16 KiB of extensions, beyond the 16 bytes that each line may have.
    @Test(arguments: [(128, false), (129, true)])
    func readsExtensionsOfAtMost16KiBABody(_ count: Int, _ isRefused: Bool) {
        let chunk = "1;" + String(repeating: "x", count: 141) + "\r\na\r\n"
        let text = chunked(String(repeating: chunk, count: count) + "0\r\n\r\n")
        let outcome = transcript(ofRequests: [latin1(text)]).description
        #expect(
            outcome
                == (isRefused ? "refused 400" : "POST / {\(String(repeating: "a", count: count))}"))
    }

    @Test func readsManyTinyChunks() {
        let text = chunked(String(repeating: "1\r\na\r\n", count: 10_000) + "0\r\n\r\n")
        let body = String(repeating: "a", count: 10_000)
        #expect(transcript(ofRequests: [latin1(text)]).description == "POST / {\(body)}")
    }

    @Test func rejectsEndlessTrailers() {
        let many = chunked("0\r\n" + String(repeating: "X: y\r\n", count: 101))
        #expect(transcript(ofRequests: [latin1(many)]).description == "refused 431")
        let long = chunked("0\r\nX: " + String(repeating: "y", count: 9000))
        #expect(transcript(ofRequests: [latin1(long)]).description == "refused 431")
    }

    /// With the empty line at its end.
    @Test(arguments: [(8192, "POST /"), (8193, "refused 431")])
    func readsTrailersOfAtMost8KiB(_ count: Int, _ expected: String) {
        let line = "X: \(String(repeating: "y", count: count - 7))\r\n"
        #expect(
            transcript(ofRequests: [latin1(chunked("0\r\n\(line)\r\n"))]).description == expected)
    }

    @Test func waitsForTheLastLineEnd() {
        #expect(requests(in: chunked("5\r\nhello\r\n0\r\n")) == "waiting")
        #expect(requests(in: chunked("5\r\nhello\r\n0\r\n"), thenEnds: true) == "refused 400")
    }

    @Test func readsTheChunksThatTheEncoderWrites() {
        var text = TextBuffer()
        text.append(copying: latin1(chunked("")).span)
        for piece in ["", "hello", String(repeating: "x", count: 300), "!"] {
            text.append(chunk: Bytes(piece).span)
        }
        text.appendLastChunk()
        let body = "hello" + String(repeating: "x", count: 300) + "!"
        let sent = Bytes(copying: text.span).array
        #expect(transcript(ofRequests: [sent]).description == "POST / {\(body)}")
    }
}
