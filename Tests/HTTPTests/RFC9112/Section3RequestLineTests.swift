import HTTP
import Testing

/// RFC 9112 3: `method SP request-target SP HTTP-version`, one space each.
@Suite struct Section3RequestLineTests {
    private func line(_ first: String) -> String { "\(first)\r\nHost: a\r\n\r\n" }

    @Test(arguments: [
        "GET  / HTTP/1.1", "GET\t/\tHTTP/1.1", "GET / HTTP/1.1 ", "GET / ", "GET /",
        "GET  HTTP/1.1",
        "GET", "GET HTTP/1.1", "GET / HTTP/1.1 GET /x HTTP/1.1", "GET / /x HTTP/1.1",
        "GET / HTTP/1.1 HTTP/1.1", "junk GET / HTTP/1.1", "GE(T / HTTP/1.1", "BAD BAD BAD",
        "GET / http/1.1", "GET / HTTP/1.10", "GET / HTTP/1", "GET / HTTP/11", "GET / RTSP/1.0",
        "GET / HTTP/4294967297.1", "PROXY TCP4 1.2.3.4 5.6.7.8 1 2", "SSH-2.0-OpenSSH_9.6", "*1",
        "get", " / HTTP/1.1", "GET /\u{1} HTTP/1.1", "GET /\u{7f} HTTP/1.1",
    ])
    func rejectsMalformedRequestLines(_ first: String) {
        #expect(requests(in: line(first)) == "refused 400")
    }

    @Test(arguments: ["HTTP/2.0", "HTTP/1.2", "HTTP/0.9", "HTTP/9.9"])
    func rejectsOtherVersions(_ version: String) {
        #expect(requests(in: line("GET / \(version)")) == "refused 505")
    }

    @Test func rejectsThePrefaceOfHTTP2() {
        #expect(requests(in: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == "refused 505")
    }

    @Test(arguments: [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "get", "BREW", "GE",
    ])
    func acceptsEveryTokenAsMethod(_ method: String) {
        #expect(requests(in: line("\(method) / HTTP/1.1")) == "\(method) /")
    }

    @Test(arguments: ["CONNECT localhost:22", "CONNECT /", "CONNECT []%20%48%54%54%50%0a%0d"])
    func rejectsCONNECT(_ start: String) {
        #expect(requests(in: line("\(start) HTTP/1.1")) == "refused 501")
    }

    @Test func rejectsATooLongMethod() {
        #expect(
            requests(in: line(String(repeating: "A", count: 33) + " / HTTP/1.1")) == "refused 501")
        let longest = String(repeating: "A", count: 32)
        #expect(requests(in: line("\(longest) / HTTP/1.1")) == "\(longest) /")
    }

    @Test func rejectsATooLongTargetBeforeItsEnd() {
        var limits = Limits()
        limits.uriBytes = 20
        let longest = "/" + String(repeating: "a", count: 19)
        #expect(requests(in: line("GET \(longest) HTTP/1.1"), limits: limits) == "GET \(longest)")
        #expect(requests(in: line("GET \(longest)a HTTP/1.1"), limits: limits) == "refused 414")
        let endless = "GET /" + String(repeating: "a", count: 80)
        #expect(requests(in: endless, limits: limits) == "refused 414")
    }
}
