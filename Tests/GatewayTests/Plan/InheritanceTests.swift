import HTTP
import HTTPClient
import Testing

@testable import Gateway

/// The value of an inherited key: that of the nearest block, else the default.
@Suite struct InheritanceTests {
    private func plan(
        defaults: String = "", backend: String = "", endpoint: String = "", call: String = ""
    ) throws -> Plan {
        let (config, problems) = load([
            "c.yaml": """
            version: 1
            defaults: { \(defaults) }
            backends:
              a: { url: "http://127.0.0.1:7001", \(backend) }
            endpoints:
              - route: GET /x
                calls: { one: { from: a, get: /, \(call) } }
                \(endpoint)
            """
        ])
        return try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
    }

    /// The values of the keys of `defaults` in a plan.
    private func values(of plan: Plan) -> [String] {
        let endpoint = plan.endpoints[0]
        return [
            "deadline \(endpoint.deadline.spelled)", "timeout \(endpoint.calls[0].timeout.spelled)",
            "body \(endpoint.bodyMax) answer \(endpoint.calls[0].responseBytesMax)",
            "report \(endpoint.report) details \(endpoint.exposesDetails)",
            "partial \(endpoint.partialStatus.code)",
            "connect \(plan.backends[0].pool.connectTimeout.spelled)",
        ]
    }

    @Test func usesDefaultIfNothingIsWritten() throws {
        #expect(
            values(of: try plan()) == [
                "deadline 5s", "timeout 2s", "body 1048576 answer 1048576",
                "report body details false", "partial 200", "connect 1s",
            ])
    }

    @Test func defaultsApplyToEveryEndpointCallAndBackend() throws {
        let plan = try plan(
            defaults: "deadline: 7s, timeout: 3s, max_body: 9KiB, report: header, expose: details,"
                + " partial_status: 207, connect_timeout: 4s")
        #expect(
            values(of: plan) == [
                "deadline 7s", "timeout 3s", "body 9216 answer 9216",
                "report header details true", "partial 207", "connect 4s",
            ])
    }

    @Test func blockOverridesDefaults() throws {
        let plan = try plan(
            defaults: "deadline: 7s, timeout: 3s, max_body: 9KiB, report: header, expose: details,"
                + " partial_status: 207, connect_timeout: 4s",
            backend: "connect_timeout: 2s",
            endpoint: """
                deadline: 6s
                    timeout: 1s
                    max_body: 8KiB
                    report: off
                    expose: kinds
                    partial_status: 206
                """)
        #expect(
            values(of: plan) == [
                "deadline 6s", "timeout 1s", "body 8192 answer 8192", "report off details false",
                "partial 206", "connect 2s",
            ])
    }

    @Test func callOverridesEndpointAndBackend() throws {
        let inherited = try plan(
            backend: "forwarded: x", endpoint: "timeout: 3s\n    forward: { headers: [X-A] }")
        let own = try plan(
            backend: "forwarded: x", endpoint: "timeout: 3s\n    forward: { headers: [X-A] }",
            call: "timeout: 1s, forwarded: rfc7239, forward: { headers: [X-B] }")
        let calls = [inherited.endpoints[0].calls[0], own.endpoints[0].calls[0]]
        #expect(calls.map(\.timeout) == [.seconds(3), .seconds(1)])
        #expect(calls.map(\.forwarded) == [.x, .rfc7239])
        #expect(calls.map { $0.forward.headers.map { "\($0)" } } == [["X-A"], ["X-B"]])
    }

    // MARK: One place for defaults

    @Test func usesServerDefaultsWithoutLimits() throws {
        var settings = ServerSettings()
        settings.responseFields = ["X-Content-Type-Options": "nosniff"]
        settings.requestsPerClient = 500
        #expect(try plan().server == settings)
    }

    /// The pool is also used without a configuration, and must have the same defaults.
    @Test func usesPoolDefaultsForBackendWithoutKeys() throws {
        #expect(try plan().backends[0].pool == PoolSettings())
    }
}
