import Basics
import Foundation
import HTTP
import Promises
import Reactor
import SimReactor
import Testing

@testable import HTTPServer

/// The wire format of responses.
@Suite struct ResponseFormatTests {
    /// The head's lines and the body of the response to a request.
    private func response(
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
        let received = try response(to: get("/", "X-Request-Id: me-1\r\n"))
        #expect(
            received.lines == [
                "HTTP/1.1 200 OK", "Date: Thu, 01 Jan 2026 01:00:00 GMT", "X-Request-Id: me-1",
                "Content-Length: 5",
            ])
        #expect(received.body == "hello")
    }

    @Test(arguments: ["a b", "", "a\"b", String(repeating: "x", count: 129), "é"])
    func replacesAnInvalidRequestID(_ id: String) throws {
        let received = try response(to: get("/", "X-Request-Id: \(id)\r\n"))
        let line = try #require(received.lines.first { $0.hasPrefix("X-Request-Id: ") })
        #expect(line.wholeMatch(of: /X-Request-Id: [0-9a-f]{32}/) != nil)
    }

    @Test(arguments: [("HEAD", ""), ("GET", "hello")])
    func omitsTheBodyInAResponseToHead(_ method: String, _ body: String) throws {
        let received = try response(to: "\(method) / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(received.lines.contains("Content-Length: 5"))
        #expect(received.body == body)
    }

    @Test(arguments: [(204, false), (304, false), (200, true)])
    func omitsBodyAndLengthForStatusesWithoutContent(_ code: Int, _ hasBody: Bool) throws {
        let status = try #require(Status(code))
        let received = try response(to: get(), Response(status: status, body: Bytes("hello")))
        #expect(received.lines.first?.hasPrefix("HTTP/1.1 \(code) ") == true)
        #expect(received.lines.contains { $0.hasPrefix("Content-Length") } == hasBody)
        #expect(received.body == (hasBody ? "hello" : ""))
    }

    @Test func writesTheConnectionField() throws {
        #expect(
            try response(to: get("/", "Connection: close\r\n")).lines.contains("Connection: close"))
        #expect(try response(to: "GET / HTTP/1.0\r\n\r\n").lines.contains("Connection: close"))
        let kept = try response(to: "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        #expect(kept.lines.contains("Connection: keep-alive"))
        #expect(try !response(to: get()).lines.contains { $0.hasPrefix("Connection") })
    }

    @Test func dropsFramingFieldsOfTheService() throws {
        let fields: Fields = ["Content-Length": "99", "Transfer-Encoding": "chunked", "ETag": "x"]
        let received = try response(
            to: get(), Response(status: .ok, fields: fields, body: Bytes("hello")))
        #expect(received.lines.contains("ETag: x"))
        #expect(received.lines.filter { $0.hasPrefix("Content-Length") } == ["Content-Length: 5"])
        #expect(!received.lines.contains { $0.hasPrefix("Transfer-Encoding") })
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
        struct Failure: Error {}
        let harness = try ServerHarness { _, _, exchange in exchange.local.error(Failure()) }
        #expect(try harness.responses(to: get("/1") + get("/2")) == "500 | 500")
    }
}
