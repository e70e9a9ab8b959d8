import Basics
import Foundation
import Gateway
import HTTP
import TestSupport
import Testing
import WorkerSupport

@testable import Assembly
@testable import Process

/// Which calls count as failures of their backend, on the page and in the metrics: not those that the
/// gateway did not make or cancelled, and not those whose client was wrong.
@Suite(.watched) struct BlameTests {
    /// `first` decides about `second`, which needs it, and about `third`, which runs beside it.
    private static let calls = """
        first: { from: a, get: /1, required: true, timeout: 300ms, relay_status: [404, 401] }
        second: { from: b, get: "/2?id={first.id}", required: true }
        third: { from: c, get: /3 }
        """

    private func harness() throws -> GatewayHarness {
        try GatewayHarness(Self.calls, top: "admin: 127.0.0.1:9901")
    }

    private func overview(_ harness: GatewayHarness) throws -> WorkerOverview {
        let answer = harness.instance?.answer(RecentQuery(number: 1, .overview))
        guard case .overview(let overview)? = answer?.content else { throw NoOverview() }
        return overview
    }

    private struct NoOverview: Error {}

    /// The entries of the endpoint's calls on the page.
    private func calls(_ harness: GatewayHarness) throws -> [[String: Any]] {
        let endpoint = try #require(overview(harness).endpoints.first)
        var summary = EndpointSummary(endpoint.names.name, isPadded: false)
        summary.add(endpoint)
        var json: [UInt8] = []
        summary.append(to: &json)
        let object = try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any]
        return try #require(object?["calls"] as? [[String: Any]])
    }

    private func durations(of backend: String, _ harness: GatewayHarness) throws -> Int {
        let calls = try #require(harness.instance).snapshot.meter.calls
        let call = try #require(calls.first { $0.labels == CallLabels(backend: backend) })
        return Int(call.durations.histogram.count)
    }

    @Test func onlyTheBackendThatHangsHasFailures() throws {
        let harness = try harness()
        harness.on("/1", .ok("{}", after: 10_000))
        harness.on("/3", .ok("{}", after: 10_000))
        for _ in 0..<3 { #expect(try harness.fetch().status == 504) }
        let calls = try calls(harness)
        #expect(calls.map { $0["made"] as? Int } == [3, 0, 3])
        #expect(calls.map { $0["failed"] as? Int } == [3, 0, 0])
        #expect(calls.map { $0["cancelled"] as? Int } == [0, 0, 3])
        #expect(calls.map { $0["p50_ms"] != nil } == [true, false, false])
        #expect(try harness.outcomes(of: "a") == "http_response_timeout 3")
        #expect(try harness.outcomes(of: "b") == "skipped 3")
        #expect(try harness.outcomes(of: "c") == "cancelled 3")
        #expect(try durations(of: "a", harness) == 3)
        #expect(try durations(of: "c", harness) == 0, "until a cancellation")
        harness.expectQuiet()
    }

    @Test(arguments: [404, 401]) func aRelayedStatusIsNoFailure(_ status: Int) throws {
        let harness = try harness()
        harness.on("/1", .status(status))
        #expect(try harness.fetch().status == status)
        #expect(try calls(harness).map { $0["failed"] as? Int } == [0, 0, 0])
        let outcomes = try #require(overview(harness).backends.first).outcomes
        #expect(
            outcomes.filter { $0.count > 0 }
                == [CallMetrics.Outcome(name: "unexpected_status", status: "4xx", count: 1)])
        harness.expectQuiet()
    }

    /// The control.
    @Test func aStatusFrom500OnIsAFailure() throws {
        let harness = try harness()
        harness.on("/1", .status(503))
        _ = try harness.fetch()
        #expect(try calls(harness).map { $0["failed"] as? Int } == [1, 0, 0])
        let outcomes = try #require(overview(harness).backends.first).outcomes
        #expect(
            outcomes.filter { $0.count > 0 }
                == [CallMetrics.Outcome(name: "unexpected_status", status: "5xx", count: 1)])
        harness.expectQuiet()
    }

    @Test func aProxiedStatusHasItsClass() throws {
        let harness = try GatewayHarness(
            config: """
                version: 1
                admin: 127.0.0.1:9901
                backends: { a: { url: "http://127.0.0.1:7001" } }
                endpoints: [{ route: GET /x, proxy: { to: a, path: /1 } }]
                """)
        harness.on("/1", .ok("1"), .status(404), .status(500))
        for _ in 0..<3 { _ = try harness.fetch() }
        #expect(try calls(harness).map { $0["failed"] as? Int } == [1])
        let outcomes = try #require(overview(harness).backends.first).outcomes
        #expect(outcomes.filter { $0.count > 0 }.map(\.status) == ["2xx", "4xx", "5xx"])
        #expect(outcomes.allSatisfy { $0.name == "ok" })
        harness.expectQuiet()
    }

    @Test(
        arguments: [
            (.none, 0, .none), (.succeeded, 200, .good), (.succeeded, 404, .good),
            (.succeeded, 500, .failed), (.failed(.skipped), 0, .none),
            (.failed(.cancelled), 0, .none), (.failed(.unexpectedStatus), 399, .failed),
            (.failed(.unexpectedStatus), 400, .rejected),
            (.failed(.unexpectedStatus), 499, .rejected),
            (.failed(.unexpectedStatus), 500, .failed), (.failed(.invalidJSON), 404, .failed),
            (.failed(.responseTimeout), 0, .failed), (.failed(.breakerOpen), 0, .failed),
        ] as [(CallRecord.Outcome, UInt16, CallEnd)])
    func theEndOfACallDependsOnKindAndStatus(
        _ outcome: CallRecord.Outcome, _ status: UInt16, _ end: CallEnd
    ) {
        #expect(CallEnd(outcome, status: status) == end)
    }
}
