import HTTP
import Testing

/// RFC 9112 9.3: whether a connection serves another request.
@Suite struct Section9_3PersistenceTests {
    @Test(arguments: [
        ("HTTP/1.1", "", true), ("HTTP/1.1", "Connection: close\r\n", false),
        ("HTTP/1.1", "Connection: foo, CLOSE ,bar\r\n", false),
        ("HTTP/1.1", "Connection: keep-alive\r\nConnection: close\r\n", false),
        ("HTTP/1.1", "Connection: closed\r\n", true),
        ("HTTP/1.1", "Connection: , ;;=\"x, \u{80}\r\n", true),
        ("HTTP/1.1", "Connection: Transfer-Encoding\r\n", true),
        ("HTTP/1.0", "", false), ("HTTP/1.0", "Connection: keep-alive\r\n", true),
        ("HTTP/1.0", "Connection: Keep-Alive, close\r\n", false),
    ])
    func followsVersionAndConnectionField(_ version: String, _ fields: String, _ keeps: Bool) {
        let text = "GET / \(version)\r\nHost: a\r\n\(fields)\r\n"
        #expect(requests(in: text) == (keeps ? "GET /" : "GET / close"))
    }

    @Test func readsPipelinedRequestsInOrder() {
        let text = get("/1") + post("Content-Length: 2\r\n", "ok") + "\r\n" + get("/2")
        #expect(requests(in: text) == "GET /1 | POST / {ok} | GET /2")
    }

    @Test func rejectsOnlyTheMalformedRequest() {
        #expect(requests(in: get("/1") + "BAD BAD BAD\r\n\r\n") == "GET /1 | refused 400")
    }

    @Test func errorsAreFinal() {
        var reader = RequestReader(limits: Limits())
        var position = 0
        #expect(throws: WireError.lineEnd) {
            try reader.read(latin1("GET /\n").span, from: &position)
        }
        position = 0
        #expect(throws: WireError.lineEnd) { try reader.read(latin1(get()).span, from: &position) }
        #expect(throws: WireError.lineEnd) { try reader.end() }
    }

    @Test(arguments: [
        ("HEAD /a", true), ("\r\nHEAD / HTTP/1.1\r\nHost : a\r\n", true), ("HEAD\t/ \n", false),
        ("HEA", false), ("HEADS / HTTP/1.1\r\n", false), ("GET /HEAD HTTP/1.1\r\n", false),
        ("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", false),
    ])
    func knowsTheMethodOfAnIncompleteOrRejectedHead(_ text: String, _ isHead: Bool) {
        for pieces in arrivals(of: latin1(text)) {
            var reader = RequestReader(limits: Limits())
            for piece in pieces {
                var position = 0
                _ = try? reader.read(piece.span, from: &position)
            }
            #expect(reader.isHeadRequest == isHead)
        }
    }
}
