import TestSupport
import Testing
import WorkerSupport

/// A backend with several hosts: the least busy one is called; if it refuses, the next one.
@Suite(.watched) struct HostsTests {
    static let hosts = #"urls: ["http://127.0.0.1:7001", "http://127.0.0.1:7002"]"#
    static let call = "one: { from: a, get: /1, required: true }"

    @Test func equallyBusyHostsTakeTurns() throws {
        let harness = try GatewayHarness(Self.call, backend: Self.hosts)
        for _ in 1...4 { _ = try harness.fetch() }
        #expect(harness.seen.map(\.port) == [7001, 7002, 7001, 7002])
        harness.expectQuiet()
    }

    @Test func callsTheLeastBusyHost() throws {
        let harness = try GatewayHarness(Self.call, backend: Self.hosts)
        harness.on("/1", .ok("1", after: 500), .ok("1"))
        _ = try harness.send(get())
        for _ in 1...3 { _ = try harness.fetch() }
        #expect(harness.seen.map(\.port) == [7001, 7002, 7002, 7002])
        harness.expectQuiet()
    }

    @Test func roundRobinIgnoresLoad() throws {
        let harness = try GatewayHarness(Self.call, backend: Self.hosts + ", balance: round_robin")
        harness.on("/1", .ok("1", after: 500), .ok("1"))
        _ = try harness.send(get())
        for _ in 1...3 { _ = try harness.fetch() }
        #expect(harness.seen.map(\.port) == [7001, 7002, 7001, 7002])
        harness.expectQuiet()
    }

    @Test func triesTheNextHostWhenOneRefuses() throws {
        let harness = try GatewayHarness(Self.call, backend: Self.hosts)
        harness.backend(7001)?.refuse()
        #expect(
            try (1...4).map { _ in try harness.fetch().outcome }
                == Array(repeating: "200 at 0", count: 4))
        #expect(harness.seen.map(\.port) == [7002, 7002, 7002, 7002])
        harness.expectQuiet()
    }

    @Test func triesTheNextHostForAnUnsentPost() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x", backend: Self.hosts)
        harness.backend(7001)?.refuse()
        #expect(try harness.fetch(post("1")).status == 200)
        harness.expectQuiet()
    }

    @Test func triesTheNextHostAfterAConnectTimeout() throws {
        let harness = try GatewayHarness(
            Self.call, backend: Self.hosts + ", connect_timeout: 100ms")
        harness.silence(7001)
        #expect(try harness.fetch().outcome == "200 at 100")
        harness.expectQuiet()
    }

    @Test func doesNotTryTheNextHostAfterSending() throws {
        let harness = try GatewayHarness(Self.call, backend: Self.hosts)
        harness.on("/1", .closes())
        #expect(try harness.fetch().status == 502)
        #expect(harness.seen.map(\.port) == [7001])
        harness.expectQuiet()
    }

    @Test func callFailsWhenAllHostsRefuse() throws {
        let harness = try GatewayHarness(Self.call, backend: Self.hosts)
        harness.backend(7001)?.refuse()
        harness.backend(7002)?.refuse()
        let response = try harness.fetch()
        #expect(response.outcome == "502 at 0")
        #expect(response.failures == #"[{"call":"one","kind":"connection_refused"}]"#)
        harness.expectQuiet()
    }

    @Test func pathOfTheHostPrecedesThatOfTheCall() throws {
        let harness = try GatewayHarness(
            Self.call, backend: #"urls: ["http://127.0.0.1:7001/v1/"]"#)
        _ = try harness.fetch()
        #expect(harness.seen.map(\.target) == ["/v1/1"])
        #expect(harness.seen.map { $0["Host"] } == ["127.0.0.1:7001"])
        harness.expectQuiet()
    }
}
