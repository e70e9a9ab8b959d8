// Rows for framing, chunks, connections, and other protocols.
extension InboundRows {
    static let lengths: [WireRow] = [
        WireRow("one", Sent.length("5"), "200", method: "POST"),
        WireRow("zero", Sent.length("0", ""), "200", method: "POST"),
        WireRow("none", Sent.post(""), "200", method: "POST"),
        WireRow("space around it", Sent.length(" \t 5 \t"), "200", method: "POST"),
        WireRow("zeros before it", Sent.length("0005"), "200", method: "POST"),
        WireRow("minus zero", Sent.length("-0", ""), "400 closed"),
        WireRow("a sign", Sent.length("+5"), "400 closed"),
        WireRow("hexadecimal", Sent.length("0x5"), "400 closed"),
        WireRow("a space in it", Sent.length("5 5"), "400 closed"),
        WireRow("an underscore in it", Sent.length("0_5"), "400 closed"),
        WireRow("an exponent", Sent.length("5e0"), "400 closed"),
        WireRow("a fraction", Sent.length("5.0"), "400 closed"),
        WireRow("quotes", Sent.length("\"5\""), "400 closed"),
        WireRow("a NUL after it", Sent.length("5\0"), "400 closed"),
        WireRow("a vertical tab before it", Sent.length("\u{b}5"), "400 closed"),
        WireRow("a hard space before it", Sent.length("\u{a0}5"), "400 closed"),
        WireRow("an Arabic digit", Sent.length("\u{d9}\u{a5}"), "400 closed"),
        WireRow("nothing", Sent.length(""), "400 closed"),
        WireRow("a list of equals", Sent.length("5, 5"), "400 closed"),
        WireRow("a list that differs", Sent.length("5, 6"), "400 closed"),
        WireRow(
            "twice, equal", Sent.post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"),
            "400 closed"),
        WireRow(
            "twice, different",
            Sent.post("Content-Length: 32\r\nContent-Length: 0\r\n", Sent.hidden), "400 closed"),
        WireRow("more than 64 bits", Sent.length("18446744073709551621"), "400 closed"),
        WireRow("all of 63 bits", Sent.length("9223372036854775807"), "413 closed"),
        WireRow("more than 32 bits", Sent.length("4294967301"), "413 closed"),
        WireRow(
            "a space before the colon", Sent.post("Content-Length : 32\r\n", Sent.hidden),
            "400 closed"),
        WireRow(
            "a high byte in the name", Sent.post("Content-Length\u{85}: 5\r\n", "hello"),
            "400 closed"),
        WireRow("a body that ends early", Sent.length("10"), "400 closed", ends: true),
        WireRow(
            "a body that goes on", Sent.length("5", "helloEXTRA\r\n\r\n"), "200 400 closed",
            method: "POST"),
        WireRow(
            "a body with GET",
            Sent.get("/ok", "Content-Length: \(Sent.hidden.utf8.count)\r\n") + Sent.hidden, "200"),
        WireRow(
            "a body for an unknown path",
            Sent.line("POST /no HTTP/1.1", "Content-Length: \(Sent.hidden.utf8.count)\r\n")
                + Sent.hidden, "404", method: "POST"),
        WireRow(
            "a body of a wrong method",
            Sent.line("DELETE /ok HTTP/1.1", "Content-Length: \(Sent.hidden.utf8.count)\r\n")
                + Sent.hidden, "405", method: "DELETE"),
        WireRow(
            "a body beyond the limit", Sent.length("1048577", Sent.many(1_048_577, "x")),
            "413 closed", cuts: false),
    ]

