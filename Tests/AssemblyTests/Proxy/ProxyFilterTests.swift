import Assembly
import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// The filters of a route with `proxy`: breaker, concurrency limit, retries, requests in flight.
@Suite(.watched) struct ProxyFilterTests {
    private let head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"

    private func status(of client: ScriptedPeer) -> String {
        client.text.split(separator: " ").dropFirst().first.map(String.init) ?? "none"
    }

    @Test func permitIsHeldUntilTheLastByte() throws {
        let harness = try ProxyHarness(backend: "max_concurrent: 1, queue: { size: 1, wait: 1h }")
        let first = try harness.send(get("/x/a"))
        try harness.respond(head + "ab")
        let second = try harness.send(get("/x/b"))
        let third = try harness.send(get("/x/c"))
        #expect(try harness.gateway.load() == "1 running, 1 waiting")
        #expect(status(of: third) == "503" && third.text.contains("Retry-After: 1\r\n"))
        #expect(third.text.hasSuffix(#""failures":[{"kind":"queue_full"}]}"#))
        #expect(harness.connections.count == 1)
        try harness.respond("cd")
        #expect(bodyPart(first.text) == "abcd")
        #expect(harness.received.contains("GET /x/b "))
        try harness.respond(head + "abcd")
        #expect(status(of: second) == "200")
        #expect(try harness.gateway.load() == "0 running, 0 waiting")
        harness.expectQuiet()
    }

    @Test func requestCountsForItsEndpointUntilTheLastByte() throws {
        let harness = try ProxyHarness(endpoint: "max_in_flight: 1")
        try harness.send(get("/x/a"))
        try harness.respond(head + "ab")
        #expect(status(of: try harness.send(get("/x/b"))) == "503")
        try harness.respond("cd")
        try harness.send(get("/x/c"))
        #expect(harness.received.contains("GET /x/c "))
        harness.expectQuiet()
    }

    @Test func streamsAreLimited() throws {
        let harness = try ProxyHarness(top: "limits: { streams: 1 }")
        try harness.send(get("/x/a"))
        try harness.respond(head + "ab")
        let second = try harness.send(get("/x/b"))
        try harness.respond(head)
        #expect(status(of: second) == "503")
        #expect(try harness.backend().hasEnded)
        harness.expectQuiet()
    }

    @Test(arguments: ["500", "truncated"]) func failuresOpenTheBreaker(_ how: String) throws {
        let harness = try ProxyHarness(
            backend: "breaker: { open_at: 50%, min_requests: 2, try_again_after: 10s }")
        for _ in 0..<2 {
            try harness.send(get("/x/a"))
            if how == "500" {
                try harness.respond("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n")
            } else {
                try harness.respond(head + "ab")
                try harness.backend().stream.close()
                harness.pass(1)
            }
        }
        #expect(try harness.gateway.isBreakerOpen())
        let client = try harness.send(get("/x/a"))
        #expect(status(of: client) == "503" && client.text.contains(#""kind":"breaker_open""#))
        harness.expectQuiet()
    }

    @Test func clientsThatLeaveDoNotOpenTheBreaker() throws {
        let harness = try ProxyHarness(
            backend: "breaker: { open_at: 1%, min_requests: 1, try_again_after: 10s }")
        let client = try harness.send(get("/x/a"))
        try harness.respond(head + "ab")
        client.stream.close()
        harness.pass(50)
        #expect(try !harness.gateway.isBreakerOpen())
        harness.expectQuiet()
    }

    /// The response is given up because its request cannot be completed: the client's fault.
    @Test(arguments: ["zz\r\n", "5\r\nlarge\r\n"])
    func brokenRequestsDoNotOpenTheBreaker(_ rest: String) throws {
        let harness = try ProxyHarness(
            "to: a, max_body: 8B",
            backend: "breaker: { open_at: 1%, min_requests: 1, try_again_after: 10s }")
        let client = try harness.send(
            request("POST", "/x/a", ["Transfer-Encoding: chunked"]) + "5\r\nhello\r\n")
        try harness.respond(head + "ab")
        client.send(rest)
        harness.pass(1)
        #expect(bodyPart(client.text) == "ab" && client.hasEnded)
        #expect(harness.logged("end") == ["request_broken"])
        #expect(try !harness.gateway.isBreakerOpen())
        harness.expectQuiet()
    }

