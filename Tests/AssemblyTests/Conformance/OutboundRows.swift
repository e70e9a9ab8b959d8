/// What backends may send, by kind.
enum OutboundRows {
    static let all = framing + heads + connections + documents

    static let body = #"{"hostile":1}"#

    /// A response with a length, and more lines.
    static func response(
        _ body: String = body, _ lines: String = "", status: String = "200 OK"
    ) -> String {
        "HTTP/1.1 \(status)\r\n\(lines)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// A response with these lines only.
    static func bare(_ lines: String, _ body: String = body) -> String {
        "HTTP/1.1 200 OK\r\n\(lines)\r\n\(body)"
    }

    static func chunked(_ body: String) -> String { bare("Transfer-Encoding: chunked\r\n", body) }

    private static let size = String(body.utf8.count, radix: 16)
    private static let chunk = "\(size)\r\n\(body)\r\n"

    static let framing: [BackendRow] = [
        BackendRow("a length", response(), "ok kept"),
        BackendRow("chunks", chunked("1\r\n{\r\nc\r\n\"hostile\":1}\r\n0\r\n\r\n"), "ok kept"),
        BackendRow(
            "extensions and trailers", chunked("\(size);a=\"b;c\"\r\n\(body)\r\n0\r\nX: 1\r\n\r\n"),
            "ok kept"),
        BackendRow("until it closes", bare(""), "ok closed", then: .closes),
        BackendRow(
            "HTTP/1.0 until it closes", response().replacing("HTTP/1.1", with: "HTTP/1.0"),
            "ok closed"),
        BackendRow("close is said", response(body, "Connection: close\r\n"), "ok closed"),
        BackendRow(
            "a hexadecimal length", bare("Content-Length: 0xd\r\n"), "http_protocol_error closed"),
        BackendRow(
            "a length of letters", bare("Content-Length: abc\r\n"), "http_protocol_error closed"),
        BackendRow(
            "a negative length", bare("Content-Length: -1\r\n"), "http_protocol_error closed"),
        BackendRow(
            "two lengths", bare("Content-Length: 13\r\nContent-Length: 13\r\n"),
            "http_protocol_error closed"),
        BackendRow(
            "a list of lengths", bare("Content-Length: 13, 13\r\n"), "http_protocol_error closed"),
        BackendRow(
            "a length of 65 bits", bare("Content-Length: 18446744073709551629\r\n"),
            "http_protocol_error closed"),
        BackendRow(
            "a space before the colon", bare("Content-Length : 13\r\n"),
            "http_protocol_error closed"),
        BackendRow(
            "chunks and a length",
            bare("Transfer-Encoding: chunked\r\nContent-Length: 13\r\n", chunk + "0\r\n\r\n"),
            "http_protocol_error closed"),
        BackendRow(
            "chunked twice", bare("Transfer-Encoding: chunked, chunked\r\n", chunk + "0\r\n\r\n"),
            "http_protocol_error closed"),
        BackendRow(
            "chunked, then gzip", bare("Transfer-Encoding: chunked, gzip\r\n", chunk + "0\r\n\r\n"),
            "http_protocol_error closed"),
        BackendRow("gzip", bare("Transfer-Encoding: gzip\r\n"), "http_protocol_error closed"),
        BackendRow(
            "chunks in HTTP/1.0",
            chunked(chunk + "0\r\n\r\n").replacing("HTTP/1.1", with: "HTTP/1.0"),
            "http_protocol_error closed"),
        BackendRow(
            "no last chunk", chunked(chunk), "http_response_incomplete closed", then: .closes),
        BackendRow(
            "no last line end", chunked(chunk + "0\r\n"), "http_response_incomplete closed",
            then: .closes),
        BackendRow(
            "a size of letters", chunked("zz\r\n\(body)\r\n0\r\n\r\n"), "http_protocol_error closed"
        ),
        BackendRow(
            "a negative size", chunked("-5\r\n\(body)\r\n0\r\n\r\n"), "http_protocol_error closed"),
        BackendRow(
            "a size of 68 bits", chunked("1000000000000000d\r\n\(body)\r\n0\r\n\r\n"),
            "http_protocol_error closed"),
        BackendRow(
            "more than the size says", chunked("5\r\n\(body)\r\n0\r\n\r\n"),
            "http_protocol_error closed"),
        BackendRow(
            "LFs for line ends", chunked("\(size)\n\(body)\n0\n\n"), "http_protocol_error closed"),
        BackendRow(
            "an LF in the extension", chunked("\(size);\n\(body)\r\n0\r\n\r\n"),
            "http_protocol_error closed"),
        BackendRow(
            "less than the length", response().dropLast(3).description,
            "http_response_incomplete closed", then: .closes),
        BackendRow(
            "a reset in the body", response().dropLast(3).description,
            "http_response_incomplete closed", then: .resets),
        BackendRow(
            "a reset instead of a close", bare(""), "http_response_incomplete closed", then: .resets
        ),
    ]

    static let heads: [BackendRow] = [
        BackendRow("nothing", "", "connection_terminated closed", then: .closes),
        BackendRow("a reset", "", "connection_terminated closed", then: .resets),
        BackendRow("silence", "", "http_response_timeout closed"),
        BackendRow(
            "half a status line", "HTTP/1.1 200", "http_response_incomplete closed", then: .closes),
        BackendRow(
            "half a head", "HTTP/1.1 200 OK\r\nContent-Le", "http_response_incomplete closed",
            then: .closes),
        BackendRow(
            "half a head for ever", "HTTP/1.1 200 OK\r\nX: y\r\n", "http_response_timeout closed"),
        BackendRow(
            "half a body for ever", response().dropLast(1).description,
            "http_response_timeout closed"
        ),
        BackendRow(
            "HTTP/2.0", response().replacing("HTTP/1.1", with: "HTTP/2.0"),
            "http_protocol_error closed"),
        BackendRow(
            "another protocol", response().replacing("HTTP", with: "ICAP"),
            "http_protocol_error closed"),
        BackendRow("two digits", response(status: "20 OK"), "http_protocol_error closed"),
        BackendRow("four digits", response(status: "2000 OK"), "http_protocol_error closed"),
        BackendRow("letters", response(status: "abc OK"), "http_protocol_error closed"),
        BackendRow("below 100", response(status: "099 OK"), "http_protocol_error closed"),
        BackendRow("no reason", response(status: "200"), "ok kept"),
        BackendRow("an empty reason", response(status: "200 "), "ok kept"),
        BackendRow("999", response(status: "999 What"), "http_protocol_error closed"),
        BackendRow(
            "a CR in the line", "HTTP/1.1 200 OK\rX: y\r\nContent-Length: 0\r\n\r\n",
            "http_protocol_error closed"),
        BackendRow(
            "an LF ends the line", "HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n",
            "http_protocol_error closed"),
        BackendRow("no colon", response(body, "nocolon\r\n"), "http_protocol_error closed"),
        BackendRow("a NUL in a value", response(body, "X: a\0b\r\n"), "http_protocol_error closed"),
        BackendRow(
            "a CR in a value", response(body, "X: a\rSet-Cookie: b=c\r\n"),
            "http_protocol_error closed"),
        BackendRow("a space in a name", response(body, "X A: b\r\n"), "http_protocol_error closed"),
        BackendRow("a folded line", response(body, "X: a\r\n b\r\n"), "http_protocol_error closed"),
        BackendRow("100 before it", "HTTP/1.1 100 Continue\r\n\r\n" + response(), "ok kept"),
        BackendRow(
            "103 before it", "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" + response(), "ok kept"
        ),
        BackendRow(
            "101 without an Upgrade request",
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n" + response(),
            "http_protocol_error closed"),
        BackendRow(
            "100 without end",
            String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 200) + response(),
            "http_protocol_error closed"),
        BackendRow(
            "a field of 3 KiB", response(body, "X: \(String(repeating: "a", count: 3000))\r\n"),
            "ok kept"),
        BackendRow(
            "a field without end",
            "HTTP/1.1 200 OK\r\nX: " + String(repeating: "a", count: 1 << 20),
            "http_response_header_section_size closed"),
        BackendRow(
            "a reason without end", "HTTP/1.1 200 " + String(repeating: "a", count: 1 << 20),
            "http_protocol_error closed"),
        BackendRow(
            "20000 fields", response(body, String(repeating: "X: y\r\n", count: 20_000)),
            "http_response_header_count closed"),
        BackendRow(
            "a trailer without end",
            chunked(chunk + "0\r\nX: " + String(repeating: "a", count: 1 << 20)),
            "http_protocol_error closed"),
        BackendRow(
            "more than max_body", response("\"\(String(repeating: "a", count: 1 << 20))\""),
            "http_response_body_size closed"),
        BackendRow(
            "as much in chunks", chunked(String(repeating: "8\r\n\"aaaaaa\"\r\n", count: 140_000)),
            "http_response_body_size closed"),
        BackendRow(
            "unrequested gzip",
            bare("Content-Encoding: gzip\r\nContent-Length: 4\r\n", "\u{1f}\u{7f}\u{8}\0"),
            "http_response_content_coding kept"),
        BackendRow(
            "a redirect",
            response("", "Location: http://127.0.0.1:7002/secret\r\n", status: "302 Found"),
            "unexpected_status kept"),
        BackendRow("404", response(#"{"error":"no"}"#, status: "404 No"), "unexpected_status kept"),
        BackendRow(
            "503",
            response(#"{"error":"no"}"#, "Retry-After: 9223372036854775807\r\n", status: "503 No"),
            "unexpected_status kept"),
    ]

    static let connections: [BackendRow] = [
        BackendRow("a second response", response() + response(#"{"poison":1}"#), "ok closed"),
        BackendRow("an empty line after it", response() + "\r\n", "ok closed"),
        BackendRow(
            "a body with 204", "HTTP/1.1 204 No\r\n\r\n" + response(#"{"poison":1}"#), "ok closed"),
        BackendRow(
            "a body with 304", "HTTP/1.1 304 No\r\nContent-Length: 12\r\n\r\n{\"poison\":1}",
            "unexpected_status closed"),
        BackendRow("204", "HTTP/1.1 204 No\r\n\r\n", "ok kept"),
        BackendRow(
            "unsolicited data a moment later", response(), "ok closed",
            then: .sendsLater(response(#"{"poison":1}"#))),
        BackendRow("closing after the response", response(), "ok closed", then: .closes),
    ]

    static let documents: [BackendRow] = [
        BackendRow("no JSON", response("hello"), "invalid_json kept"),
        BackendRow("two documents", response(#"{"poison":1}{"b":2}"#), "invalid_json kept"),
        BackendRow("NaN", response(#"{"poison":NaN}"#), "invalid_json kept"),
        BackendRow("a leading zero", response(#"{"poison":01}"#), "invalid_json kept"),
        BackendRow(
            "a line end in a string", response("{\"poison\":\"x\ny\"}"), "invalid_json kept"),
        BackendRow("an unknown escape", response(#"{"poison":"\x41"}"#), "invalid_json kept"),
        BackendRow("half a surrogate", response(#"{"poison":"\ud800"}"#), "invalid_json kept"),
        BackendRow("a trailing comma", response(#"{"poison":1,}"#), "invalid_json kept"),
        BackendRow("a comment", response(#"{"poison":1/* */}"#), "invalid_json kept"),
        BackendRow(
            "too deep",
            response(String(repeating: "[", count: 513) + String(repeating: "]", count: 513)),
            "invalid_json kept"),
        BackendRow(
            "a hundred thousand brackets", response(String(repeating: "[", count: 100_000)),
            "invalid_json kept"),
        BackendRow(
            "deep",
            response(String(repeating: "[", count: 512) + String(repeating: "]", count: 512)),
            "ok kept"),
        BackendRow(
            "large numbers", response(#"{"n":9007199254740993,"m":1e400,"z":-0.0}"#), "ok kept"),
        BackendRow("no body", response(""), "ok kept"),
        BackendRow("a string", response(#""x""#), "ok kept"),
        BackendRow("null", response("null"), "ok kept"),
        BackendRow(
            "a number of 10000 digits", response(String(repeating: "1", count: 10_000)), "ok kept"),
    ]
}

/// One response of a backend, and its expected outcome.
struct BackendRow: Sendable {
    enum Then: Sendable {
        case stays
        case closes
        case resets
        /// Sends this after the response was read.
        case sendsLater(String)
    }

    let name: String
    let text: String
    /// `ok`, or the kind of the failure; and whether the connection is kept for the next request.
    let outcome: String
    let then: Then

    init(_ name: String, _ text: String, _ outcome: String, then: Then = .stays) {
        (self.name, self.text, self.outcome, self.then) = (name, text, outcome, then)
    }
}