    static let codings: [WireRow] = [
        WireRow("chunked", Sent.coding("chunked"), "200", method: "POST"),
        WireRow("Chunked with space", Sent.coding("\tChunkeD "), "200", method: "POST"),
        WireRow(
            "with a length",
            Sent.post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
            "400 closed"),
        WireRow(
            "before a length",
            Sent.post(
                "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
                "20\r\n\(Sent.hidden)\r\n0\r\n\r\n"), "400 closed"),
        WireRow(
            "twice",
            Sent.post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
            "501 closed"),
        WireRow("a list of two", Sent.coding("chunked, chunked"), "501 closed"),
        WireRow("not the last", Sent.coding("chunked, gzip"), "501 closed"),
        WireRow("gzip alone", Sent.coding("gzip", ""), "501 closed"),
        WireRow("gzip before it", Sent.coding("gzip, chunked"), "501 closed"),
        WireRow("identity", Sent.coding("identity", "hello"), "501 closed"),
        WireRow("a letter before it", Sent.coding("xchunked"), "501 closed"),
        WireRow("a letter after it", Sent.coding("chunkedx"), "501 closed"),
        WireRow("a part of it", Sent.coding("chunk"), "501 closed"),
        WireRow("quoted", Sent.coding("\"chunked\""), "501 closed"),
        WireRow("with a parameter", Sent.coding("chunked;q=1"), "501 closed"),
        WireRow("nothing", Sent.coding(""), "501 closed"),
        WireRow("a comma before it", Sent.coding(",chunked"), "501 closed"),
        WireRow("a comma after it", Sent.coding("chunked,"), "501 closed"),
        WireRow("a hard space around it", Sent.coding("\u{a0}chunked\u{a0}"), "501 closed"),
        WireRow("a vertical tab before it", Sent.coding("\u{b}chunked"), "400 closed"),
        WireRow("a form feed before it", Sent.coding("\u{c}chunked"), "400 closed"),
        WireRow("a CR after it", Sent.coding("chunked\r"), "400 closed"),
        WireRow(
            "folded", Sent.post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"), "400 closed"),
        WireRow(
            "hidden after a CR",
            Sent.post("Content-Length: 5\r\nx:\rTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
            "400 closed"),
        WireRow(
            "its name over two lines",
            Sent.post("Transfer-\r\nEncoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"),
            "400 closed"),
        WireRow(
            "its name with a space",
            Sent.post("Transfer Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"),
            "400 closed"),
        WireRow(
            "its name with an underscore",
            Sent.post("Transfer_Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"), "200",
            method: "POST"),
        WireRow(
            "named by Connection",
            Sent.post(
                "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n",
                "0\r\n\r\n" + Sent.get()), "200 200", method: "POST"),
        WireRow(
            "in HTTP/1.0",
            Sent.line("POST /ok HTTP/1.0", "Transfer-Encoding: chunked\r\n") + "0\r\n\r\n",
            "400 closed"),
        WireRow(
            "in HTTP/1.0 with a length",
            Sent.line(
                "POST /ok HTTP/1.0",
                "Connection: keep-alive\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n")
                + "0\r\n\r\n", "400 closed"),
    ]

    static let chunks: [WireRow] = [
        WireRow(
            "capital digits", Sent.chunked("A\r\n0123456789\r\n0\r\n\r\n"), "200", method: "POST"),
        WireRow(
            "zeros before the size", Sent.chunked("0005\r\nhello\r\n000\r\n\r\n"), "200",
            method: "POST"),
        WireRow(
            "extensions", Sent.chunked("5;a=b;c=\"d;e\"\r\nhello\r\n0;x\r\n\r\n"), "200",
            method: "POST"),
        WireRow(
            "an empty extension", Sent.chunked("5;\r\nhello\r\n0\r\n\r\n"), "400 closed"),
        WireRow(
            "trailers", Sent.chunked("5\r\nhello\r\n0\r\nX-T: 1\r\nY:\r\n\r\n"), "200",
            method: "POST"),
        WireRow(
            "trailers that frame",
            Sent.chunked(
                "0\r\nContent-Length: 30\r\nTransfer-Encoding: chunked\r\nHost: x\r\n\r\n"
                    + Sent.get()), "200 200", method: "POST"),
        WireRow(
            "an LF in the extension", Sent.chunked("2;\nxx\r\n4c\r\n0\r\n\r\n" + Sent.hidden),
            "400 closed"),
        WireRow(
            "a CR in the extension", Sent.chunked("5;a\rb\r\nhello\r\n0\r\n\r\n"), "400 closed"),
        WireRow(
            "a NUL in the extension", Sent.chunked("5;a\0b\r\nhello\r\n0\r\n\r\n"), "400 closed"),
        WireRow(
            "a long extension", Sent.chunked("5;a=\(Sent.many(300, "x"))\r\nhello\r\n0\r\n\r\n"),
            "400 closed"),
        WireRow(
            "extensions beyond the data",
            Sent.chunked(Sent.many(100, "1;\(Sent.many(200, "x"))\r\na\r\n")), "400 closed",
            cuts: false),
        WireRow("no size", Sent.chunked("\r\nhello\r\n0\r\n\r\n"), "400 closed"),
        WireRow("letters for a size", Sent.chunked("zz\r\nhello\r\n0\r\n\r\n"), "400 closed"),
        WireRow("a negative size", Sent.chunked("-5\r\nhello\r\n0\r\n\r\n"), "400 closed"),
        WireRow("a plus", Sent.chunked("+5\r\nhello\r\n0\r\n\r\n"), "400 closed"),
        WireRow("0x", Sent.chunked("0x5\r\nhello\r\n0\r\n\r\n"), "400 closed"),
        WireRow(
            "a word after the size", Sent.chunked("5 abc\r\nhello\r\n0\r\n\r\n"), "400 closed"),
        WireRow("a space after the size", Sent.chunked("5 \r\nhello\r\n0\r\n\r\n"), "400 closed"),
        WireRow("a space before the size", Sent.chunked(" 5\r\nhello\r\n0\r\n\r\n"), "400 closed"),
        WireRow("junk after the size", Sent.chunked("5these\r\nhello\r\n0\r\n\r\n"), "400 closed"),
        WireRow(
            "an extension without size", Sent.chunked(";a=b\r\nhello\r\n0\r\n\r\n"), "400 closed"),
        WireRow("a NUL after the size", Sent.chunked("5\0\r\nhello\r\n0\r\n\r\n"), "400 closed"),
        WireRow(
            "more than 64 bits", Sent.chunked("10000000000000005\r\nhello\r\n0\r\n\r\n"),
            "400 closed"),
        WireRow("all of 63 bits", Sent.chunked("7fffffffffffffff\r\nhello"), "waits"),
        WireRow(
            "300 zeros", Sent.chunked("\(Sent.many(300, "0"))5\r\nhello\r\n0\r\n\r\n"), "400 closed"
        ),
        WireRow("more data than said", Sent.chunked("5\r\nhelloXX\r\n0\r\n\r\n"), "400 closed"),
        WireRow("less data than said", Sent.chunked("6\r\nhello\r\n0\r\n\r\n"), "400 closed"),
        WireRow("no line end after the data", Sent.chunked("5\r\nhello0\r\n\r\n"), "400 closed"),
        WireRow("an LF after the data", Sent.chunked("5\r\nhello\n0\r\n\r\n"), "400 closed"),
        WireRow("LFs everywhere", Sent.chunked("5\nhello\n0\n\n"), "400 closed"),
        WireRow(
            "a CR and a byte", Sent.chunked("5\r\r;ABCD\r\n34\r\nE\r\n0\r\n\r\n" + Sent.hidden),
            "400 closed"),
        WireRow("an empty line between", Sent.chunked("5\r\nhello\r\n\r\n0\r\n\r\n"), "400 closed"),
        WireRow("bytes after the last size", Sent.chunked("0\r\nXX" + Sent.hidden), "400 closed"),
        WireRow("no end", Sent.chunked("5\r\nhello\r\n0\r\n"), "400 closed", ends: true),
        WireRow("a NUL in a trailer", Sent.chunked("0\r\nX: 1\0\r\n\r\n"), "400 closed"),
        WireRow("a folded trailer", Sent.chunked("0\r\nX: 1\r\n 2\r\n\r\n"), "400 closed"),
        WireRow("an LF after a trailer", Sent.chunked("0\r\nX: 1\n\n"), "400 closed"),
        WireRow(
            "101 trailers", Sent.chunked("0\r\n\(Sent.many(101, "X: y\r\n"))\r\n"), "431 closed",
            cuts: false),
        WireRow(
            "10000 tiny ones", Sent.chunked(Sent.many(10000, "1\r\na\r\n") + "0\r\n\r\n"), "200",
            method: "POST", cuts: false),
    ]

    static let connections: [WireRow] = [
        WireRow("two requests glued", Sent.get() + Sent.get(), "200 200"),
        WireRow("a body and a request", Sent.length("5") + Sent.get(), "200 200", method: "POST"),
        WireRow(
            "chunks and a request", Sent.coding("chunked") + Sent.get(), "200 200", method: "POST"),
        WireRow(
            "an empty line between", Sent.length("5") + "\r\n" + Sent.get(), "200 200",
            method: "POST"),
        WireRow("good, then bad", Sent.get() + "BAD BAD BAD\r\n\r\n", "200 400 closed"),
        WireRow("nothing after a bad one", "BAD BAD BAD\r\n\r\n" + Sent.hidden, "400 closed"),
        WireRow("close", Sent.get("/ok", "Connection: close\r\n"), "200 closed"),
        WireRow(
            "close in a list", Sent.get("/ok", "Connection: foo, Close ,bar\r\n"), "200 closed"),
        WireRow(
            "close in a second line",
            Sent.get("/ok", "Connection: keep-alive\r\nConnection: close\r\n"), "200 closed"),
        WireRow(
            "nothing after a close", Sent.get("/no", "Connection: close\r\n") + Sent.hidden,
            "404 closed"),
        WireRow("HTTP/1.0", Sent.line("GET /ok HTTP/1.0"), "200 closed"),
        WireRow(
            "nothing after HTTP/1.0", Sent.line("GET /ok HTTP/1.0") + Sent.hidden, "200 closed"),
        WireRow(
            "HTTP/1.0, kept", Sent.line("GET /ok HTTP/1.0", "Connection: keep-alive\r\n"), "200"),
        WireRow("half a request", "GET /ok", "400 closed", ends: true),
        WireRow("half a head", "GET /ok HTTP/1.1\r\n\(Sent.host)", "400 closed", ends: true),
        WireRow("only empty lines", "\r\n\r\n", "closed", ends: true),
        WireRow("nothing at all", "", "closed", ends: true, cuts: false),
        WireRow("a response for a half-closed client", Sent.get(), "200 closed", ends: true),
        WireRow(
            "Expect, and the body at once",
            Sent.post("Expect: 100-continue\r\nContent-Length: 5\r\n", "hello"), "200",
            method: "POST"),
        WireRow(
            "Expect in other letters",
            Sent.post("Expect: 100-CONTINUE\r\nContent-Length: 5\r\n", "hello"), "200",
            method: "POST"),
        WireRow("Expect without a body", Sent.get("/ok", "Expect: 100-continue\r\n"), "200"),
        WireRow("another Expect", Sent.get("/ok", "Expect: magic\r\n"), "417 closed"),
        WireRow(
            "Expect and too much",
            Sent.post("Expect: 100-continue\r\nContent-Length: 99999999\r\n"), "413 closed"),
        WireRow(
            "Expect for an unknown path",
            Sent.line("POST /no HTTP/1.1", "Expect: 100-continue\r\nContent-Length: 5\r\n"),
            "404 closed"),
        WireRow(
            "Expect for an unknown path, and the body at once",
            Sent.line("POST /no HTTP/1.1", "Expect: 100-continue\r\nContent-Length: 5\r\n")
                + "hello", "404", method: "POST", cuts: false),
        WireRow(
            "Upgrade to a socket", Sent.get("/ok", "Connection: Upgrade\r\nUpgrade: websocket\r\n"),
            "200"),
        WireRow(
            "Upgrade with a body",
            Sent.post("Connection: Upgrade\r\nUpgrade: x\r\nContent-Length: 5\r\n", "hello"), "200",
            method: "POST"),
    ]

    static let otherProtocols: [WireRow] = [
        WireRow("PROXY v1", "PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n" + Sent.get(), "400 closed"),
        WireRow("PROXY v2", "\r\n\r\n\0\r\nQUIT\n!\u{11}\0\u{c}" + Sent.get(), "400 closed"),
        WireRow("SSH", "SSH-2.0-OpenSSH_9.6\r\n\r\n", "400 closed"),
        WireRow("TLS", "\u{16}\u{3}\u{1}\0\u{c8}\u{1}\0\0\u{c4}\u{3}\u{3}", "400 closed"),
        WireRow("Redis", "*1\r\n$4\r\nPING\r\n\r\n", "400 closed"),
        WireRow("a response", "HTTP/1.1 200 OK\r\n\r\n", "400 closed"),
        WireRow("a byte order mark", "\u{ef}\u{bb}\u{bf}" + Sent.get(), "400 closed"),
        WireRow("UTF-16", String(Sent.get().flatMap { "\($0)\0" }), "400 closed"),
        WireRow("a page of zeros", Sent.many(4096, "\0"), "400 closed", cuts: false),
    ]
}