    @Test func lostConnectionIsRetriedWithoutABody() throws {
        let harness = try ProxyHarness("to: a, retry: { attempts: 2, backoff: 1ms }")
        let client = try harness.send(get("/x/a"))
        try harness.backend().stream.close()
        harness.pass(5)
        #expect(harness.connections.count == 2 && client.text == "")
        try harness.respond(head + "abcd")
        #expect(status(of: client) == "200")
        // A request with a body is never sent twice.
        let upload = try harness.send(request("PUT", "/x/a", ["Content-Length: 4"]) + "ab")
        let count = harness.connections.count
        try harness.backend().stream.close()
        harness.pass(5)
        #expect(status(of: upload) == "502" && harness.connections.count == count)
        harness.expectQuiet()
    }

    @Test func listedStatusIsRetriedAndTheLastOnePasses() throws {
        let harness = try ProxyHarness("to: a, retry: { attempts: 2, on: [503], backoff: 1ms }")
        let client = try harness.send(get("/x/a"))
        let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\n"
        try harness.respond(busy + "on")
        harness.pass(5)
        #expect(harness.connections.count == 2 && client.text == "")
        try harness.respond(busy + "two!")
        #expect(status(of: client) == "503" && bodyPart(client.text) == "two!")
        harness.expectQuiet()
    }

    /// The permit of an attempt that has failed is free for the next one.
    @Test(arguments: ["on: [503]", "on: [terminated]"])
    func retryNeedsNoSecondPermit(_ rule: String) throws {
        let harness = try ProxyHarness(
            "to: a, retry: { attempts: 2, \(rule), backoff: 1ms }", backend: "max_concurrent: 1")
        let client = try harness.send(get("/x/a"))
        if rule == "on: [503]" {
            try harness.respond("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\non")
        } else {
            try harness.backend().stream.close()
        }
        harness.pass(5)
        #expect(harness.connections.count == 2 && client.text == "")
        #expect(try harness.gateway.load() == "1 running, 0 waiting")
        try harness.respond(head + "abcd")
        #expect(status(of: client) == "200")
        #expect(try harness.gateway.load() == "0 running, 0 waiting")
        harness.expectQuiet()
    }

    /// Between two attempts the permit is free for other requests.
    @Test func permitIsFreeWhileARetryWaits() throws {
        let harness = try ProxyHarness(
            "to: a, retry: { attempts: 2, on: [503], backoff: 1s }", backend: "max_concurrent: 1")
        let first = try harness.send(get("/x/a"))
        try harness.respond("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy")
        #expect(try harness.gateway.load() == "0 running, 0 waiting")
        let second = try harness.send(get("/x/b"))
        try harness.respond(head + "abcd")
        #expect(status(of: second) == "200")
        harness.pass(2_000)
        try harness.respond(head + "abcd")
        #expect(status(of: first) == "200")
        harness.expectQuiet()
    }

    @Test func anotherHostIsTriedAtOnce() throws {
        let harness = try ProxyHarness(
            backend: "urls: [\"http://127.0.0.1:7009\", \"http://127.0.0.1:7001\"]")
        let client = try harness.send(request("POST", "/x/a", ["Content-Length: 2"]) + "ok")
        harness.pass(5)
        #expect(bodyPart(harness.received) == "ok")
        try harness.respond("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(status(of: client) == "204")
        harness.expectQuiet()
    }

    @Test func drainWaitsForStreams() throws {
        let harness = try ProxyHarness()
        let client = try harness.send(get("/x/a"))
        try harness.respond(head + "ab")
        let ended = harness.gateway.drain()
        harness.pass(5_000)
        #expect(ended() == nil)
        try harness.respond("cd")
        harness.pass(3_000)
        #expect(bodyPart(client.text) == "abcd" && ended() != nil)
        harness.expectQuiet()
    }

    /// The status was sent, so the line has it.
    @Test func streamThatTheDrainCutsOffIsLogged() throws {
        let harness = try ProxyHarness(top: "drain: { timeout: 300ms }")
        let client = try harness.send(get("/x/a"))
        try harness.respond(head + "ab")
        let ended = harness.gateway.drain()
        harness.pass(300)
        #expect(ended() != nil && bodyPart(client.text) == "ab")
        #expect(harness.logged("status") == ["200"])
        #expect(harness.logged("outcome") == ["truncated"])
        #expect(harness.logged("end") == ["cut_off"])
        harness.expectQuiet()
    }

    @Test func callIsCountedAndLogged() throws {
        let harness = try ProxyHarness()
        try harness.send(get("/x/a"))
        try harness.respond(head + "abcd")
        #expect(harness.gateway.responseCounts == ["ANY /x/*: 200 once"])
        #expect(try harness.gateway.outcomes() == "ok 1")
        #expect(
            harness.gateway.logged.last?.contains(
                #""calls":[{"name":"proxy","host":"127.0.0.1:7001","status":200"#) == true)
        harness.expectQuiet()
    }
}
