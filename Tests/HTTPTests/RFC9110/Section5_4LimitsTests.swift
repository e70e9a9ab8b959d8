import HTTP
import Testing

/// RFC 9110 5.4: a too large head is rejected, however it arrives.
@Suite struct Section5_4LimitsTests {
    @Test func limitsTheNumberOfFields() {
        var limits = Limits()
        limits.headerCount = 5
        let four = String(repeating: "X: y\r\n", count: 4)
        #expect(requests(in: get("/", four), limits: limits) == "GET /")
        #expect(requests(in: get("/", four + "X: y\r\n"), limits: limits) == "refused 431")
    }

    @Test func limitsTheBytesOfTheFields() {
        var limits = Limits()
        limits.headerBytes = 40
        // "Host: a", "X: ", the value and three line ends.
        let fits = String(repeating: "v", count: 40 - 7 - 3 - 6)
        #expect(requests(in: get("/", "X: \(fits)\r\n"), limits: limits) == "GET /")
        #expect(requests(in: get("/", "X: \(fits)v\r\n"), limits: limits) == "refused 431")
    }

    /// Whatever `headerBytes` is: HTTP/2 could not carry a longer one.
    @Test func limitsEachNameAndEachValue() {
        var limits = Limits()
        limits.headerBytes = 1024 * 1024
        func result(_ lines: String) -> String {
            transcript(ofRequests: [latin1(get("/", lines))], limits: limits).description
        }
        let fits = String(repeating: "v", count: 64 * 1024)
        #expect(result("X: \(fits)\r\nY:  \(fits) \r\n") == "GET /")
        #expect(result("X: \(fits)v\r\n") == "refused 431")
        #expect(result("\(fits): 1\r\n") == "GET /")
        #expect(result("\(fits)v: 1\r\n") == "refused 431")
    }

    @Test(arguments: ["X: ", "", "X", "X: y\r\nZ: "])
    func rejectsAnEndlessLine(_ start: String) {
        var limits = Limits()
        limits.headerBytes = 100
        let text = "GET / HTTP/1.1\r\nHost: a\r\n" + start + String(repeating: "v", count: 120)
        #expect(requests(in: text, limits: limits) == "refused 431")
    }

    @Test func limitsTheFieldsOfResponses() {
        var limits = Limits()
        limits.headerCount = 5
        let fields = String(repeating: "X: y\r\n", count: 6)
        let text = "HTTP/1.1 200 OK\r\n\(fields)\r\n"
        #expect(responses(in: text, limits: limits) == "broken")
    }

    /// A head of 64 KiB that arrives byte by byte costs work in proportion to its size, not its
    /// square: the reader stores one copy.
    @Test func readsALongHeadByteByByte() {
        let text = get("/", "X: " + String(repeating: "v", count: 30_000) + "\r\n")
        let pieces = latin1(text).map { [$0] }
        #expect(transcript(ofRequests: pieces).description == "GET /")
    }
}
