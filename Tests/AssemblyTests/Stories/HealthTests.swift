import HTTP
import TestSupport
import Testing
import WorkerSupport

/// `health`: hosts are checked, and calls go to healthy hosts only.
@Suite(.watched) struct HealthTests {
    private static let backend =
        "urls: [\"http://127.0.0.1:7001/a\", \"http://127.0.0.1:7002/b\"],"
        + " balance: round_robin, health: { path: /up, every: 2s }"

    private func harness(_ call: String = "one: { from: a, get: /1 }") throws -> GatewayHarness {
        try GatewayHarness(call, backend: Self.backend)
    }

    /// The hosts that this number of calls reach.
    private func hosts(of count: Int, _ harness: GatewayHarness) throws -> String {
        let before = harness.seen.count
        for _ in 0..<count { _ = try harness.fetch() }
        return harness.seen.dropFirst(before).filter { $0.target.hasSuffix("1") }
            .map { String($0.target.dropFirst().prefix(1)) }.joined()
    }

    @Test func checksEveryHostFromTheStart() throws {
        let harness = try harness()
        harness.pass(4_001)
        #expect(
            harness.events == [
                "0 GET /a/up", "0 GET /b/up", "2000 GET /a/up", "2000 GET /b/up", "4000 GET /a/up",
                "4000 GET /b/up",
            ])
        harness.expectQuiet()
    }

    @Test func twoFailedChecksMakeAHostUnavailableUntilOneSucceeds() throws {
        let harness = try harness()
        harness.on("/a/up", .status(503), .status(503), .ok("1"))
        harness.pass(100)
        #expect(try hosts(of: 4, harness) == "abab")
        harness.pass(2_000)
        #expect(try hosts(of: 4, harness) == "bbbb")
        #expect(try harness.unavailableHosts() == 1)
        harness.pass(2_000)
        #expect(try hosts(of: 4, harness).count { $0 == "a" } == 2)
        harness.expectQuiet()
    }

    @Test(arguments: ["hangs", "closes", "refuses", "redirects"])
    func everyUnsuccessfulResponseFailsTheCheck(_ how: String) throws {
        let harness = try harness()
        switch how {
        case "hangs": harness.on("/a/up", .hangs)
        case "closes": harness.on("/a/up", .closes())
        case "refuses": harness.backend(7001)?.refuse()
        default: harness.on("/a/up", .status(302))
        }
        harness.pass(3_100)
        #expect(try hosts(of: 4, harness) == "bbbb")
        harness.expectQuiet()
    }

    /// A second, or `every` if that is shorter.
    @Test(arguments: [
        ("2s", 990, "abab"), ("2s", 1010, "bbbb"), ("300ms", 290, "abab"), ("300ms", 310, "bbbb"),
    ])
    func checkMustSucceedWithinASecond(_ every: String, _ after: Int, _ reached: String) throws {
        let backend = Self.backend.replacing("every: 2s", with: "every: \(every)")
        let harness = try GatewayHarness("one: { from: a, get: /1 }", backend: backend)
        harness.on("/a/up", .ok("1", after: after))
        harness.pass(3_500)
        #expect(try hosts(of: 4, harness) == reached)
        harness.expectQuiet()
    }

    @Test func failsCallsWhenNoHostIsHealthy() throws {
        let harness = try harness("one: { from: a, get: /1, required: true }")
        harness.on("/a/up", .status(500))
        harness.on("/b/up", .status(500))
        harness.pass(2_100)
        let before = harness.seen.count
        let response = try harness.fetch()
        #expect(response.status == 503 && response["Retry-After"] == "1")
        #expect(response.failures == #"[{"call":"one","kind":"destination_unavailable"}]"#)
        #expect(harness.seen.count == before)
        harness.expectQuiet()
    }

    @Test func reloadKeepsHostHealth() throws {
        let harness = try harness()
        harness.on("/a/up", .status(500))
        harness.pass(2_100)
        try harness.install(
            GatewayHarness.text("one: { from: a, get: /1, timeout: 1s }", "", Self.backend))
        #expect(try hosts(of: 4, harness) == "bbbb")
        harness.expectQuiet()
    }

    /// Host 7001 is unhealthy; other hosts, their order and other settings do not change that.
    @Test(arguments: [
        (["7001/a", "7002/b", "7003/c"], "bbcb"), (["7002/b", "7001/a"], "bbbb"),
        (["7001/a"], ""), (["7001/n"], "nnnn"),
    ])
    func reloadKeepsTheHealthOfEachHostThatStays(_ hosts: [String], _ called: String) throws {
        let harness = try harness()
        harness.on("/a/up", .status(500))
        harness.on("/n/up", .hangs)
        harness.pass(2_100)
        try harness.install(
            GatewayHarness.text(
                "one: { from: a, get: /1 }", "",
                "urls: \(hosts.map { "http://127.0.0.1:\($0)" }), balance: round_robin,"
                    + " health: { path: /up, every: 3s }, eject: { after: 9 }"))
        #expect(try self.hosts(of: 4, harness) == called)
        harness.expectQuiet()
    }

    @Test func unhealthyHostThatStaysReturnsWithItsNextSuccessfulCheck() throws {
        let harness = try harness()
        harness.on("/a/up", .status(500), .status(500), .ok("1", after: 10))
        harness.pass(2_100)
        try harness.install(
            GatewayHarness.text(
                "one: { from: a, get: /1 }", "",
                #"urls: ["http://127.0.0.1:7001/a"], health: { path: /up, every: 2s }"#))
        harness.pass(9)
        #expect(try harness.unavailableHosts() == 1)
        harness.pass(1)
        #expect(try harness.unavailableHosts() == 0)
        harness.expectQuiet()
    }

    @Test func reloadWithoutHealthStopsTheChecks() throws {
        let harness = try harness()
        harness.pass(100)
        try harness.install(GatewayHarness.text("one: { from: a, get: /1 }"))
        let before = harness.seen.count
        harness.pass(10_000)
        #expect(harness.seen.count == before)
        harness.expectQuiet()
    }

    @Test func checksCarryTheBackendsHeaders() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }",
            backend: "headers: { X-Key: k }, health: { path: \"/up?a=1\" }")
        harness.pass(10)
        #expect(harness.seen.first?.target == "/up?a=1")
        #expect(harness.seen.first?["X-Key"] == "k")
        #expect(harness.seen.first?["User-Agent"] == "tributary/\(Product.version)")
        #expect(harness.seen.first?["Host"] == "127.0.0.1:7001")
        harness.expectQuiet()
    }
}
