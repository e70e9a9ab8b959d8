import GatewayConfig
import Testing

@testable import Gateway

/// The numbers that `check --replicas` prints for rate limits.
@Suite struct ReplicaReportTests {
    /// The unit is that of the rate, whichever part of it a variable has.
    @Test(arguments: [
        ("100/m", "m"), ("\"${NUMBER}/h\"", "h"), ("\"${RATE}\"", "d"), ("\"100/${UNIT}\"", "s"),
    ])
    func aRateIsShownWithItsUnit(_ rate: String, _ unit: String) throws {
        let (config, problems) = load(
            [
                "c.yaml": """
                version: 1
                rate_limits: { it: { rate: \(rate), key: address } }
                backends: { a: { url: "http://127.0.0.1:7001" } }
                endpoints:
                  - { route: GET /x, rate_limits: [it], calls: { one: { from: a, get: / } } }
                """
            ], environment: ["NUMBER": "100", "RATE": "100/d", "UNIT": "s"])
        let plan = try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
        let lines = ReplicaReport(plan, replicas: 3).lines.map {
            $0.split(separator: " ").joined(separator: " ")
        }
        #expect(lines.contains("rate_limits.it, each key per \(unit) 100 300"))
    }
}
