import Basics
import TestSupport
import Testing
import WorkerSupport

@testable import Process

/// Outages, and what an operator reads in the metrics: whether requests fail, and which backend is the
/// cause. `script/verify metrics` reads the alerts in the same outages.
@Suite(.watched) struct OutageTests {
    /// `product` decides about `stock`, which needs it, and about `news`, which runs beside it.
    private static let calls = """
        product: { from: a, get: /1, required: true, timeout: 300ms, relay_status: [404] }
        stock: { from: b, get: "/2?id={product.id}", required: true }
        news: { from: c, get: /3 }
        """

    /// The requests of one endpoint, and the backends that fail.
    private struct Reading: Equatable {
        var ok = 0.0
        var rejected = 0.0
        var failed = 0.0
        var partial = 0.0
        /// The backends that the alert `TributaryCallsFail` names.
        var failingBackends: [String] = []
    }

    private func reading(of page: ExpositionText) -> Reading {
        func sum(_ name: String, where isIncluded: ([String: String]) -> Bool) -> Double {
            page.samples.filter { $0.name == name && isIncluded($0.labels) }
                .reduce(0) { $0 + $1.value }
        }
        func responses(_ statusClass: Character) -> Double {
            sum("tributary_requests_total") {
                $0["endpoint"] == "GET /x" && $0["status"]?.first == statusClass
            }
        }
        let failing = ["a", "b", "c"].filter { backend in
            let made = sum("tributary_calls_total") {
                $0["backend"] == backend && !["cancelled", "skipped"].contains($0["outcome"])
            }
            let failed = sum("tributary_calls_total") {
                $0["backend"] == backend
                    && (!["ok", "unexpected_status", "cancelled", "skipped"].contains($0["outcome"])
                        || $0["status"] == "5xx")
            }
            return failed > 0.05 * made
        }
        return Reading(
            ok: responses("2"), rejected: responses("4"), failed: responses("5"),
            partial: sum("tributary_requests_partial_total") { $0["endpoint"] == "GET /x" },
            failingBackends: failing)
    }

    private func reading(_ prepare: (GatewayHarness) -> Void) throws -> Reading {
        let harness = try GatewayHarness(Self.calls)
        harness.on("/1", .ok(#"{"id":7}"#))
        prepare(harness)
        for _ in 0..<10 { _ = try harness.fetch() }
        let page = try harness.metricsPage()
        // Its duration would depend on the call that failed.
        #expect(
            page.value("tributary_call_duration_seconds_count", ["backend": "a"]) == 10)
        harness.expectQuiet()
        return reading(of: page)
    }

    @Test func nothingFails() throws {
        #expect(try reading { _ in } == Reading(ok: 10))
    }

    @Test func theFirstRequiredBackendHangs() throws {
        let reading = try reading {
            $0.on("/1", .hangs)
            $0.on("/3", .ok("{}", after: 10_000))
        }
        #expect(reading == Reading(failed: 10, failingBackends: ["a"]))
    }

    @Test func anOptionalBackendFails() throws {
        let reading = try reading { $0.on("/3", .status(500)) }
        #expect(reading == Reading(ok: 10, partial: 10, failingBackends: ["c"]))
    }

    @Test func clientsRequestUnknownProducts() throws {
        let reading = try reading { $0.on("/1", .status(404)) }
        #expect(reading == Reading(rejected: 10))
    }
}
