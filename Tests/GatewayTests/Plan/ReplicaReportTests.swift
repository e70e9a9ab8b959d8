import Testing

@testable import Gateway

/// The numbers that `check --replicas` prints.
@Suite struct ReplicaReportTests {
    @Test(arguments: [
        "limits.connections 100 300", "limits.requests_in_flight 20 60",
        "limits.buffered_bytes 8MiB 24MiB", "limits.handshakes 10 30", "limits.streams 40 120",
    ])
    func everyLimitOfAReplicaIsMultiplied(_ row: String) throws {
        let (config, problems) = load([
            "c.yaml": """
            version: 1
            workers: 2
            limits: { connections: 100, requests_in_flight: 20, buffered_bytes: 8MiB, handshakes: 10, streams: 40 }
            backends: { a: { url: "http://127.0.0.1:7001" } }
            endpoints: [{ route: GET /x, calls: { one: { from: a, get: / } } }]
            """
        ])
        let plan = try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
        #expect(spaced(ReplicaReport(plan, replicas: 3)).contains(row))
    }

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
        #expect(
            spaced(ReplicaReport(plan, replicas: 3))
                .contains("rate_limits.it, each key per \(unit) 100 300"))
    }

    /// The lines with single spaces between the columns.
    private func spaced(_ report: ReplicaReport) -> [String] {
        report.lines.map { $0.split(separator: " ").joined(separator: " ") }
    }
}
