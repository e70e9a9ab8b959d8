import Basics
import Foundation
import HTTP
import Testing

@Suite struct HeadWriterTests {
    private func text(_ write: (inout TextBuffer) -> Void) -> String {
        var head = TextBuffer()
        write(&head)
        return String(head)
    }

    private func date(_ seconds: Int64) -> String {
        var text: [UInt8] = []
        text.append(httpDate: seconds)
        return String(Bytes(text))
    }

    @Test(arguments: [
        (200, "HTTP/1.1 200 OK\r\n"), (404, "HTTP/1.1 404 Not Found\r\n"),
        (599, "HTTP/1.1 599 \r\n"),
        (504, "HTTP/1.1 504 Gateway Timeout\r\n"),
    ])
    func writesAStatusLine(_ code: Int, _ line: String) throws {
        let status = try #require(Status(code))
        #expect(text { $0.append(statusLine: status) } == line)
    }

    @Test func writesARequestLineWithHost() throws {
        let target = try #require(Target("http://elsewhere/a?b=c"))
        #expect(
            text { $0.append(requestLine: .get, target, host: "h:80") }
                == "GET /a?b=c HTTP/1.1\r\nHost: h:80\r\n")
        #expect(text { $0.append(contentLength: 7) } == "Content-Length: 7\r\n")
    }

    @Test(arguments: [
        "Connection", "content-length", "Transfer-Encoding", "Keep-Alive", "Upgrade", "TE",
        "Trailer",
        "Host", "Proxy-Connection", "Expect",
    ])
    func omitsConnectionAndFramingFields(_ name: String) throws {
        var fields: Fields = ["A": "1"]
        fields.append(try #require(FieldName(name)), "x")
        fields.append("B", "2")
        #expect(text { $0.append(fields) } == "A: 1\r\nB: 2\r\n")
    }

    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        ] as [(Int64, String)])
    func writesADate(_ seconds: Int64, _ date: String) {
        #expect(self.date(seconds) == date)
    }

    @Test func writesTheSameDatesAsFoundation() throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let entropy = Entropy(seed: 1)
        for _ in 0..<500 {
            let seconds = Int64(entropy.below(8_000_000_000))
            let expected = formatter.string(
                from: Date(timeIntervalSince1970: TimeInterval(seconds)))
            #expect(date(seconds) == expected)
        }
    }

    @Test func dateChangesEachSecond() {
        var cache = DateCache()
        let second: Int64 = 1_000_000_000
        let head = text { head in
            cache.append(to: &head, unixTime: 5 * second - 1)
            cache.append(to: &head, unixTime: 5 * second)
            cache.append(to: &head, unixTime: 5 * second + 1)
        }
        let date = "Date: Thu, 01 Jan 1970 00:00:0"
        #expect(head == "\(date)4 GMT\r\n\(date)5 GMT\r\n\(date)5 GMT\r\n")
    }
}
