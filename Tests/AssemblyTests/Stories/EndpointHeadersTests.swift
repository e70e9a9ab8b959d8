import TestSupport
import Testing
import WorkerSupport

/// `headers` of an endpoint: sent with all its calls; a call's own header of the same name wins, and
/// both win over the backend's and over forwarded ones.
@Suite(.watched) struct EndpointHeadersTests {
    private static let calls = """
        one: { from: a, get: /1 }
        two: { from: b, get: /2, headers: { x-user: own } }
        """

    @Test func allCallsSendThem() throws {
        let harness = try GatewayHarness(
            Self.calls,
            endpoint: #"headers: { X-User: "{request.header.X-Name}", X-Fixed: "yes" }"#)
        #expect(try harness.fetch(get("/x", "X-Name: ann")).status == 200)
        let sent = harness.seen.sorted { $0.target < $1.target }
        #expect(sent.map { $0["X-User"] } == ["ann", "own"])
        #expect(sent.map { $0["X-Fixed"] } == ["yes", "yes"])
        harness.expectQuiet()
    }

    /// The control: without the key no call has them.
    @Test func withoutTheKeyNoCallSendsThem() throws {
        let harness = try GatewayHarness(Self.calls)
        _ = try harness.fetch(get("/x", "X-Name: ann"))
        let sent = harness.seen.sorted { $0.target < $1.target }
        #expect(sent.map { $0["X-User"] } == [nil, "own"])
        harness.expectQuiet()
    }

    @Test func theyReplaceThoseOfTheBackendAndOfTheClient() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }",
            endpoint: "headers: { X-User: endpoint }\nforward: { headers: [X-User, X-Other] }",
            backend: "headers: { X-User: backend, X-Backend: b }")
        _ = try harness.fetch(get("/x", "X-User: client", "X-Other: client"))
        let sent = harness.seen.first
        #expect(sent?["X-User"] == "endpoint")
        #expect(sent?["X-Backend"] == "b" && sent?["X-Other"] == "client")
        harness.expectQuiet()
    }

    @Test func missingValueSkipsTheCallsThatSendIt() throws {
        let harness = try GatewayHarness(
            Self.calls, endpoint: #"headers: { X-User: "{request.header.X-Name}" }"#)
        #expect(
            try harness.fetch().failures
                == #"[{"call":"one","kind":"skipped","because":"request.header.X-Name"}]"#)
        #expect(harness.seen.map(\.target) == ["/2"])
        harness.expectQuiet()
    }

    @Test func optionalValueIsLeftOut() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }",
            endpoint: #"headers: { X-User: "{request.header.X-Name?}" }"#)
        #expect(try harness.fetch().status == 200)
        #expect(try harness.fetch(get("/x", "X-Name: ann")).status == 200)
        #expect(harness.seen.map { $0["X-User"] } == [nil, "ann"])
        harness.expectQuiet()
    }
}
