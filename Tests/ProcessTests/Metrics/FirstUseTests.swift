import Basics
import Gateway
import TestSupport
import Testing
import WorkerSupport

@testable import Assembly
@testable import Process

/// Which time series a page has before and after the first request, and how many hosts have names.
@Suite(.watched) struct FirstUseTests {
    @Test func seriesOfAnEndpointAppearTogetherWithItsFirstRequest() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", endpoint: "max_in_flight: 2")
        let before = try harness.metricsPage()
        #expect(!before.samples.contains { $0.labels["endpoint"] == "GET /x" })
        #expect(!before.samples.contains { $0.name == "tributary_calls_total" })
        #expect(!before.samples.contains { $0.name == "tributary_attempts_total" })
        // Of the process, and of the state of backends.
        #expect(before.value("tributary_requests_total", ["endpoint": "", "status": "404"]) == 0)
        #expect(before.value("tributary_refused_total", ["reason": "max_in_flight"]) == 0)
        #expect(before.value("tributary_client_requests_total", ["version": "2"]) == 0)
        #expect(before.value("tributary_breakers_open", ["backend": "a"]) == 0)
        _ = try harness.fetch()
        let after = try harness.metricsPage()
        let endpoint = ["endpoint": "GET /x"]
        #expect(after.value("tributary_requests_partial_total", endpoint) == 0)
        #expect(after.value("tributary_endpoint_deadline_seconds", endpoint) == 5)
        #expect(after.value("tributary_endpoint_requests_in_flight", endpoint) == 0)
        for (status, count) in [("200", 1.0), ("502", 0), ("504", 0)] {
            let labels = ["endpoint": "GET /x", "status": status]
            #expect(after.value("tributary_requests_total", labels) == count)
        }
        #expect(
            after.value(
                "tributary_calls_total", ["backend": "a", "outcome": "http_response_timeout"]) == 0)
        // No request has used the others.
        #expect(
            !after.samples.contains { $0.name.contains("_calls_") && $0.labels["backend"] == "b" })
        harness.expectQuiet()
    }

    @Test func anEndpointShowsItsLoadBeforeItsFirstResponse() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", endpoint: "max_in_flight: 2")
        harness.on("/1", .ok("1", after: 50))
        let client = try harness.send(get())
        harness.pass(10)
        let page = try harness.metricsPage()
        let endpoint = ["endpoint": "GET /x"]
        #expect(page.value("tributary_endpoint_requests_in_flight", endpoint) == 1)
        #expect(page.value("tributary_endpoint_requests_in_flight_limit", endpoint) == 2)
        #expect(page.value("tributary_requests_partial_total", endpoint) == nil)
        #expect(harness.response(of: client).status == 200)
        harness.expectQuiet()
    }

    /// What a scrape transfers does not grow with endpoints that no request uses.
    @Test func endpointsWithoutRequestsTakeNoSpace() throws {
        func size(_ count: Int) throws -> Int {
            let endpoints = (0..<count).map {
                "  - { route: GET /\($0), calls: { one: { from: a, get: / } } }"
            }
            let harness = try GatewayHarness(
                config: """
                    version: 1
                    backends: { a: { url: "http://127.0.0.1:7001" } }
                    endpoints:
                    \(endpoints.joined(separator: "\n"))
                    """)
            let snapshot = try #require(harness.instance).snapshot
            harness.expectQuiet()
            return FullPage.text(.prometheus, [snapshot]).utf8.count
        }
        #expect(try size(100) == size(1))
    }

    // MARK: Hosts

    private static func hosts(_ numbers: Range<Int>) throws -> Plan {
        let urls = numbers.map { #""http://10.0.0.\#($0)""# }.joined(separator: ", ")
        return try GatewayHarness.plan(
            GatewayHarness.text("one: { from: a, get: /1 }", "", "urls: [\(urls)]"))
    }

    @Test func twentyHostsOfABackendHaveNames() throws {
        var slots = MetricSlots()
        func names() -> [String] { slots.hosts.filter { $0.backend == "a" }.map(\.host) }
        _ = slots.numbers(of: try Self.hosts(0..<20))
        #expect(names() == (0..<20).map { "10.0.0.\($0)" })
        _ = slots.numbers(of: try Self.hosts(0..<25))
        #expect(names().count == 21 && names().last == HostLabels.others)
        // Whatever hosts a reload brings.
        _ = slots.numbers(of: try Self.hosts(100..<150))
        #expect(names().count == 21)
    }

    @Test func hostsBeyondTheBoundAreCountedTogether() throws {
        var slots = MetricSlots()
        let numbers = try #require(slots.numbers(of: try Self.hosts(0..<25)).calls.first)
        var meter = WorkerMetrics(
            endpointNames: slots.endpointNames, calls: slots.calls, hosts: slots.hosts)
        for host in [0, 20, 24] {
            let record = RequestRecord()
            record.enter(
                RecordedEndpoint(
                    name: "GET /x", isPadded: false,
                    calls: [.init(name: "one", backend: "a", hosts: [])], slots: numbers))
            record.beginCall(0, at: FullMeter.ms(1))
            let attempt = record.beginAttempt(of: 0, .first, at: FullMeter.ms(1))
            record.permitAttempt(attempt, host: host, spanID: 1, at: FullMeter.ms(1))
            record.attemptCompleted(attempt, bodyBytes: 1, at: FullMeter.ms(2))
            record.endCall(0, .failed(.unexpectedStatus), deciding: attempt, at: FullMeter.ms(2))
            record.end(at: FullMeter.ms(3))
            meter.count(record, endpoint: 0, CountedEnd(200, .ok, FullMeter.exemplar()))
        }
        meter.removeUnused()
        #expect(meter.hosts.map(\.labels.host) == ["10.0.0.0", "other"])
        #expect(meter.hosts.map(\.succeeded) == [1, 2])
    }
}
