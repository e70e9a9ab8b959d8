import TestSupport
import Testing

/// Sentences of the contract's fine print that no other story tells.
@Suite(.watched) struct FinePrintTests {
    /// "Refusals of ours (4xx) carry none."
    @Test(arguments: [
        ("GET", "/nowhere", 404), ("DELETE", "/x", 405), ("GET", "/x?n=a", 400),
        ("GET", "/x?n=1&n=2", 400),
    ])
    func ourRefusalsSayNothingOfCompleteness(
        _ method: String, _ target: String, _ status: Int
    ) throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", endpoint: "params: { n: { type: integer } }")
        let answer = try harness.ask(request(method, target))
        #expect(answer.status == status)
        #expect(answer["Gateway-Complete"] == nil)
        #expect(answer["Content-Type"] == "application/problem+json")
        harness.expectQuiet()
    }

    /// "A call's `body` goes out as `application/json` unless `headers` says otherwise."
    @Test(arguments: [
        ("", "application/json"), (", headers: { Content-Type: text/plain }", "text/plain"),
        (", headers: { content-type: a/b }", "a/b"),
    ])
    func aBodyHasAType(_ more: String, _ type: String) throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1, body: { a: 1 }\(more) }", endpoint: "route: POST /x")
        _ = try harness.ask(post("", to: "/x"))
        #expect(harness.seen.first?["Content-Type"] == type)
        #expect(harness.seen.first?.body == #"{"a":1}"#)
        harness.expectQuiet()
    }

    /// "Where `body` is declared, a missing or malformed JSON body is a 400 whatever its Content-Type
    /// says; where it is not, any bytes pass."
    @Test(arguments: [
        ("body: { }", "", 400), ("body: { }", "<xml/>", 400), ("body: { }", "{}", 200),
        ("report: off", "<xml/>", 200), ("report: off", "", 400),
    ])
    func bodies(_ endpoint: String, _ body: String, _ status: Int) throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1, body: \"{request.body}\", required: true }",
            endpoint: "route: POST /x\n\(endpoint)")
        let answer = try harness.ask(post(body, to: "/x", "Content-Type: text/xml"))
        #expect(answer.status == status)
        #expect(harness.seen.map(\.body) == (status == 200 ? [body] : []))
        harness.expectQuiet()
    }

    /// "Skipped and cancelled calls do not vote in 'all timed out' and 'all refused by us'."
    @Test func skippedCallsHaveNoVote() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, timeout: 50ms }
            two: { from: b, get: "/2/{one.id}" }
            """)
        harness.on("/1", .hangs)
        #expect(try harness.ask().status == 504)
        harness.expectQuiet()
    }

    /// "`keep`: key order is the source's."
    @Test func whatIsKeptStaysInTheSourcesOrder() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1, keep: [a, b.c, z] }")
        harness.on("/1", .ok(#"{"z":1,"x":2,"b":{"d":3,"c":4.0},"a":1e400}"#))
        #expect(try harness.ask().body == #"{"one":{"z":1,"b":{"c":4.0},"a":1e400}}"#)
        harness.expectQuiet()
    }

    /// "`accept: [200-299]` by default"; what is accepted otherwise is an ordinary answer.
    @Test(arguments: [(404, true), (302, true), (500, false)])
    func otherStatusesMayBeAccepted(_ status: Int, _ isFine: Bool) throws {
        let harness = try GatewayHarness("one: { from: a, get: /1, accept: [200-299, 302, 404] }")
        harness.on("/1", .status(status, #"{"a":1}"#))
        #expect(try harness.ask().status == (isFine ? 200 : 502))
        harness.expectQuiet()
    }

    /// "An unset query parameter": a value that the client did not send skips the call, and the reason
    /// names it.
    @Test(arguments: [
        ("{q}", "params.q"), ("{request.header.X-Q}", "request.header.X-Q"),
        ("{request.body.q}", "request.body.q"),
    ])
    func aMissingValueIsNamed(_ reference: String, _ because: String) throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: \"/\(reference)\", required: true }",
            endpoint: "route: POST /x\nparams: { q: { } }")
        let answer = try harness.ask(post(#"{"p":1}"#, to: "/x"))
        #expect(answer.status == 400)
        #expect(
            answer.failures == #"[{"call":"one","kind":"skipped","because":"\#(because)"}]"#)
        harness.expectQuiet()
    }
}
