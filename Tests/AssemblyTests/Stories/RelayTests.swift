import TestSupport
import Testing
import WorkerSupport

/// Which parts of a backend's response reach the client: status, body, header lines; each only if
/// configured.
@Suite(.watched) struct RelayTests {
    @Test(arguments: [false, true]) func bodyIsRelayedOnlyIfConfigured(_ isRelayed: Bool)
        throws
    {
        let key = isRelayed ? ", relay_body: true" : ""
        let harness = try GatewayHarness("one: { from: a, get: /1, required: true\(key) }")
        harness.on("/1", .status(404, #"{"secret":1}"#))
        let response = try harness.fetch()
        #expect(response.status == 404)
        #expect((response["Content-Type"] == "application/problem+json") == !isRelayed)
        #expect(response.body.contains("secret") == isRelayed)
        harness.expectQuiet()
    }

    @Test func relaysTheBody() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true, relay_body: true }")
        harness.on("/1", .status(404, "<no>", "Content-Type: text/html", "X-Secret: 1"))
        let response = try harness.fetch()
        #expect(response.summary == "404 at 0 <no>")
        #expect(response["Content-Type"] == "text/html")
        #expect(response["X-Secret"] == nil)
        #expect(response["Gateway-Complete"] == "false")
        harness.expectQuiet()
    }

    @Test func bodyOfAnUnrelayedStatusIsNotRelayed() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true, relay_body: true }")
        harness.on("/1", .status(500, "<no>"), .status(404, "<no>"))
        let response = try harness.fetch()
        #expect(response.status == 502)
        #expect(response["Content-Type"] == "application/problem+json")
        #expect(!response.body.contains("<no>"))
        #expect(
            try harness.fetch().body == "<no>", "the same call relays a status that is in its list")
        harness.expectQuiet()
    }

    @Test func statusOfAnOptionalCallIsNotRelayed() throws {
        let harness = try GatewayHarness(RequiredTests.mixed)
        harness.on("/1", .ok("1"), .status(404))
        harness.on("/2", .status(404))
        let response = try harness.fetch()
        #expect(response.status == 200)
        #expect(response["Gateway-Complete"] == "false")
        #expect(try harness.fetch().status == 404, "the required call's is relayed")
        harness.expectQuiet()
    }

    @Test func onlyListedHeadersAreRelayed() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, relay_headers: [ETag] }
            """)
        harness.on("/1", .ok("1", "ETag: \"1\"", "Set-Cookie: a=b", "Server: x"))
        harness.on("/2", .ok("2", "ETag: \"2\"", "Set-Cookie: c=d", "Server: x"))
        let response = try harness.fetch()
        #expect(response.body == #"{"one":1,"two":2}"#)
        #expect(response["ETag"] == "\"2\"")
        #expect(response["Set-Cookie"] == nil && response["Server"] == nil)
        harness.expectQuiet()
    }

    @Test func cookiesStaySeparateLines() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, relay_headers: [ETag, Set-Cookie] }
            two: { from: b, get: /2, relay_headers: [etag, set-cookie] }
            """)
        harness.on("/1", .ok("1", "set-cookie: a=1", "ETag: \"1\"", "Set-Cookie: b=2; Path=/"))
        harness.on("/2", .ok("2", "ETag: \"2\"", "Set-Cookie: c=3"))
        let response = try harness.fetch()
        #expect(response["Set-Cookie"] == "a=1 | b=2; Path=/ | c=3")
        #expect(response["ETag"] == "\"1\"")
        harness.expectQuiet()
    }

    @Test func aFailedCallRelaysNoHeader() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, relay_headers: [Set-Cookie] }
            """)
        harness.on("/2", .status(500, "{}", "Set-Cookie: a=1"), .ok("2", "Set-Cookie: a=2"))
        let response = try harness.fetch()
        #expect(response.status == 200)
        #expect(response["Set-Cookie"] == nil)
        #expect(try harness.fetch()["Set-Cookie"] == "a=2", "a call that succeeds relays it")
        harness.expectQuiet()
    }

    @Test func aCallThatFailedByACollisionRelaysNoHeader() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, at: . }
            two: { from: b, get: /2, at: ., on_collision: fail, relay_headers: [Set-Cookie] }
            """)
        harness.on("/1", .ok(#"{"id":1}"#))
        harness.on("/2", .ok(#"{"id":2}"#, "Set-Cookie: a=1"), .ok(#"{"x":2}"#, "Set-Cookie: a=2"))
        let response = try harness.fetch()
        #expect(response.status == 200)
        #expect(response["Set-Cookie"] == nil)
        #expect(try harness.fetch()["Set-Cookie"] == "a=2", "without a collision it is relayed")
        harness.expectQuiet()
    }

    /// The status table gives 502 as well, but the backend's body is not relayed.
    @Test func aBackendsOwn502IsNotRelayedUnlessItIsListed() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true, relay_body: true }")
        harness.on("/1", .status(502, #"{"host":"10.0.0.7"}"#))
        let response = try harness.fetch()
        #expect(response.status == 502)
        #expect(response["Content-Type"] == "application/problem+json")
        #expect(response.failures == #"[{"call":"one","kind":"unexpected_status","status":502}]"#)
        harness.expectQuiet()
    }

    @Test func aBackendsOwn502IsRelayedWhereItIsListed() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true, relay_body: true, relay_status: [502] }")
        harness.on("/1", .status(502, #"{"host":"10.0.0.7"}"#))
        #expect(try harness.fetch().summary == #"502 at 0 {"host":"10.0.0.7"}"#)
        harness.expectQuiet()
    }
}
