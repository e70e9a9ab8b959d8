import HTTP
import Testing

/// RFC 9112 4: `HTTP-version SP status-code SP [reason-phrase]`.
@Suite struct Section4StatusLineTests {
    private func response(_ first: String) -> String { "\(first)\r\nContent-Length: 2\r\n\r\nok" }

    @Test(arguments: [
        "HTTP/1.1 200 OK", "HTTP/1.1 200 ", "HTTP/1.1 200", "HTTP/1.1 200 caf\u{e9} \t x",
    ])
    func acceptsAnyReason(_ first: String) {
        #expect(responses(in: response(first)) == "200 {ok}")
    }

    @Test(arguments: [
        "HTTP/2.0 200 OK", "HTTP/1.2 200 OK", "HTTP/1.1 20 OK", "HTTP/1.1 abc OK",
        "HTTP/1.1 2000 OK",
        "HTTP/1.1 999 What", "HTTP/1.1 099 What", "HTTP/1.1  200 OK", "HTTP/1.1\t200 OK",
        "http/1.1 200 OK", "HTTP/1.1 200 OK\rX-A: b", "HTTP/1.1 200 a\0b", "HTTP/1.1 +20 OK",
        "200 OK",
        "\r\nHTTP/1.1 200 OK", "",
    ])
    func rejectsMalformedStatusLines(_ first: String) {
        #expect(responses(in: response(first)) == "broken")
    }

    @Test func rejectsAnEndlessReason() {
        let endless = "HTTP/1.1 200 " + String(repeating: "x", count: 1100)
        #expect(transcript(ofResponses: [latin1(endless)]).description == "broken")
        #expect(transcript(ofResponses: [latin1(response(endless))]).description == "broken")
    }

    /// With its line end.
    @Test(arguments: [(1022, "200 {ok}"), (1023, "broken")])
    func readsAStatusLineOfAtMost1KiB(_ count: Int, _ expected: String) {
        let line = "HTTP/1.1 200 " + String(repeating: "x", count: count - 13)
        #expect(responses(in: response(line)) == expected)
    }

    @Test func skipsInterimResponses() {
        let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
        #expect(responses(in: interim + response("HTTP/1.1 200 OK")) == "200 {ok}")
    }

    @Test func reportsInterimResponsesBeforeTheFinalOne() {
        let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
        let transcript = transcript(ofResponses: [latin1(interim + response("HTTP/1.1 200 OK"))])
        #expect(transcript.interim == ["100", "103"])
        #expect(transcript.description == "200 {ok}")
    }

    /// The limit applies to each response, not to the connection.
    @Test func limitsInterimResponsesPerResponse() {
        let interim = String(repeating: "HTTP/1.1 103 x\r\n\r\n", count: 16)
        let text = interim + response("HTTP/1.1 200 OK")
        #expect(transcript(ofResponses: [latin1(text + text)]).description == "200 {ok} | 200 {ok}")
    }

    @Test func waitsForTheFinalResponseBehindAnInterimOne() {
        let interim = "HTTP/1.1 100 Continue\r\n\r\n"
        #expect(responses(in: interim) == "waiting")
        #expect(responses(in: interim, thenEnds: true) == "broken")
    }

    @Test func rejectsEndlessInterimResponses() {
        let interim = String(repeating: "HTTP/1.1 103 x\r\n\r\n", count: 17)
        #expect(responses(in: interim + response("HTTP/1.1 200 OK")) == "broken")
    }

    @Test func rejectsAnUnrequestedUpgrade() {
        let upgrade =
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
        #expect(responses(in: upgrade + response("HTTP/1.1 200 OK")) == "broken")
    }
}
