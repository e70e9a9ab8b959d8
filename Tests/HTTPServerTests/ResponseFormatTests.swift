import Basics
import Foundation
import HTTP
import Promises
import Reactor
import SimReactor
import Testing

@testable import HTTPServer

/// What an answer looks like on the wire.
@Suite struct ResponseFormatTests {
    /// The lines of the head that a request is answered with, and the body.
    private func answer(
        to text: String, _ response: Response = Response(status: .ok, body: Bytes("hello"))
    ) throws -> (lines: [String], body: String) {
        let harness = try ServerHarness { _, _, exchange in exchange.local.value(response) }
        let peer = try harness.connect()
        peer.send(text)
        harness.advance()
        let parts = peer.text.components(separatedBy: "\r\n\r\n")
        return (parts[0].components(separatedBy: "\r\n"), parts[1])
    }

    @Test func writesLengthDateAndRequestID() throws {
        let answer = try answer(to: get("/", "X-Request-Id: me-1\r\n"))
        #expect(
            answer.lines == [
                "HTTP/1.1 200 OK", "Date: Thu, 01 Jan 2026 01:00:00 GMT", "X-Request-Id: me-1",
                "Content-Length: 5",
            ])
        #expect(answer.body == "hello")
    }

    @Test(arguments: ["a b", "", "a\"b", String(repeating: "x", count: 129), "é"])
    func replacesAnInvalidRequestID(_ id: String) throws {
        let answer = try answer(to: get("/", "X-Request-Id: \(id)\r\n"))
        let line = try #require(answer.lines.first { $0.hasPrefix("X-Request-Id: ") })
        #expect(line.wholeMatch(of: /X-Request-Id: [0-9a-f]{32}/) != nil)
    }

    @Test(arguments: [("HEAD", ""), ("GET", "hello")])
    func omitsTheBodyInAResponseToHead(_ method: String, _ body: String) throws {
        let answer = try answer(to: "\(method) / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(answer.lines.contains("Content-Length: 5"))
        #expect(answer.body == body)
    }

    @Test(arguments: [(204, false), (304, false), (200, true)])
    func omitsBodyAndLengthForStatusesWithoutContent(_ code: Int, _ hasBody: Bool) throws {
        let status = try #require(Status(code))
        let answer = try answer(to: get(), Response(status: status, body: Bytes("hello")))
        #expect(answer.lines.first?.hasPrefix("HTTP/1.1 \(code) ") == true)
        #expect(answer.lines.contains { $0.hasPrefix("Content-Length") } == hasBody)
        #expect(answer.body == (hasBody ? "hello" : ""))
    }

    @Test func writesTheConnectionField() throws {
        #expect(
            try answer(to: get("/", "Connection: close\r\n")).lines.contains("Connection: close"))
        #expect(try answer(to: "GET / HTTP/1.0\r\n\r\n").lines.contains("Connection: close"))
        let kept = try answer(to: "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        #expect(kept.lines.contains("Connection: keep-alive"))
        #expect(try !answer(to: get()).lines.contains { $0.hasPrefix("Connection") })
    }

    @Test func dropsFramingFieldsOfTheService() throws {
        let fields: Fields = ["Content-Length": "99", "Transfer-Encoding": "chunked", "ETag": "x"]
        let answer = try answer(
            to: get(), Response(status: .ok, fields: fields, body: Bytes("hello")))
        #expect(answer.lines.contains("ETag: x"))
        #expect(answer.lines.filter { $0.hasPrefix("Content-Length") } == ["Content-Length: 5"])
        #expect(!answer.lines.contains { $0.hasPrefix("Transfer-Encoding") })
    }

    @Test func rejectionsOfTheServerAreProblemDocuments() throws {
        let harness = try ServerHarness()
        let peer = try harness.connect()
        peer.send("GET / HTTP/1.1\r\n\r\n")
        harness.advance()
        let body = peer.text.components(separatedBy: "\r\n\r\n")[1]
        let id = try #require(peer.text.firstMatch(of: /X-Request-Id: ([0-9a-f]{32})/)).1
        #expect(
            body
                == #"{"type":"about:blank","title":"Bad Request","status":400,"instance":"\#(id)"}"#
        )
        #expect(peer.text.contains("Content-Type: application/problem+json\r\n"))
    }

    @Test func failedServiceIsA500() throws {
        struct Mistake: Error {}
        let harness = try ServerHarness { _, _, exchange in exchange.local.error(Mistake()) }
        #expect(try harness.answers(to: get("/1") + get("/2")) == "500 | 500")
    }
}
