import TestSupport
import Testing
import WorkerSupport

/// A complete response forbids caches what the responses of its calls forbid.
@Suite(.watched) struct StoringLimitsTests {
    private static let calls = """
        one: { from: a, get: /1 }
        two: { from: b, get: /2 }
        """

    @Test(
        arguments: [
            (nil, nil, nil), ("max-age=60", "public", nil),
            ("private", nil, "private"), (nil, "no-store", "no-store"),
            ("private", "max-age=5, no-store", "no-store"),
            ("No-Cache", "private", "private, no-cache"),
            ("private=\"set-cookie, x\", max-age=1", nil, "private"),
            ("x=\"a, no-store\"", nil, nil), ("no-storex", "x-private", nil),
            (#"x="a\"b", no-store"#, nil, "no-store"), (#"x="a\\", private"#, nil, "private"),
            (#"x="\", no-store""#, nil, nil), (#"x="a, b, no-store"#, nil, "no-store"),
        ] as [(String?, String?, String?)])
    func theMostRestrictiveIsSent(_ one: String?, _ two: String?, _ sent: String?) throws {
        let harness = try GatewayHarness(Self.calls)
        for (path, value) in [("/1", one), ("/2", two)] {
            harness.on(path, value.map { .ok("1", "Cache-Control: \($0)") } ?? .ok("1"))
        }
        let response = try harness.fetch()
        #expect(response["Gateway-Complete"] == "true" && response["Cache-Control"] == sent)
        harness.expectQuiet()
    }

    /// A fallback makes the response a partial one.
    @Test func partialResponseIsNotStored() throws {
        let harness = try GatewayHarness(Self.calls)
        harness.on("/1", .ok("1", "Cache-Control: private"))
        harness.on("/2", .status(500))
        #expect(try harness.fetch()["Cache-Control"] == "no-store")
        harness.expectQuiet()
    }

    @Test(arguments: [
        ("cache_control: max-age=5", "", "max-age=5"),
        ("", ", relay_headers: [Cache-Control]", "private, max-age=60"),
    ])
    func theConfigurationDecides(_ endpoint: String, _ call: String, _ sent: String) throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1\(call) }", endpoint: endpoint)
        harness.on("/1", .ok("1", "Cache-Control: private, max-age=60"))
        #expect(try harness.fetch()["Cache-Control"] == sent)
        harness.expectQuiet()
    }

    /// A call that relays its own header does not loosen another call's.
    @Test func relayedHeaderDoesNotReplaceALimit() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, relay_headers: [Cache-Control] }
            two: { from: b, get: /2 }
            """)
        harness.on("/1", .ok("1", "Cache-Control: public, max-age=60"))
        harness.on("/2", .ok("1", "Cache-Control: no-store"))
        #expect(try harness.fetch()["Cache-Control"] == "no-store")
        harness.expectQuiet()
    }
}
