import Basics
import HTTP
import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// The trailers of requests that pass through.
@Suite(.watched) struct ProxyTrailerTests {
    private static let trailers: Fields = [
        "X-Sum": "1", "X-Other": "2", "Host": "b", "X-Forwarded-For": "1.2.3.4",
        "Forwarded": "for=1.2.3.4", "Client-Cert": ":AAAA:", "X-Request-Id": "forged",
    ]

    /// The lines of the trailers in chunks.
    private static let lines = trailers.map { name, value in
        String(copying: name.span) + ": " + String(copying: value.span) + "\r\n"
    }.joined()

    /// The trailers that the backend receives from a client of HTTP/1.1.
    private func passed(
        _ lines: String, _ head: String = "", proxy: String = "to: a", endpoint: String = "",
        top: String = "", files: [String: String] = [:]
    ) throws -> [String] {
        let harness = try H2ProxyHarness(proxy, endpoint: endpoint, top: top, files: files)
        let client = ScriptedPeer(try harness.gateway.stream())
        client.send(
            "POST /x/a HTTP/1.1\r\nHost: a\r\n\(head)Transfer-Encoding: chunked\r\n\r\n"
                + "3\r\nabc\r\n0\r\n\(lines)\r\n")
        harness.pass(5)
        let exchange = try harness.exchange()
        #expect(exchange.recorder.text == "abc" && exchange.recorder.hasEnded)
        exchange.begin(.noContent, ends: true)
        harness.pass()
        #expect(client.text.hasPrefix("HTTP/1.1 204 "))
        client.stream.close()
        harness.expectQuiet()
        return (exchange.trailers ?? Fields()).map { name, value in
            String(copying: name.span) + ": " + String(copying: value.span)
        }
    }

    /// What routes or frames a message, or states the client, does not pass.
    @Test func trailersOfARequestPassToHTTP2() throws {
        #expect(try passed(Self.lines) == ["x-sum: 1", "x-other: 2"])
        #expect(try passed("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n") == [])
        #expect(try passed("") == [])
        // Nor in a spelling that servers take for such a name.
        #expect(
            try passed(
                "X_Forwarded_For: 1\r\nContent_Length: 3\r\nProxy: a\r\nX_Any: 1\r\nX-Sum: 1\r\n")
                == ["x-sum: 1"])
        #expect(
            try passed(
                "X_Request_Id: 1\r\nX_Any: 1\r\n", proxy: "to: a, underscores: pass") == [
                    "x_any: 1"
                ])
    }

    /// A name that must not pass as a header does not pass behind the body.
    @Test func trailersPassAsHeadersOfTheirNamesDo() throws {
        #expect(
            try passed(Self.lines, endpoint: "forward: { headers: [X-Other] }") == ["x-other: 2"])
        #expect(
            try passed(Self.lines, proxy: "to: a, drop_headers: [X-Other]") == ["x-sum: 1"])
        #expect(
            try passed(Self.lines, proxy: "to: a, headers: { X-Sum: \"7\" }") == ["x-other: 2"])
    }

    @Test(arguments: [true, false]) func trailersPassBetweenStreams(_ isAtOnce: Bool) throws {
        let harness = try H2ProxyHarness()
        let client = try harness.connect()
        harness.pass()
        let request = try client.side.request(.post, "/x/a", endsStream: false)
        if !isAtOnce {
            client.flush()
            harness.pass()
        }
        try client.send("abc", on: request, ends: true, trailers: ["X-Sum": "1"])
        harness.pass()
        let exchange = try harness.exchange()
        #expect(exchange.recorder.text == "abc" && exchange.trailers == ["x-sum": "1"])
        exchange.begin(.noContent, ends: true)
        harness.pass()
        #expect(request.responses.map(\.status) == [.noContent] && request.hasEnded)
        harness.expectQuiet(client)
    }

    /// A stated length of 0 stays one, wherever the stream ends, and needs no type.
    @Test(arguments: [false, true], [Fields(), ["X-Sum": "1"]])
    func lengthOfZeroIsStatedToHTTP1(_ isApart: Bool, _ trailers: Fields) throws {
        let harness = try ProxyHarness(
            endpoint: "content_types: [image/*]",
            top: "listen: { address: \"127.0.0.1:8080\", protocols: [http2, http1] }")
        let client = try ScriptedH2Client(
            ScriptedPeer(harness.gateway.stream()), on: harness.gateway.testbed)
        let request = try client.side.request(
            .post, "/x/a", ["content-length": "0"], endsStream: false)
        if isApart {
            client.flush()
            harness.pass(1)
        }
        try client.send("", on: request, ends: true, trailers: trailers)
        harness.pass(1)
        #expect(harness.received.contains("\r\nContent-Length: 0\r\n"))
        #expect(!harness.received.contains("Transfer-Encoding"))
        #expect(bodyPart(harness.received) == "")
        try harness.respond("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(request.responses.map(\.status) == [.noContent] && request.hasEnded)
        client.peer.stream.close()
        harness.expectQuiet()
    }

    /// HTTP/1.1 has no trailers behind a length; the connection stays.
    @Test func trailersBehindALengthOfZeroEndAtHTTP1() throws {
        let harness = try H2ProxyHarness()
        let client = ScriptedPeer(try harness.gateway.stream())
        for _ in 0..<2 {
            client.send(get("/x/a", "TE: trailers"))
            harness.pass(5)
            let exchange = try harness.exchange()
            exchange.begin(.ok, ["content-length": "0"])
            exchange.end(["grpc-status": "13"])
            harness.pass()
            #expect(client.text.hasPrefix("HTTP/1.1 200 ") && bodyPart(client.text) == "")
            #expect(client.text.contains("\r\nContent-Length: 0\r\n"))
            client.clearReceived()
        }
        client.stream.close()
        harness.expectQuiet()
    }

    /// A backend of HTTP/1.1 has not stated that it accepts them.
    @Test func trailersOfARequestDoNotPassToHTTP1() throws {
        let harness = try ProxyHarness()
        try harness.send(
            request("POST", "/x/a", ["Transfer-Encoding: chunked"]) + "1\r\na\r\n0\r\nX-Sum: 1\r\n")
        #expect(bodyPart(harness.received) == "1\r\na\r\n")
        harness.clients[0].send("\r\n")
        harness.pass(1)
        #expect(bodyPart(harness.received) == "1\r\na\r\n0\r\n\r\n")
        try harness.respond("HTTP/1.1 204 No Content\r\n\r\n")
        harness.expectQuiet()
    }
}
