import Basics
import HTTP
import Promises
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// The wire format of requests.
@Suite struct RequestWriterTests {
    private func head(_ request: ClientRequest) -> String {
        var head = TextBuffer()
        head.append(headOf: request)
        return String(head)
    }

    private func exchange() -> RecordingExchange {
        RecordingExchange(
            ExchangeStart(
                id: .own(1, 2), trace: TraceContext(from: Entropy(seed: 1)),
                local: SimNetwork(seed: 1).makeLoop("worker").local, began: Instant(nanoseconds: 0))
        )
    }

    @Test func writesPathAndQueryOfAnyForm() {
        #expect(head(ClientRequest(.get, "/a?b=c")) == "GET /a?b=c HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(
            head(ClientRequest(.get, "http://elsewhere/a?b=c", host: "h:80"))
                == "GET /a?b=c HTTP/1.1\r\nHost: h:80\r\n\r\n")
    }

    @Test func writesConstantFieldsThenOwnFieldsThenThoseOfTheExchange() throws {
        let exchange = exchange()
        let request = ClientRequest(
            method: .post, target: try #require(Target("/")), host: "a",
            constantFields: ["X-Constant": "1"], fields: ["X-Own": "2"],
            exchange: ExchangeFields(of: exchange, span: 0xAB, left: .milliseconds(1500)),
            body: .bytes(Bytes("hi")), responseBytesMax: 0)
        var traceID = TextBuffer()
        traceID.append(hex: exchange.trace.traceHigh)
        traceID.append(hex: exchange.trace.traceLow)
        let trace = String(traceID)
        #expect(
            head(request)
                == "POST / HTTP/1.1\r\nHost: a\r\nX-Constant: 1\r\nX-Own: 2\r\n"
                + "X-Request-Id: 00000000000000010000000000000002\r\n"
                + "traceparent: 00-\(trace)-00000000000000ab-02\r\n"
                + "Gateway-Deadline-Ms: 1500\r\nContent-Length: 2\r\n\r\n")
    }

    @Test func spanIsNeverZeroAndTimeLeftNeverNegative() {
        let fields = ExchangeFields(of: exchange(), span: 0, left: .milliseconds(-5))
        #expect(fields.parentID == 1 && fields.millisecondsLeft == 0)
    }

    @Test(
        arguments: [
            (.get, 0, ""), (.delete, 0, ""), (.get, 3, "Content-Length: 3\r\n"),
            (.post, 0, "Content-Length: 0\r\n"), (.put, 0, "Content-Length: 0\r\n"),
            (.patch, 7, "Content-Length: 7\r\n"),
        ] as [(HTTP.Method, Int, String)])
    func statesTheLengthWhereABodyIsSentOrExpected(
        _ method: HTTP.Method, _ count: Int, _ line: String
    ) {
        let body = Bytes([UInt8](repeating: 0x61, count: count))
        #expect(
            head(ClientRequest(method, body: .bytes(body)))
                == "\(method) / HTTP/1.1\r\nHost: a\r\n\(line)\r\n")
    }

    @Test(
        arguments: [
            (BodyFraming.none, "Content-Length: 0\r\n"), (.length(9), "Content-Length: 9\r\n"),
            (.chunked, "Transfer-Encoding: chunked\r\n"),
            (.untilClose, "Transfer-Encoding: chunked\r\n"),
        ])
    func framesAStreamedBody(_ framing: BodyFraming, _ line: String) {
        let source = ScriptedSource(framing)
        #expect(
            head(ClientRequest(.post, body: .stream(source)))
                == "POST / HTTP/1.1\r\nHost: a\r\n\(line)\r\n")
    }

    @Test func leavesOutFieldsThatFrameAMessage() throws {
        let framing: Fields = [
            "Transfer-Encoding": "chunked", "content-length": "5", "Connection": "close",
            "Host": "elsewhere", "X-Kept": "1",
        ]
        let request = ClientRequest(
            method: .get, target: try #require(Target("/")), host: "a", constantFields: framing,
            fields: framing, responseBytesMax: 0)
        #expect(head(request) == "GET / HTTP/1.1\r\nHost: a\r\nX-Kept: 1\r\nX-Kept: 1\r\n\r\n")
    }

    /// The server's parser reads exactly the values that were written, so none of them was split.
    @Test func writtenHeadIsReadBackUnchanged() throws {
        let own: Fields = ["X-A": "a: b", "X-B": "", "X-C": "\"\\ \t c"]
        let request = ClientRequest(
            method: .get, target: try #require(Target("/a%0d%0aX:%20y?q=%0A")), host: "h:1",
            constantFields: ["X-Constant": "1"], fields: own, responseBytesMax: 0)
        var head = TextBuffer()
        head.append(headOf: request)
        var reader = RequestReader(limits: Limits())
        var position = 0
        guard case .head(let read) = try reader.read(head.span, from: &position) else {
            Issue.record("no complete head")
            return
        }
        #expect(position == head.count)
        #expect(read.method == .get && read.target.text == request.target.text)
        let names = ["Host", "X-Constant", "X-A", "X-B", "X-C"]
        #expect(read.fields.map { String($0.name) } == names)
        #expect(read.fields.map { String($0.value) } == ["h:1", "1", "a: b", "", "\"\\ \t c"])
    }

    /// The buffer is reused, or replaced after a large head, without effect on the wire.
    @Test func headsOnOneConnectionDoNotMix() throws {
        var texts: [String] = []
        let harness = try PoolHarness { exchange in
            texts.append(exchange.request.text)
            exchange.respond("ok")
        }
        let sizes = [10, 20_000, 5, 300, 0]
        for size in sizes {
            let value = try #require(FieldValue(String(repeating: "v", count: size)))
            let request = ClientRequest(
                method: .get, target: try #require(Target("/\(size)")), host: "a",
                fields: ["X-A": value], responseBytesMax: 100)
            #expect(harness.outcome(of: SentRequest(harness.pool.send(request))) == "200 ok")
        }
        #expect(
            texts
                == sizes.map { size in
                    "GET /\(size) HTTP/1.1\r\nHost: a\r\n"
                        + "X-A: \(String(repeating: "v", count: size))\r\n\r\n"
                })
        #expect(harness.backend.connections == 1)
        harness.expectQuiet()
    }

    @Test(arguments: ["a\r\nX: y", "a\nX: y", "a\rX", "a\0"])
    func valuesWithLineEndsAreInvalid(_ text: String) {
        #expect(FieldValue(text) == nil && Target("/" + text) == nil)
        #expect(FieldName(text) == nil && HTTP.Method(text) == nil)
    }
}
