import HTTP
import Testing

/// A response of a backend, and its expected outcome.
struct ResponseFixture: CustomTestStringConvertible {
    let name: String
    var method = HTTP.Method.get
    let text: String
    var outcome = ""

    var testDescription: String { name }

    /// Responses that are complete without the end of the connection.
    static let valid: [ResponseFixture] = [
        ResponseFixture(
            name: "length", text: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            outcome: "200 hi keep"),
        ResponseFixture(
            name: "no reason", text: "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi",
            outcome: "200 hi keep"),
        ResponseFixture(
            name: "empty", text: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            outcome: "200  keep"),
        ResponseFixture(
            name: "chunks",
            text:
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\n\r\n",
            outcome: "200 hi keep"),
        ResponseFixture(
            name: "chunks with extensions and trailers",
            text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "2;a=\"b;c\"\r\nhi\r\n0\r\nX-T: 1\r\n\r\n",
            outcome: "200 hi keep"),
        ResponseFixture(
            name: "said close",
            text: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
            outcome: "200 hi close"),
        ResponseFixture(
            name: "HTTP/1.0", text: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            outcome: "200 hi close"),
        ResponseFixture(
            name: "HTTP/1.0 that stays",
            text: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi",
            outcome: "200 hi keep"),
        ResponseFixture(
            name: "to HEAD", method: .head, text: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
            outcome: "200  keep"),
        ResponseFixture(name: "204", text: "HTTP/1.1 204 No Content\r\n\r\n", outcome: "204  keep"),
        ResponseFixture(
            name: "304", text: "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n",
            outcome: "304  keep"),
        ResponseFixture(
            name: "interim",
            text: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            outcome: "200 hi keep"),
        ResponseFixture(
            name: "redirect",
            text: "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
            outcome: "302  keep"),
    ]

    /// Malformed and ambiguous responses.
    static let malformed: [ResponseFixture] = [
        ResponseFixture(name: "HTTP/2", text: "HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
        ResponseFixture(name: "two digits", text: "HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\nhi"),
        ResponseFixture(
            name: "bare CR", text: "HTTP/1.1 200 OK\rX: y\r\nContent-Length: 2\r\n\r\nhi"),
        ResponseFixture(
            name: "no colon", text: "HTTP/1.1 200 OK\r\nnocolon\r\nContent-Length: 2\r\n\r\nhi"),
        ResponseFixture(
            name: "hexadecimal length", text: "HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nhi"),
        ResponseFixture(
            name: "two lengths",
            text: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi"),
        ResponseFixture(
            name: "length and chunks",
            text: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "2\r\nhi\r\n0\r\n\r\n"),
        ResponseFixture(
            name: "chunked twice",
            text:
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
        ),
        ResponseFixture(
            name: "bad chunk size",
            text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhi\r\n0\r\n\r\n"),
        ResponseFixture(
            name: "chunk too long",
            text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nhi\r\n0\r\n\r\n"),
        ResponseFixture(
            name: "switch of protocols",
            text: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    ]
}
