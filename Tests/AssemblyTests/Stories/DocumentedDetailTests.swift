import TestSupport
import Testing
import WorkerSupport

/// Details of the reference that no other suite tests.
@Suite(.watched) struct DocumentedDetailTests {
    /// A request that the gateway rejects before its calls (4xx) has no `Gateway-Complete`. The 400
    /// of a skipped required call has it (`StatusTableTests`).
    @Test(arguments: [
        ("GET", "/nowhere", 404), ("DELETE", "/x", 405), ("GET", "/x?n=a", 400),
        ("GET", "/x?n=1&n=2", 400),
    ])
    func rejectionsHaveNoGatewayComplete(
        _ method: String, _ target: String, _ status: Int
    ) throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", endpoint: "params: { n: { type: integer } }")
        let response = try harness.fetch(request(method, target))
        #expect(response.status == status)
        #expect(response["Gateway-Complete"] == nil)
        #expect(response["Content-Type"] == "application/problem+json")
        harness.expectQuiet()
    }

    /// A call's `body` is sent as `application/json` unless `headers` sets another type.
    @Test(arguments: [
        ("", "application/json"), (", headers: { Content-Type: text/plain }", "text/plain"),
        (", headers: { content-type: a/b }", "a/b"),
    ])
    func bodyHasAContentType(_ more: String, _ type: String) throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1, body: { a: 1 }\(more) }", endpoint: "route: POST /x")
        _ = try harness.fetch(post("", to: "/x"))
        #expect(harness.seen.first?["Content-Type"] == type)
        #expect(harness.seen.first?.body == #"{"a":1}"#)
        harness.expectQuiet()
    }

    /// Where `body` is declared, a missing or malformed JSON body is a 400, whatever its
    /// Content-Type; elsewhere any bytes pass.
    @Test(arguments: [
        ("body: { }", "", 400), ("body: { }", "<xml/>", 400), ("body: { }", "{}", 200),
        ("report: off", "<xml/>", 200), ("report: off", "", 400),
    ])
    func declaredBodyMustBeJSON(_ endpoint: String, _ body: String, _ status: Int) throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1, body: \"{request.body}\", required: true }",
            endpoint: "route: POST /x\n\(endpoint)")
        let response = try harness.fetch(post(body, to: "/x", "Content-Type: text/xml"))
        #expect(response.status == status)
        #expect(harness.seen.map(\.body) == (status == 200 ? [body] : []))
        harness.expectQuiet()
    }

    /// Skipped and cancelled calls do not count for "all timed out" and "all refused".
    @Test func skippedCallsDoNotAffectTheStatus() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, timeout: 50ms }
            two: { from: b, get: "/2/{one.id}" }
            """)
        harness.on("/1", .hangs)
        #expect(try harness.fetch().status == 504)
        harness.expectQuiet()
    }

    /// `keep` preserves the key order of the source.
    @Test func keptMembersStayInSourceOrder() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1, keep: [a, b.c, z] }")
        harness.on("/1", .ok(#"{"z":1,"x":2,"b":{"d":3,"c":4.0},"a":1e400}"#))
        #expect(try harness.fetch().body == #"{"one":{"z":1,"b":{"c":4.0},"a":1e400}}"#)
        harness.expectQuiet()
    }

    /// `accept` is [200-299] by default; any other accepted status is a success.
    @Test(arguments: [(404, true), (302, true), (500, false)])
    func otherStatusesCanBeAccepted(_ status: Int, _ isFine: Bool) throws {
        let harness = try GatewayHarness("one: { from: a, get: /1, accept: [200-299, 302, 404] }")
        harness.on("/1", .status(status, #"{"a":1}"#))
        #expect(try harness.fetch().status == (isFine ? 200 : 502))
        harness.expectQuiet()
    }

    /// A value that the client did not send skips the call, and the failure names the value.
    @Test(arguments: [
        ("{q}", "params.q"), ("{request.header.X-Q}", "request.header.X-Q"),
        ("{request.body.q}", "request.body.q"),
    ])
    func missingValueIsReportedByName(_ reference: String, _ because: String) throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: \"/\(reference)\", required: true }",
            endpoint: "route: POST /x\nparams: { q: { } }")
        let response = try harness.fetch(post(#"{"p":1}"#, to: "/x"))
        #expect(response.status == 400)
        #expect(
            response.failures == #"[{"call":"one","kind":"skipped","because":"\#(because)"}]"#)
        harness.expectQuiet()
    }
}
