import TestSupport
import Testing
import WorkerSupport

/// The table "Status" of the reference, row by row, for calls.
@Suite(.watched) struct StatusTableTests {
    /// One way in which a request ends.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var calls = "one: { from: a, get: /1, required: true }"
        var endpoint = ""
        var backend = ""
        var request = get()
        var prepare: @Sendable (GatewayHarness) -> Void = { _ in }
        let outcome: String
        let failures: String

        var testDescription: String { name }
    }

    private func check(_ row: Row) throws -> ReceivedResponse {
        let harness = try GatewayHarness(row.calls, endpoint: row.endpoint, backend: row.backend)
        row.prepare(harness)
        let response = try harness.fetch(row.request)
        #expect(response.outcome == row.outcome)
        #expect(response.failures == row.failures)
        #expect(response["Gateway-Complete"] == "false")
        #expect(response["Content-Type"] == "application/problem+json")
        harness.expectQuiet()
        return response
    }

    // MARK: A required call

    static let required: [Row] = [
        Row(
            name: "refused", prepare: { $0.backend()?.refuse() },
            outcome: "502 at 0", failures: #"[{"call":"one","kind":"connection_refused"}]"#),
        Row(
            name: "unknown host", backend: #"urls: ["http://nowhere.test:80"]"#,
            outcome: "502 at 1", failures: #"[{"call":"one","kind":"dns_error"}]"#),
        Row(
            name: "closed without a response", prepare: { $0.on("/1", .closes(after: 20)) },
            outcome: "502 at 20", failures: #"[{"call":"one","kind":"connection_terminated"}]"#),
        Row(
            name: "reset without a response", prepare: { $0.on("/1", .resets(after: 20)) },
            outcome: "502 at 20", failures: #"[{"call":"one","kind":"connection_terminated"}]"#),
        Row(
            name: "cut off", prepare: { $0.on("/1", .breaksOff(after: 20)) },
            outcome: "502 at 20", failures: #"[{"call":"one","kind":"http_response_incomplete"}]"#),
        Row(
            name: "not HTTP", prepare: { $0.on("/1", .raw("what?\r\n\r\n", after: 20)) },
            outcome: "502 at 20", failures: #"[{"call":"one","kind":"http_protocol_error"}]"#),
        Row(
            name: "header too large",
            prepare: {
                $0.on(
                    "/1",
                    .raw(
                        "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 40_000))\r\n\r\n",
                        after: 20))
            },
            outcome: "502 at 20",
            failures: #"[{"call":"one","kind":"http_response_header_section_size"}]"#),
        Row(
            name: "too many header lines",
            prepare: {
                $0.on(
                    "/1",
                    .raw(
                        "HTTP/1.1 200 OK\r\n\(String(repeating: "X: 1\r\n", count: 120))\r\n",
                        after: 20))
            },
            outcome: "502 at 20",
            failures: #"[{"call":"one","kind":"http_response_header_count"}]"#),
        Row(
            name: "too big", endpoint: "max_body: 1KiB",
            prepare: { $0.on("/1", .ok("\"\(String(repeating: "x", count: 1023))\"", after: 20)) },
            outcome: "502 at 20", failures: #"[{"call":"one","kind":"http_response_body_size"}]"#),
        Row(
            name: "bad JSON", prepare: { $0.on("/1", .ok("{]", after: 20)) },
            outcome: "502 at 20", failures: #"[{"call":"one","kind":"invalid_json"}]"#),
        Row(
            name: "text after the JSON", prepare: { $0.on("/1", .ok("{}{}", after: 20)) },
            outcome: "502 at 20", failures: #"[{"call":"one","kind":"invalid_json"}]"#),
        Row(
            name: "bad shape", calls: "one: { from: a, get: /1, required: true, take: items }",
            prepare: { $0.on("/1", .ok("{}", after: 20)) },
            outcome: "502 at 20", failures: #"[{"call":"one","kind":"invalid_shape"}]"#),
        Row(
            name: "unaccepted status", prepare: { $0.on("/1", .status(500, after: 20)) },
            outcome: "502 at 20",
            failures: #"[{"call":"one","kind":"unexpected_status","status":500}]"#),
        Row(
            name: "redirect", prepare: { $0.on("/1", .status(302, "", after: 20, "Location: /2")) },
            outcome: "502 at 20",
            failures: #"[{"call":"one","kind":"unexpected_status","status":302}]"#),
        Row(
            name: "skipped because of another response",
            calls: """
                two: { from: b, get: /2 }
                one: { from: a, get: "/1/{two.id}", required: true }
                """,
            prepare: { $0.on("/2", .ok(#"{"id":null}"#, after: 20)) },
            outcome: "502 at 20",
            failures: #"[{"call":"one","kind":"skipped","because":"two"}]"#),
        Row(
            name: "skipped because of another failure",
            calls: """
                two: { from: b, get: /2 }
                one: { from: a, get: "/1/{two.id}", required: true }
                """,
            prepare: { $0.on("/2", .status(503, after: 20)) },
            outcome: "502 at 20",
            failures: #"[{"call":"one","kind":"skipped","because":"two"}]"#),
        Row(
            name: "its timeout", endpoint: "timeout: 500ms", prepare: { $0.on("/1", .hangs) },
            outcome: "504 at 500",
            failures: #"[{"call":"one","kind":"http_response_timeout","limit_ms":500}]"#),
        Row(
            name: "its timeout in the middle of the response", endpoint: "timeout: 500ms",
            prepare: {
                $0.on("/1", .raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", after: 20))
            },
            outcome: "504 at 500",
            failures: #"[{"call":"one","kind":"http_response_timeout","limit_ms":500}]"#),
        Row(
            name: "its connect timeout", backend: "connect_timeout: 300ms",
            prepare: { $0.silence(7001) },
            outcome: "504 at 300",
            failures: #"[{"call":"one","kind":"connection_timeout","limit_ms":300}]"#),
        Row(
            name: "the deadline", endpoint: "deadline: 400ms", prepare: { $0.on("/1", .hangs) },
            outcome: "504 at 400",
            failures: #"[{"call":"one","kind":"http_response_timeout","limit_ms":400}]"#),
        Row(
            name: "skipped without a parameter",
            calls: #"one: { from: a, get: "/1/{lang}", required: true }"#,
            endpoint: "params: { lang: { type: string } }",
            outcome: "400 at 0",
            failures: #"[{"call":"one","kind":"skipped","because":"params.lang"}]"#),
        Row(
            name: "skipped without a header",
            calls: #"one: { from: a, get: "/1/{request.header.X-User}", required: true }"#,
            outcome: "400 at 0",
            failures: #"[{"call":"one","kind":"skipped","because":"request.header.X-User"}]"#),
        Row(
            name: "skipped without a field of the body",
            calls: #"one: { from: a, post: "/1/{request.body.user}", required: true }"#,
            endpoint: "route: POST /x",
            request: post(#"{"user":null}"#),
            outcome: "400 at 0",
            failures: #"[{"call":"one","kind":"skipped","because":"request.body.user"}]"#),
        Row(
            name: "a status that is relayed by default",
            prepare: { $0.on("/1", .status(404, after: 20)) },
            outcome: "404 at 20",
            failures: #"[{"call":"one","kind":"unexpected_status","status":404}]"#),
        Row(
            name: "a status that is relayed",
            calls: "one: { from: a, get: /1, required: true, relay_status: [401] }",
            prepare: { $0.on("/1", .status(401, after: 20)) },
            outcome: "401 at 20",
            failures: #"[{"call":"one","kind":"unexpected_status","status":401}]"#),
        Row(
            name: "a status that is no longer relayed",
            calls: "one: { from: a, get: /1, required: true, relay_status: [401] }",
            prepare: { $0.on("/1", .status(404, after: 20)) },
            outcome: "502 at 20",
            failures: #"[{"call":"one","kind":"unexpected_status","status":404}]"#),
    ]

    @Test(arguments: required) func aRequiredCallFails(_ row: Row) throws {
        _ = try check(row)
    }

    @Test func bodyAtTheLimitIsAccepted() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }", endpoint: "max_body: 1KiB")
        harness.on("/1", .ok("\"\(String(repeating: "x", count: 1022))\""))
        #expect(try harness.fetch().status == 200)
        harness.expectQuiet()
    }

    // MARK: One is enough, and all fail

    static let two = """
        one: { from: a, get: /1 }
        two: { from: b, get: /2 }
        """

    static let all: [Row] = [
        Row(
            name: "all timed out", calls: two, endpoint: "timeout: 300ms",
            prepare: {
                $0.on("/1", .hangs)
                $0.on("/2", .hangs)
            },
            outcome: "504 at 300",
            failures:
                #"[{"call":"one","kind":"http_response_timeout","limit_ms":300},{"call":"two","kind":"http_response_timeout","limit_ms":300}]"#
        ),
        Row(
            name: "one timed out, one refused", calls: two, endpoint: "timeout: 300ms",
            prepare: {
                $0.on("/1", .hangs)
                $0.backend(7002)?.refuse()
            },
            outcome: "502 at 300",
            failures:
                #"[{"call":"one","kind":"http_response_timeout","limit_ms":300},{"call":"two","kind":"connection_refused"}]"#
        ),
        Row(
            name: "one timed out, one skipped, which does not count",
            calls: """
                one: { from: a, get: /1 }
                two: { from: b, get: "/2/{one.id}" }
                """, endpoint: "timeout: 300ms",
            prepare: { $0.on("/1", .hangs) },
            outcome: "504 at 300",
            failures:
                #"[{"call":"one","kind":"http_response_timeout","limit_ms":300},{"call":"two","kind":"skipped","because":"one"}]"#
        ),
        Row(
            name: "a 404, which is not relayed for a call that is not required",
            calls: "one: { from: a, get: /1 }", prepare: { $0.on("/1", .status(404, after: 5)) },
            outcome: "502 at 5",
            failures: #"[{"call":"one","kind":"unexpected_status","status":404}]"#),
        Row(
            name: "all skipped by the client", calls: #"one: { from: a, get: "/1/{lang}" }"#,
            endpoint: "params: { lang: { type: string } }", outcome: "400 at 0",
            failures: #"[{"call":"one","kind":"skipped","because":"params.lang"}]"#),
    ]

    @Test(arguments: all) func allCallsFail(_ row: Row) throws {
        _ = try check(row)
    }

    // MARK: Refused by the gateway

    @Test func anOpenBreakerIsA503() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true }",
            backend: "breaker: { open_at: 50%, min_requests: 1, try_again_after: 10s }")
        harness.on("/1", .status(500))
        _ = try harness.fetch()
        let response = try harness.fetch()
        #expect(response.outcome == "503 at 0")
        #expect(response["Retry-After"] == "10")
        #expect(response.failures == #"[{"call":"one","kind":"breaker_open"}]"#)
        harness.expectQuiet()
    }

    @Test func aFullQueueIsA503() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true }", backend: "max_concurrent: 1")
        harness.on("/1", .ok("1", after: 100))
        let first = try harness.send(get())
        let response = try harness.fetch()
        #expect(response.outcome == "503 at 0")
        #expect(response["Retry-After"] == "1")
        #expect(response.failures == #"[{"call":"one","kind":"queue_full"}]"#)
        #expect(harness.response(of: first).outcome == "200 at 100")
        harness.expectQuiet()
    }

    @Test func allRefusedByTheGatewayIsA503() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: a, get: /2 }
            """, backend: "breaker: { open_at: 50%, min_requests: 1, try_again_after: 10s }")
        harness.on("/1", .status(500))
        harness.on("/2", .status(500))
        _ = try harness.fetch()
        let response = try harness.fetch()
        #expect(response.outcome == "503 at 0")
        #expect(response["Retry-After"] == "10")
        harness.expectQuiet()
    }

    // MARK: Success

    @Test func allCallsSucceededIsA200() throws {
        let harness = try GatewayHarness(Self.two)
        harness.on("/1", .ok(#"{"a":19.90}"#, after: 20))
        harness.on("/2", .ok("[1]", after: 30))
        let response = try harness.fetch()
        #expect(response.summary == #"200 at 30 {"one":{"a":19.90},"two":[1]}"#)
        #expect(response["Gateway-Complete"] == "true")
        #expect(response["Content-Type"] == "application/json")
        #expect(response["Cache-Control"] == nil)
        harness.expectQuiet()
    }

    @Test func someOptionalCallsFailedIsAPartial200() throws {
        let harness = try GatewayHarness(Self.two)
        harness.on("/1", .status(500, after: 20))
        harness.on("/2", .ok("2", after: 30))
        let response = try harness.fetch()
        #expect(
            response.summary == #"200 at 30 {"one":null,"two":2,"_gateway":{"complete":false,"#
                + #""failures":[{"call":"one","kind":"unexpected_status","status":500}]}}"#)
        #expect(response["Gateway-Complete"] == "false")
        #expect(response["Cache-Control"] == "no-store")
        harness.expectQuiet()
    }

    @Test(arguments: [.status(204, ""), .ok("")] as [Reply])
    func emptyResponseIsNull(_ reply: Reply) throws {
        let harness = try GatewayHarness("one: { from: a, get: /1, required: true }")
        harness.on("/1", reply)
        let response = try harness.fetch()
        #expect(response.summary == #"200 at 0 {"one":null}"#)
        #expect(response["Gateway-Complete"] == "true")
        harness.expectQuiet()
    }

    @Test func statusCanBeAccepted() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true, accept: [200-299, 404] }")
        harness.on("/1", .status(404, #"{"no":1}"#))
        #expect(try harness.fetch().summary == #"200 at 0 {"one":{"no":1}}"#)
        harness.expectQuiet()
    }
}
