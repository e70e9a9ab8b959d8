import Foundation
import TestSupport
import Testing
import WorkerSupport

/// The line of a request in the access log: its fields, its calls, and which requests get one.
@Suite(.watched) struct AccessLogTests {
    static let calls = """
        product: { from: a, get: /1 }
        stock: { from: b, get: /2 }
        """

    /// The fields of the requests' lines.
    private func lines(_ harness: GatewayHarness) throws -> [[String: Any]] {
        try harness.logged.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }.filter { $0["msg"] as? String == "request" }
    }

    private func line(_ harness: GatewayHarness) throws -> [String: Any] {
        let lines = try lines(harness)
        #expect(lines.count == 1)
        return try #require(lines.first)
    }

    private func calls(of line: [String: Any]) throws -> [[String: Any]] {
        try #require(line["calls"] as? [[String: Any]])
    }

    // MARK: Fields

    @Test func aLineHasTheRequestAndItsCalls() throws {
        let harness = try GatewayHarness(Self.calls)
        harness.on("/1", .ok("{}", after: 20))
        harness.on("/2", .status(500, after: 5))
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"
        _ = try harness.fetch(
            get("/x?page=7&secret=a=b&flag", "X-Request-Id: r7", "traceparent: \(trace)"))
        let line = try line(harness)
        #expect(line["id"] as? String == "r7")
        #expect(line["trace"] as? String == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(line["method"] as? String == "GET" && line["path"] as? String == "/x")
        #expect(line["query"] as? String == "page&secret&flag")
        #expect(line["listener"] as? String == "127.0.0.1:8080")
        #expect(line["scheme"] as? String == "http" && line["tls"] == nil)
        #expect(line["protocol"] as? String == "1.1" && line["host"] as? String == "gateway")
        #expect(line["endpoint"] as? String == "GET /x")
        #expect(line["status"] as? Int == 200 && line["outcome"] as? String == "partial")
        #expect(line["ms"] as? Double == 20 && line["own_ms"] as? Double == 0)
        #expect(line["receive_ms"] == nil)
        #expect(line["bytes_in"] as? Int == 0 && (line["bytes_out"] as? Int ?? 0) > 2)
        let calls = try calls(of: line)
        #expect(calls.map { $0["name"] as? String } == ["product", "stock"])
        #expect(calls.map { $0["host"] as? String } == ["127.0.0.1:7001", "127.0.0.1:7002"])
        #expect(calls.map { $0["status"] as? Int } == [200, 500])
        #expect(calls.map { $0["kind"] as? String } == [nil, "unexpected_status"])
        #expect(calls.map { $0["ms"] as? Double } == [20, 5])
        #expect(calls.map { $0["attempts"] as? Int } == [1, 1])
        harness.expectQuiet()
    }

    @Test func aLineIsWrittenAfter100Milliseconds() throws {
        let harness = try GatewayHarness(Self.calls)
        _ = try harness.fetch()
        harness.pass(95)
        #expect(harness.writtenLog.isEmpty)
        harness.pass(10)
        #expect(harness.writtenLog.contains(#""msg":"request""#))
        harness.expectQuiet()
    }

    @Test func aRequestWithoutAnEndpointHasNoCalls() throws {
        let harness = try GatewayHarness(Self.calls)
        _ = try harness.fetch(get("/nowhere"))
        let line = try line(harness)
        #expect(line["status"] as? Int == 404 && line["outcome"] as? String == "rejected")
        #expect(line["endpoint"] == nil && line["calls"] == nil && line["query"] == nil)
        harness.expectQuiet()
    }

    @Test func retriesCountAsAttemptsAndAHedgeThatWonIsShown() throws {
        let harness = try GatewayHarness(
            """
            tried: { from: a, get: /1, retry: { on: [503], backoff: 0ms } }
            hedged: { from: b, get: /2, hedge: { after: 100ms } }
            """)
        harness.on("/1", .status(503), .ok("1"))
        harness.on("/2", .ok("1", after: 500), .ok("2", after: 50))
        _ = try harness.fetch()
        let calls = try calls(of: try line(harness))
        #expect(calls.map { $0["attempts"] as? Int } == [2, 2])
        #expect(calls.map { $0["status"] as? Int } == [200, 200])
        #expect(calls.map { $0["winner"] as? String } == [nil, "hedge"])
        harness.expectQuiet()
    }

    @Test func theWaitForAPermitIsShown() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", backend: "max_concurrent: 1, queue: { size: 5, wait: 1s }")
        harness.on("/1", .ok("1", after: 30))
        let first = try harness.send(get())
        _ = try harness.fetch()
        _ = harness.response(of: first)
        let waits = try lines(harness).map { try calls(of: $0)[0]["wait_ms"] as? Double }
        #expect(waits == [0, 30])
        harness.expectQuiet()
    }

    @Test func aSkippedCallHasItsKindAndNoTime() throws {
        let harness = try GatewayHarness(
            """
            user: { from: a, get: /1 }
            orders: { from: b, get: "/2?u={user.id}" }
            """)
        harness.on("/1", .status(500))
        _ = try harness.fetch()
        let calls = try calls(of: try line(harness))
        #expect(calls.map { $0["kind"] as? String } == ["unexpected_status", "skipped"])
        #expect(
            calls[1]["ms"] == nil && calls[1]["host"] == nil && calls[1]["attempts"] as? Int == 0)
        harness.expectQuiet()
    }

    @Test func aPaddedEndpointShowsNoTimesBelowItsOwn() throws {
        let harness = try GatewayHarness(Self.calls, endpoint: "min_duration: 400ms")
        harness.on("/1", .ok("1", after: 30))
        _ = try harness.fetch()
        let line = try line(harness)
        #expect(line["ms"] as? Double == 400 && line["own_ms"] == nil)
        #expect(try calls(of: line).allSatisfy { $0["ms"] == nil && $0["wait_ms"] == nil })
        harness.expectQuiet()
    }

    @Test func waitingForTheBodyIsShownByItself() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x")
        harness.on("/1", .ok("1", after: 10))
        let client = try harness.send(
            "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{")
        harness.pass(70)
        client.send("}")
        _ = harness.response(of: client)
        let line = try line(harness)
        #expect(line["ms"] as? Double == 80 && line["receive_ms"] as? Double == 70)
        #expect(line["own_ms"] as? Double == 0 && line["bytes_in"] as? Int == 2)
        harness.expectQuiet()
    }

    // MARK: What clients send

    @Test func noClientCanForgeALine() throws {
        let harness = try GatewayHarness(
            Self.calls,
            top: "log: { query: values, headers: [User-Agent, X-Other, Host, X-Request-Id] }")
        _ = try harness.fetch(
            get("/x?a=%22%0A", "User-Agent: \"}\\u000a{\"msg\":\"request\"", "X-Else: no"))
        let line = try line(harness)
        #expect(line["query"] as? String == "a=%22%0A")
        let headers = try #require(line["headers"] as? [String: String])
        #expect(headers == ["User-Agent": "\"}\\u000a{\"msg\":\"request\"", "Host": "gateway"])
        harness.expectQuiet()
    }

    @Test(arguments: [("names", "a&b"), ("values", "a=1&b"), ("none", nil)])
    func theQueryIsWrittenAsConfigured(_ setting: String, _ expected: String?) throws {
        let harness = try GatewayHarness(Self.calls, top: "log: { query: \(setting) }")
        _ = try harness.fetch(get("/x?a=1&b"))
        #expect(try line(harness)["query"] as? String == expected)
        harness.expectQuiet()
    }

    // MARK: What was refused

    private func refusedLine(_ harness: GatewayHarness) throws -> [String: Any] {
        let lines = try harness.logged.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }.filter { $0["msg"] as? String == "refused" }
        #expect(lines.count == 1)
        return try #require(lines.first)
    }

    @Test(arguments: [
        ("GET /x\r\n\r\n", "request_line"), ("GET /\u{E9} HTTP/1.1\r\nHost: x\r\n\r\n", "target"),
        ("GET /x HTTP/1.1\r\n\r\n", "host_missing"),
        ("GET /x HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", "folded_field"),
        ("GET /x HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n", "field_name"),
        ("GET /x HTTP/1.1\nHost: x\n\n", "line_end"),
        (
            "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "framing_conflict"
        ),
    ])
    func refusedInputHasItsReasonAndTheIDOfItsResponse(_ input: String, _ reason: String) throws {
        let harness = try GatewayHarness(Self.calls)
        let response = try harness.fetch(input)
        let line = try refusedLine(harness)
        #expect(line["reason"] as? String == reason)
        #expect(line["status"] as? Int == response.status)
        let id = try #require(line["id"] as? String)
        #expect(id.count == 32 && response.body.contains(#""instance":"\#(id)""#))
        harness.expectQuiet()
    }

    @Test func aConnectionBeyondTheLimitHasTheLimitAsReason() throws {
        let harness = try GatewayHarness(Self.calls, top: "limits: { connections: 1 }")
        let first = try harness.connect()
        harness.pass(1)
        _ = try harness.fetch()
        #expect(try refusedLine(harness)["reason"] as? String == "connections")
        first.leave()
        harness.expectQuiet()
    }

    @Test func aRequestWhoseBodyIsMalformedHasTheReason() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x\nbody: { type: object }")
        let response = try harness.fetch(
            "POST /x HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\nzz\r\n")
        #expect(response.status == 400)
        #expect(try line(harness)["reason"] as? String == "chunk_size")
        harness.expectQuiet()
    }

    // MARK: Which requests

    /// Of four requests: complete in 10 ms, partial in 10 ms, complete in 200 ms, 404.
    private func logged(only conditions: String) throws -> [String] {
        let harness = try GatewayHarness(Self.calls, top: "log: { only: \(conditions) }")
        harness.on(
            "/1", .ok("1", after: 10), .ok("1", after: 10), .ok("1", after: 200), .status(500))
        harness.on("/2", .ok("1"), .status(500), .ok("1"), .status(500))
        for name in ["ok", "partial", "slow"] {
            _ = try harness.fetch(get("/x", "X-Request-Id: \(name)"))
        }
        _ = try harness.fetch(get("/y", "X-Request-Id: rejected"))
        _ = try harness.fetch(get("/x", "X-Request-Id: failed"))
        harness.expectQuiet()
        return try lines(harness).compactMap { $0["id"] as? String }
    }

    @Test(arguments: [
        ("[]", ["ok", "partial", "slow", "rejected", "failed"]),
        ("failed", ["failed"]), ("partial", ["partial"]), ("rejected", ["rejected"]),
        ("[failed, partial]", ["partial", "failed"]),
        ("slow > 100ms", ["slow"]), ("['slow > 199ms', 'slow > 1h']", ["slow"]),
        ("slow > 200ms", []),
        ("100%", ["ok", "partial", "slow", "rejected", "failed"]),
        ("[failed, 0.0001%]", ["failed"]),
    ])
    func onlyTheConfiguredRequestsGetALine(_ conditions: String, _ expected: [String]) throws {
        #expect(try logged(only: conditions) == expected)
    }

    @Test func aShareOfTheRequestsGetsALine() throws {
        let harness = try GatewayHarness(Self.calls, top: "log: { only: 25% }")
        for _ in 0..<400 { _ = try harness.fetch() }
        let count = try lines(harness).count
        #expect((60...140).contains(count), "\(count)")
        harness.expectQuiet()
    }

    @Test func aReloadChangesWhichRequestsGetALine() throws {
        let harness = try GatewayHarness(Self.calls)
        _ = try harness.fetch()
        try harness.install(GatewayHarness.text(Self.calls, "", "", "log: { only: failed }"))
        _ = try harness.fetch()
        #expect(try lines(harness).count == 1)
        harness.expectQuiet()
    }

    // MARK: Combined

    @Test func theCombinedFormatHasOneLineForEachRequest() throws {
        let harness = try GatewayHarness(Self.calls, top: "log: { format: combined }")
        _ = try harness.fetch(
            get("/x?a=1", "Referer: http://e.example/", "User-Agent: \"\\ \tx"))
        _ = try harness.fetch(request("HEAD", "/nowhere"))
        let lines = harness.logged
        let time = "[01/Jan/2026:01:00:00 +0000]"
        #expect(
            lines.first?.hasPrefix("127.0.0.1 - - \(time) \"GET /x?a HTTP/1.1\" 200 ") ?? false)
        #expect(
            lines.first?.hasSuffix(" \"http://e.example/\" \"\\x22\\x5C \\x09x\"") ?? false)
        #expect(lines.last == "127.0.0.1 - - \(time) \"HEAD /nowhere HTTP/1.1\" 404 - \"-\" \"-\"")
        harness.expectQuiet()
    }
}
