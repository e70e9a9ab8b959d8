import TestSupport
import Testing
import WorkerSupport

/// A header from the configuration replaces the client's header of the same name.
@Suite(.watched) struct HeaderPrecedenceTests {
    private func sent(
        _ call: String, endpoint: String = "", backend: String = "", _ lines: [String]
    ) throws -> ReceivedRequest? {
        let harness = try GatewayHarness(call, endpoint: endpoint, backend: backend)
        let client = try harness.send(request("GET", "/x", lines))
        _ = harness.response(of: client)
        harness.expectQuiet()
        return harness.seen.last
    }

    private static let forward = "forward: { headers: [X-User, x-api-key, Authorization] }"
    private static let lines = ["x-user: admin", "X-API-KEY: evil", "Authorization: a"]

    @Test func replacesTheClientsHeaderByTheCalls() throws {
        let seen = try sent(
            "one: { from: a, get: /1, headers: { X-User: alice } }", endpoint: Self.forward,
            Self.lines)
        #expect(seen?["X-User"] == "alice")
        // The positive control: a header that the configuration does not set is forwarded.
        #expect(seen?["X-Api-Key"] == "evil")
        #expect(seen?["Authorization"] == "a")
    }

    /// Many servers take `_` for `-`.
    @Test func replacesTheClientsHeaderInEverySpelling() throws {
        let seen = try sent(
            "one: { from: a, get: /1, headers: { X-User: alice, Y_User: bob } }",
            endpoint: "forward: { headers: [X_User, Y-User, X_Key, X_Free] }",
            backend: "headers: { X-Key: operator }",
            ["X_User: evil", "Y-User: evil", "X_Key: evil", "X_Free: 1"])
        #expect(seen?["X-User"] == "alice" && seen?["X_User"] == nil)
        #expect(seen?["Y_User"] == "bob" && seen?["Y-User"] == nil)
        #expect(seen?["X-Key"] == "operator" && seen?["X_Key"] == nil)
        // A listed name that nothing sets passes.
        #expect(seen?["X_Free"] == "1")
    }

    @Test func replacesTheClientsHeaderByTheBackends() throws {
        let seen = try sent(
            "one: { from: a, get: /1 }", endpoint: Self.forward,
            backend: "headers: { X-Api-Key: operator }", Self.lines)
        #expect(seen?["X-Api-Key"] == "operator")
        #expect(seen?["X-User"] == "admin")
    }

    @Test func replacesTheBackendsHeaderByTheCalls() throws {
        let seen = try sent(
            "one: { from: a, get: /1, headers: { x-api-key: call } }", endpoint: Self.forward,
            backend: "headers: { X-Api-Key: operator, X-Other: o }", Self.lines)
        #expect(seen?["X-Api-Key"] == "call")
        #expect(seen?["X-Other"] == "o")
    }

    /// A template counts as configured, whatever its value.
    @Test func replacesTheClientsHeaderByAResponseValue() throws {
        let harness = try GatewayHarness(
            """
            s: { from: b, get: /session, take: user }
            one: { from: a, get: /1, headers: { X-User: "{s}" } }
            """, endpoint: Self.forward)
        harness.on("/session", .ok(#"{"user":"alice"}"#))
        _ = try harness.fetch(request("GET", "/x", Self.lines))
        #expect(harness.seen.first { $0.target == "/1" }?["X-User"] == "alice")
        harness.expectQuiet()
    }

    @Test func bodyHasTheContentTypeOfTheBackendsHeaders() throws {
        let harness = try GatewayHarness(
            #"one: { from: a, post: /1, body: "<a/>" }"#,
            backend: "headers: { Content-Type: text/xml }")
        _ = try harness.fetch()
        #expect(harness.seen.first?["Content-Type"] == "text/xml")
        harness.expectQuiet()
    }
}
