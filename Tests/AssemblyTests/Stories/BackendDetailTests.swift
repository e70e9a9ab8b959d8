import Assembly
import Basics
import Gateway
import HTTPClient
import TestSupport
import Testing
import WorkerSupport

/// The states of backends and hosts, as a snapshot shows them.
@Suite(.watched) struct BackendDetailTests {
    private func detail(_ harness: GatewayHarness) throws -> BackendDetail {
        let details = try #require(harness.instance).snapshot.backendDetails
        return try #require(details.first { $0.name == "a" })
    }

    private func states(_ harness: GatewayHarness) throws -> [BackendDetail.HostState] {
        try detail(harness).hosts.map(\.state)
    }

    @Test func showsConnectionsAndPermits() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }\ntwo: { from: a, get: /2 }\nthree: { from: a, get: /3 }",
            backend: "max_concurrent: 2, queue: { size: 5, wait: 1s }")
        harness.on("/1", .ok("1", after: 100))
        harness.on("/2", .ok("1", after: 50))
        _ = try harness.send(get())
        harness.pass(10)
        let busy = try detail(harness)
        #expect(
            busy.limit
                == BackendDetail.Limit(permitsUsed: 2, permits: 2, queued: 1, queueSize: 5))
        #expect(busy.hosts[0].usage.inUse == 2 && busy.hosts[0].usage.idle == 0)
        #expect(busy.hosts[0].name == "127.0.0.1:7001" && busy.breaker == nil)
        harness.pass(200)
        let idle = try detail(harness)
        #expect(idle.hosts[0].usage.inUse == 0 && idle.hosts[0].usage.idle == 2)
        #expect(idle.outcomes.first?.count == 3 && idle.isUsable)
        harness.expectQuiet()
    }

    @Test func showsUnhealthyHostsWithTheReason() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }",
            backend: "urls: [\"http://127.0.0.1:7001/a\", \"http://127.0.0.1:7002/b\"],"
                + " health: { path: /up, every: 2s, readiness: true }")
        harness.on("/a/up", .status(503), .hangs, .ok("1"))
        harness.on("/b/up", .ok("1"), .ok("1"), .status(500))
        harness.pass(100)
        let first = try detail(harness)
        #expect(first.isRequiredForReadiness && first.hosts.map(\.state) == [.usable, .usable])
        #expect(
            first.hosts[0].failedCheck
                == BackendDetail.FailedCheck(reason: "status 503", age: .milliseconds(100)))
        harness.pass(3_000)
        #expect(try states(harness) == [.unhealthy, .usable])
        #expect(try detail(harness).hosts[0].failedCheck?.reason == "http_response_timeout")
        harness.pass(4_000)
        #expect(try states(harness) == [.usable, .unhealthy])
        #expect(try detail(harness).hosts[0].failedCheck == nil)
        harness.expectQuiet()
    }

    @Test func isNotUsableWithoutAHealthyHost() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", backend: "health: { path: /up, every: 1s }")
        harness.on("/up", .status(500), .status(500), .ok("1"))
        harness.pass(1_100)
        #expect(try !detail(harness).isUsable && states(harness) == [.unhealthy])
        harness.pass(1_000)
        #expect(try detail(harness).isUsable && states(harness) == [.usable])
        harness.expectQuiet()
    }

    @Test func showsEjectedHostsAndOpenBreakers() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }",
            backend: "urls: [\"http://127.0.0.1:7001/a\", \"http://127.0.0.1:7002/b\"],"
                + " balance: round_robin, eject: { after: 1, for: 10s },"
                + " breaker: { min_requests: 2, open_at: 50%, try_again_after: 20s }")
        harness.on("/a/1", .status(500))
        #expect(try detail(harness).breaker == .closed)
        _ = try harness.fetch()
        #expect(try states(harness) == [.ejected(for: .seconds(10)), .usable])
        harness.pass(1_000)
        #expect(try states(harness) == [.ejected(for: .seconds(9)), .usable])
        _ = try harness.fetch()
        harness.on("/b/1", .status(500))
        _ = try harness.fetch()
        #expect(try detail(harness).breaker == .open(for: .seconds(20)))
        harness.pass(30_000)
        #expect(try states(harness) == [.usable, .usable])
        #expect(try detail(harness).breaker == .open(for: .zero))
        harness.expectQuiet()
    }

    @Test func showsUnresolvedHosts() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", backend: "urls: [\"http://nowhere.test:80\"]")
        #expect(try states(harness) == [.usable], "it was not looked up yet")
        _ = try harness.fetch()
        #expect(try states(harness) == [.unresolved])
        harness.expectQuiet()
    }
}
