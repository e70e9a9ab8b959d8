import Foundation
import HTTP
import HTTP2
import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// The time limits of requests that pass through, and the responses to failures before the head.
@Suite(.watched) struct ProxyTimeTests {
    private func status(of client: String) -> String {
        client.split(separator: " ").dropFirst().first.map(String.init) ?? "none"
    }

    @Test func noHeadWithinTheTimeoutIs504() throws {
        let harness = try ProxyHarness("to: a, timeout: 500ms")
        let client = try harness.send(get("/x/a"))
        harness.pass(498)
        #expect(client.text == "")
        harness.pass(5)
        #expect(status(of: client.text) == "504")
        #expect(
            client.text.hasSuffix(
                #""failures":[{"kind":"http_response_timeout","limit_ms":500}]}"#))
        #expect(try harness.backend().hasEnded)
        harness.expectQuiet()
    }

    /// The time counts from the last byte of the request.
    @Test func slowUploadIsNotCountedByTheTimeout() throws {
        let harness = try ProxyHarness("to: a, timeout: 500ms")
        let client = try harness.send(request("POST", "/x/a", ["Content-Length: 3"]) + "a")
        harness.pass(40_000)
        client.send("b")
        harness.pass(40_000)
        client.send("c")
        harness.pass(400)
        #expect(client.text == "" && bodyPart(harness.received) == "abc")
        harness.pass(200)
        #expect(status(of: client.text) == "504")
        harness.expectQuiet()
    }

    @Test func stalledUploadIs408() throws {
        let harness = try ProxyHarness("to: a, idle_timeout: 2s")
        let client = try harness.send(request("POST", "/x/a", ["Content-Length: 3"]) + "a")
        harness.pass(1900)
        client.send("b")
        harness.pass(1900)
        #expect(client.text == "")
        harness.pass(300)
        #expect(status(of: client.text) == "408")
        #expect(try harness.backend().hasEnded || !harness.backend().failures.isEmpty)
        harness.expectQuiet()
    }

    /// Each byte restarts `idle_timeout`; `limits.body_timeout` and its minimum rate do not apply.
    @Test(arguments: [("", nil), (", max_duration: 60s", "504")])
    func drippingUploadIsEndedByTheMaximumDuration(_ limit: String, _ status: String?) throws {
        let harness = try ProxyHarness(
            "to: a, idle_timeout: 2s\(limit)", top: "limits: { body_timeout: 5s }")
        let client = try harness.send(request("POST", "/x/a", ["Content-Length: 100"]))
        for _ in 0..<90 where client.text.isEmpty {
            client.send("a")
            harness.pass(1000)
        }
        #expect(client.text.isEmpty ? status == nil : self.status(of: client.text) == status)
        #expect(harness.received.hasSuffix("aaaaa"))
        harness.expectQuiet()
    }

    /// The client waits for `100 Continue`, so that the missing body is not its fault.
    @Test func silentBackendIs504WhereTheClientWaits() throws {
        let harness = try ProxyHarness("to: a, idle_timeout: 500ms")
        let head = ["Content-Length: 3", "Expect: 100-continue"]
        let client = try harness.send(request("POST", "/x/a", head))
        harness.pass(480)
        #expect(client.text == "")
        harness.pass(100)
        #expect(status(of: client.text) == "504")
        harness.expectQuiet()
    }

    /// The upload waits in the queue of the backend, which has no permit.
    @Test func uploadInTheQueueIs504() throws {
        let harness = try ProxyHarness(
            "to: a, idle_timeout: 500ms, timeout: 5s",
            backend: "max_concurrent: 1, queue: { size: 1, wait: 3s }")
        try harness.send(get("/x/a"))
        let client = try harness.send(request("POST", "/x/b", ["Content-Length: 3"]) + "a")
        harness.pass(480)
        #expect(client.text == "")
        harness.pass(100)
        #expect(status(of: client.text) == "504")
        try harness.respond("HTTP/1.1 204 No Content\r\n\r\n")
        harness.expectQuiet()
    }

    /// The gateway's kernel takes further pieces only when a part of its buffer is free. Until then its
    /// acknowledgements show that a side reads.
    @Test(arguments: [false, true])
    func sideThatReadsSlowlyIsNotIdle(isUpload: Bool) throws {
        let harness = try ProxyHarness("to: a, timeout: 1m, idle_timeout: 2s")
        harness.gateway.network.settings.windowBytes = 1 << 20
        harness.gateway.network.settings.refillBytes = 1 << 19
        let head = isUpload ? request("POST", "/x/a", ["Content-Length: 4000000"]) : get("/x/a")
        let client = try harness.send(head)
        let backend = try harness.backend()
        let (reader, writer) = isUpload ? (backend, client) : (client, backend)
        reader.onReceived = { $0.stream.pauseReading() }
        (reader.stream as? SimStream)?.split = .sizes([20_000])
        let body = String(repeating: "a", count: 4_000_000)
        writer.send(isUpload ? body : "HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n" + body)
        for _ in 0..<12 {
            harness.pass(1000)
            reader.stream.resumeReading()
        }
        #expect(harness.logged("outcome") == [])
        harness.pass(5000)
        #expect(harness.logged("outcome") == [isUpload ? "failed" : "truncated"])
        harness.expectQuiet()
    }

    @Test func stalledResponseIsClosed() throws {
        let harness = try ProxyHarness("to: a, timeout: 1s, idle_timeout: 2s")
        let client = try harness.send(get("/x/a"))
        try harness.respond("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1")
        harness.pass(1900)
        try harness.respond("2")
        harness.pass(1900)
        #expect(!client.hasEnded)
        harness.pass(200)
        #expect(client.hasEnded && bodyPart(client.text) == "12")
        #expect(harness.logged("end") == ["idle"] && harness.logged("outcome") == ["truncated"])
        harness.expectQuiet()
    }

    @Test(arguments: [false, true]) func maximumDurationEndsTheExchange(_ hasHead: Bool) throws {
        let harness = try ProxyHarness("to: a, max_duration: 3s")
        let client = try harness.send(get("/x/a"))
        if hasHead {
            try harness.respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<29 {
                try harness.respond("1\r\nx\r\n")
                harness.pass(99)
            }
        } else {
            harness.pass(2950)
        }
        #expect(!client.hasEnded && client.failures.isEmpty)
        harness.pass(200)
        if hasHead {
            #expect(client.hasEnded && harness.logged("end") == ["max_duration"])
        } else {
            #expect(status(of: client.text) == "504")
        }
        harness.expectQuiet()
    }

    @Test func bodyLargerThanTheLimitIs413() throws {
        let harness = try ProxyHarness("to: a, max_body: 4B")
        let stated = try harness.send(request("POST", "/x/a", ["Content-Length: 5"]))
        #expect(status(of: stated.text) == "413" && harness.connections.isEmpty)
        let chunked = try harness.send(
            request("POST", "/x/a", ["Transfer-Encoding: chunked"]) + "3\r\nabc\r\n")
        #expect(bodyPart(harness.received) == "3\r\nabc\r\n")
        chunked.send("3\r\ndef\r\n0\r\n\r\n")
        harness.pass(1)
        #expect(status(of: chunked.text) == "413")
        #expect(bodyPart(harness.received) == "3\r\nabc\r\n")
        #expect(try harness.backend().hasEnded || !harness.backend().failures.isEmpty)
        let small = try harness.send(post("abcd", to: "/x/a"))
        try harness.respond("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(status(of: small.text) == "204")
        harness.expectQuiet()
    }

    @Test func refusedConnectionIs502() throws {
        let harness = try ProxyHarness()
        harness.gateway.backend()?.refuse()
        let client = try harness.send(get("/x/a"))
        harness.pass(10)
        #expect(status(of: client.text) == "502")
        #expect(client.text.hasSuffix(#""failures":[{"kind":"connection_refused"}]}"#))
        harness.expectQuiet()
    }

    @Test func connectionThatClosesBeforeTheHeadIs502() throws {
        let harness = try ProxyHarness()
        let client = try harness.send(get("/x/a"))
        try harness.backend().stream.close()
        harness.pass(1)
        #expect(status(of: client.text) == "502")
        #expect(client.text.hasSuffix(#""failures":[{"kind":"connection_terminated"}]}"#))
        harness.expectQuiet()
    }

    // MARK: Expect and interim responses

    @Test func backendDecidesAboutTheBody() throws {
        let harness = try ProxyHarness()
        let client = try harness.send(
            request("POST", "/x/a", ["Content-Length: 2", "Expect: 100-continue"]))
        #expect(harness.received.contains("Expect: 100-continue\r\n") && client.text == "")
        try harness.respond("HTTP/1.1 100 Continue\r\n\r\n")
        #expect(client.text == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send("ok")
        harness.pass(1)
        #expect(bodyPart(harness.received) == "ok")
        try harness.respond("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(client.text.contains("HTTP/1.1 204 "))
        harness.expectQuiet()
    }

    @Test func refusalOfTheBodyReachesTheClient() throws {
        let harness = try ProxyHarness()
        let client = try harness.send(
            request("POST", "/x/a", ["Content-Length: 2", "Expect: 100-continue"]))
        try harness.respond("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
        #expect(client.text.hasPrefix("HTTP/1.1 417 ") && bodyPart(harness.received) == "")
        #expect(client.text.contains("Connection: close\r\n"))
        harness.expectQuiet()
    }

    @Test func silentBackendGetsTheBodyAfterASecond() throws {
        let harness = try ProxyHarness()
        let client = try harness.send(
            request("POST", "/x/a", ["Content-Length: 2", "Expect: 100-continue"]))
        harness.pass(990)
        #expect(client.text == "")
        harness.pass(20)
        #expect(client.text == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send("ok")
        harness.pass(1)
        #expect(bodyPart(harness.received) == "ok")
        harness.expectQuiet()
    }

    /// Nothing of the body was read, so that another host may get it.
    @Test(arguments: ["Content-Length: 5", "Transfer-Encoding: chunked"])
    func bodyReachesTheHostBehindARefusal(_ framing: String) throws {
        let urls = "urls: [\"http://127.0.0.1:7010\", \"http://127.0.0.1:7011\"]"
        let gateway = try GatewayHarness(
            config: ProxyHarness.text("to: a", "ANY /x/*", "", "\(urls), protocol: http2"))
        var bodies: [String] = []
        var attempts = 0
        let hosts = try [7010, 7011].map { port in
            try ScriptedH2Backend(on: gateway.outside, at: .ip(.v4(0x7F00_0001), port: port)) {
                exchange in
                attempts += 1
                guard attempts > 1 else { return exchange.reset(.refusedStream) }
                exchange.begin(.continue)
                exchange.recorder.onEnd = {
                    bodies.append(exchange.recorder.text)
                    exchange.respond("done")
                }
            }
        }
        let client = ScriptedPeer(try gateway.stream())
        client.send(request("POST", "/x/a", [framing, "Expect: 100-continue"]))
        gateway.pass(5)
        #expect(attempts == 2 && client.text == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send(framing.hasSuffix("5") ? "hello" : "5\r\nhello\r\n0\r\n\r\n")
        gateway.pass(5)
        #expect(bodies == ["hello"])
        #expect(client.text.contains("HTTP/1.1 200 ") && client.text.contains("done"))
        client.stream.close()
        gateway.pass(1)
        for host in hosts { host.close() }
        gateway.expectQuiet()
    }

    /// Some clients of HTTP/1.1 take them for the final one.
    @Test(arguments: ["", ", interim: http2", ", interim: off"])
    func interimResponsesDoNotReachHTTP11(_ interim: String) throws {
        let harness = try ProxyHarness("to: a" + interim)
        let client = try harness.send(get("/x/a"))
        try harness.respond("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n")
        #expect(client.text == "")
        try harness.respond("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        #expect(client.text.hasPrefix("HTTP/1.1 200 OK\r\n") && client.text.hasSuffix("ok"))
        harness.expectQuiet()
    }

    @Test(arguments: [("", true), (", interim: all", true), (", interim: off", false)])
    func interimResponsesReachHTTP2(_ interim: String, _ pass: Bool) throws {
        let harness = try H2ProxyHarness("to: a" + interim)
        let client = try harness.connect()
        let call = try client.send(.get, "/x/a")
        harness.pass()
        let exchange = try harness.exchange()
        exchange.begin(try #require(Status(103)), ["link": "</a.css>"])
        exchange.begin(.ok, ends: true)
        harness.pass()
        #expect(call.responses.map(\.status.code) == (pass ? [103, 200] : [200]))
        harness.expectQuiet(client)
    }

    @Test func interimResponsesPass() throws {
        let harness = try ProxyHarness("to: a, interim: all")
        let client = try harness.send(get("/x/a"))
        try harness.respond(
            "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\n")
        #expect(client.text == "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n")
        try harness.respond("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        #expect(client.text.contains("\r\n\r\nHTTP/1.1 200 OK\r\n") && client.text.hasSuffix("ok"))
        harness.expectQuiet()
    }

    @Test func interimResponsesDoNotReachHTTP10() throws {
        let harness = try ProxyHarness()
        let client = try harness.send("GET /x/a HTTP/1.0\r\n\r\n")
        try harness.respond("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n")
        #expect(client.text == "")
        try harness.respond(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")
        #expect(client.text.hasPrefix("HTTP/1.1 200 OK\r\n") && client.text.hasSuffix("\r\n\r\nok"))
        #expect(client.hasEnded)
        harness.expectQuiet()
    }

    @Test func endlessInterimResponsesAre502() throws {
        let harness = try ProxyHarness("to: a, interim: all")
        let client = try harness.send(get("/x/a"))
        let hints = String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 17)
        try harness.respond(hints)
        #expect(client.text.contains("HTTP/1.1 502 Bad Gateway\r\n"))
        #expect(client.text.components(separatedBy: "103 Early").count == 17)
        harness.expectQuiet()
    }

    @Test(arguments: [true, false]) func trailersPassToClientsThatAcceptThem(_ accepts: Bool) throws
    {
        let harness = try ProxyHarness()
        let client = try harness.send(get("/x/a", accepts ? "TE: trailers" : "X-A: 1"))
        #expect(harness.received.contains("TE: trailers\r\nConnection: TE\r\n") == accepts)
        try harness.respond(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n"
                + "Content-Length: 5\r\nX-Forwarded-For: 1\r\n\r\n")
        let end = accepts ? "0\r\nX-Sum: 1\r\n\r\n" : "0\r\n\r\n"
        #expect(bodyPart(client.text) == "2\r\nok\r\n\(end)")
        harness.expectQuiet()
    }
}
