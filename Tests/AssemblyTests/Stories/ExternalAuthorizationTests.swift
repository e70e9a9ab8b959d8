import TestSupport
import Testing
import WorkerSupport

/// External authorization: a required call that others wait for, and whose refusal is relayed with
/// its headers.
@Suite(.watched) struct ExternalAuthorizationTests {
    private static let calls = """
        authz:
          from: a
          get: /check
          forward: { headers: [Authorization] }
          required: true
          relay_status: [401, 403]
          relay_headers: [WWW-Authenticate, X-User]
          at: .
          keep: []
        orders: { from: b, get: /orders, after: [authz] }
        """

    @Test func othersAreCalledOnlyAfterItsSuccess() throws {
        let harness = try GatewayHarness(Self.calls)
        harness.on("/check", .ok(#"{"user":"ann"}"#, after: 30, "X-User: ann"))
        let response = try harness.fetch(get("/x", "Authorization: Bearer t"))
        #expect(response.summary == #"200 at 30 {"orders":"/orders"}"#)
        #expect(response["X-User"] == "ann" && response["Gateway-Complete"] == "true")
        #expect(harness.events == ["0 GET /check", "30 GET /orders"])
        #expect(harness.seen.map { $0["Authorization"] } == ["Bearer t", nil])
        harness.expectQuiet()
    }

    @Test(arguments: [401, 403]) func refusalIsRelayedWithItsHeaders(_ status: Int) throws {
        let harness = try GatewayHarness(Self.calls)
        harness.on(
            "/check",
            .status(
                status, #"{"internal":"secret"}"#, after: 30,
                "WWW-Authenticate: Bearer realm=\"a\"", "WWW-Authenticate: Basic realm=\"b\"",
                "X-Secret: 1"))
        let response = try harness.fetch()
        #expect(response.outcome == "\(status) at 30")
        #expect(response["WWW-Authenticate"] == #"Bearer realm="a" | Basic realm="b""#)
        #expect(response["X-Secret"] == nil && !response.body.contains("secret"))
        #expect(response["Content-Type"] == "application/problem+json")
        #expect(
            response.failures
                == #"[{"call":"authz","kind":"unexpected_status","status":\#(status)}]"#)
        #expect(harness.events == ["0 GET /check"])
        harness.expectQuiet()
    }

    @Test func bodyAndHeadersCanBeRelayedTogether() throws {
        let harness = try GatewayHarness(
            Self.calls.replacing("at: .", with: "at: .\n  relay_body: true"))
        harness.on(
            "/check",
            .status(401, "<no>", "Content-Type: text/html", "WWW-Authenticate: Bearer"))
        let response = try harness.fetch()
        #expect(response.summary == "401 at 0 <no>")
        #expect(
            response["Content-Type"] == "text/html" && response["WWW-Authenticate"] == "Bearer")
        harness.expectQuiet()
    }

    /// A status that is not relayed reveals nothing of the backend's response.
    @Test func headersOfAnotherStatusAreNotRelayed() throws {
        let harness = try GatewayHarness(Self.calls)
        harness.on("/check", .status(500, "{}", "WWW-Authenticate: Bearer", "X-User: ann"))
        let response = try harness.fetch()
        #expect(response.status == 502)
        #expect(response["WWW-Authenticate"] == nil && response["X-User"] == nil)
        harness.expectQuiet()
    }

    /// The gateway's own headers are kept.
    @Test func relayedHeaderDoesNotReplaceOneOfTheGateway() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, required: true, relay_status: [503], relay_headers: [Retry-After, Cache-Control], relay_body: true }
            """)
        harness.on("/1", .status(503, "{}", "Retry-After: 7", "Cache-Control: public"))
        let response = try harness.fetch()
        #expect(response["Cache-Control"] == "no-store" && response["Retry-After"] == "7")
        harness.expectQuiet()
    }

    /// The failure of an optional call determines no status, and relays nothing.
    @Test func optionalCallRelaysNothing() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, relay_headers: [WWW-Authenticate] }
            two: { from: b, get: /2 }
            """)
        harness.on("/1", .status(404, "{}", "WWW-Authenticate: Bearer"))
        let response = try harness.fetch()
        #expect(response.status == 200 && response["WWW-Authenticate"] == nil)
        harness.expectQuiet()
    }
}
