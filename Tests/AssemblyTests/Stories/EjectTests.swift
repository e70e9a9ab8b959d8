import TestSupport
import Testing
import WorkerSupport

/// `eject`: a host that fails repeatedly is removed from load balancing for a while.
@Suite(.watched) struct EjectTests {
    /// Host 7001 has the paths `/a/...`, host 7002 `/b/...`; they are called in turn.
    private func harness(_ eject: String = "eject: { after: 2, for: 5s }") throws -> GatewayHarness
    {
        try GatewayHarness(
            "one: { from: a, get: /1 }",
            backend: "urls: [\"http://127.0.0.1:7001/a\", \"http://127.0.0.1:7002/b\"],"
                + " balance: round_robin, \(eject)")
    }

    /// The hosts that this number of requests reach.
    private func hosts(of count: Int, _ harness: GatewayHarness) throws -> String {
        let before = harness.seen.count
        for _ in 0..<count { _ = try harness.fetch() }
        return harness.seen.dropFirst(before).map { String($0.target.dropFirst().prefix(1)) }
            .joined()
    }

    @Test func ejectsAHostAfterTwoFailures() throws {
        let harness = try harness()
        harness.on("/a/1", .status(500))
        #expect(try hosts(of: 6, harness) == "ababbb")
        harness.pass(4_999)
        #expect(try hosts(of: 2, harness) == "bb")
        harness.pass(1)
        #expect(try hosts(of: 2, harness).contains("a"))
        harness.expectQuiet()
    }

    @Test func hostReturnsAfterItsEjection() throws {
        let harness = try harness()
        harness.on("/a/1", .status(500), .status(500), .ok("1"))
        #expect(try hosts(of: 4, harness) == "abab")
        harness.pass(5_000)
        #expect(try hosts(of: 6, harness).count { $0 == "a" } == 3)
        harness.expectQuiet()
    }

    @Test func ejectionTimeGrows() throws {
        let harness = try harness()
        harness.on("/a/1", .status(500))
        _ = try hosts(of: 4, harness)
        harness.pass(5_000)
        #expect(try hosts(of: 4, harness).count { $0 == "a" } == 2)
        harness.pass(9_999)
        #expect(try hosts(of: 4, harness) == "bbbb")
        harness.pass(1)
        #expect(try hosts(of: 2, harness).contains("a"))
        harness.expectQuiet()
    }

    @Test func ejectsAtMostHalfOfTheHosts() throws {
        let harness = try harness()
        harness.on("/a/1", .status(500))
        harness.on("/b/1", .status(500))
        #expect(Set(try hosts(of: 20, harness).suffix(10)) == ["b"])
        harness.expectQuiet()
    }

    /// A refused call goes to the other host at once and counts as a failure.
    @Test func ejectsAHostThatRefusesConnections() throws {
        let harness = try harness()
        harness.backend(7001)?.refuse()
        #expect(try hosts(of: 4, harness) == "bbbb")
        #expect(try harness.unavailableHosts() == 1)
        harness.pass(5_000)
        #expect(try harness.unavailableHosts() == 0)
        harness.expectQuiet()
    }

    @Test(arguments: [404, 429]) func clientErrorStatusIsNotAFailure(_ status: Int) throws {
        let harness = try harness()
        harness.on("/a/1", .status(status))
        #expect(try hosts(of: 6, harness) == "ababab")
        harness.expectQuiet()
    }

    @Test func withoutEjectNoHostIsEjected() throws {
        let harness = try harness("max_concurrent: 9")
        harness.on("/a/1", .status(500))
        #expect(try hosts(of: 12, harness) == "abababababab")
        harness.expectQuiet()
    }

    /// Host 7001 is ejected for 5 s; other hosts, their order and other settings do not change that.
    @Test(arguments: [
        (["7001/a", "7002/b"], "eject: { after: 2, for: 5s }"),
        (["7001/a", "7002/b"], "eject: { after: 3, for: 1s }"),
        (["7001/a", "7002/b"], "eject: {}, health: { path: /up }"),
        (["7003/b", "7001/a"], "eject: { after: 2, for: 9s }"),
    ])
    func reloadKeepsTheEjectionOfEachHostThatStays(_ hosts: [String], _ eject: String) throws {
        let harness = try harness()
        harness.on("/a/1", .status(500), .status(500), .ok("1"))
        _ = try self.hosts(of: 4, harness)
        harness.pass(100)
        try harness.install(
            GatewayHarness.text(
                "one: { from: a, get: /1, timeout: 1s }", "",
                "urls: \(hosts.map { "http://127.0.0.1:\($0)" }), balance: round_robin, \(eject)"))
        harness.pass(4_899)
        #expect(try self.hosts(of: 4, harness) == "bbbb")
        harness.pass(1)
        #expect(try self.hosts(of: 4, harness).count { $0 == "a" } == 2)
        harness.expectQuiet()
    }

    /// A single failure after the reload ejects the host.
    @Test func reloadKeepsTheFailuresInARow() throws {
        let harness = try harness()
        harness.on("/a/1", .status(500))
        #expect(try hosts(of: 2, harness) == "ab")
        try harness.install(
            GatewayHarness.text(
                "one: { from: a, get: /1 }", "",
                "urls: [\"http://127.0.0.1:7001/a\", \"http://127.0.0.1:7002/b\"],"
                    + " balance: round_robin, eject: { after: 2, for: 6s }"))
        #expect(try hosts(of: 4, harness) == "abbb")
        harness.expectQuiet()
    }

    @Test func reloadWithoutEjectEndsEjections() throws {
        let harness = try harness()
        harness.on("/a/1", .status(500))
        _ = try hosts(of: 4, harness)
        try harness.install(
            GatewayHarness.text(
                "one: { from: a, get: /1 }", "",
                "urls: [\"http://127.0.0.1:7001/a\", \"http://127.0.0.1:7002/b\"],"
                    + " balance: round_robin, health: { path: /up }"))
        harness.pass(1)
        #expect(try hosts(of: 4, harness) == "abab")
        harness.expectQuiet()
    }
}
