import HTTP
import Testing

@testable import Gateway

/// The number of connections that fit into the file descriptors of a process.
@Suite struct DescriptorBudgetTests {
    private func plan(
        _ limits: String, calls: String = "one: { from: a, get: / }", backend: String = "",
        workers: Int = 1
    ) throws -> Plan {
        let text = """
            version: 1
            limits: { \(limits) }
            backends:
              a: { url: "http://127.0.0.1:7001"\(backend) }
              b: { url: "http://127.0.0.1:7002" }
            endpoints:
              - route: GET /x
                calls: { \(calls) }
              - route: GET /y
                calls: { other: { from: b, get: / } }
            """
        let (config, problems) = load(["c.yaml": text])
        let checked = try #require(config, "\(problems.lines)")
        return try Planner.plan(checked, processors: 1, workers: workers)
    }

    // MARK: Budget

    @Test(arguments: [20, 64, 128, 256, 1024, 4096, 20_000, 1 << 30])
    func reservesDescriptorsForAdminAndCalls(_ limit: Int) {
        let budget = DescriptorBudget(limit: limit, open: 14, workers: 1)
        #expect(budget.acceptCeiling < budget.connectCeiling)
        #expect(budget.acceptCeiling > 14 + 5, "enough for a client")
        #expect(budget.adminConnections >= 4)
        if limit >= 64 {
            #expect(budget.connectCeiling + budget.reserve <= limit)
            #expect(
                budget.adminConnections + budget.adminRefusedConnections < budget.reserve,
                "some are left for name lookups and files")
        }
    }

    @Test func computesExactNumbers() {
        let budget = DescriptorBudget(limit: 128, open: 14, workers: 1)
        #expect(budget.reserve == 16)
        #expect((budget.acceptCeiling, budget.connectCeiling) == (96, 112))
        #expect(budget.perWorker == 76)
        #expect(DescriptorBudget(limit: 1024, open: 16, workers: 4).perWorker == (896 - 16) / 4 - 6)
    }

    /// Half of the reserve.
    @Test(arguments: [(20, 4), (64, 4), (128, 8), (512, 32), (1 << 20, 32)])
    func reserves4To32ConnectionsForTheAdminAddress(_ limit: Int, _ connections: Int) {
        let budget = DescriptorBudget(limit: limit, open: 14, workers: 1)
        #expect(budget.adminConnections == connections)
    }

    @Test(arguments: [(0, 0, 0), (-5, -5, -5), (.max, .max, .max), (.max, 0, .max), (1, .max, 3)])
    func noInputTraps(_ limit: Int, _ open: Int, _ workers: Int) throws {
        let budget = DescriptorBudget(limit: limit, open: open, workers: workers)
        _ = try plan("connections: 100").fitted(to: budget)
        #expect(budget.acceptCeiling < budget.connectCeiling)
    }

    // MARK: Fitting

    @Test func keepsConnectionsThatFit() throws {
        let budget = DescriptorBudget(limit: 4096, open: 16, workers: 1)
        let plan = try plan("connections: 1000, requests_in_flight: 1000")
        #expect(plan.reducedConnections(under: budget) == nil)
        #expect(plan.fitted(to: budget).server.connections == 1000)
    }

    @Test func reducesConnectionsInFavourOfTheirCalls() throws {
        let budget = DescriptorBudget(limit: 128, open: 14, workers: 1)
        let plan = try plan("connections: 10000")
        let connections = try #require(plan.reducedConnections(under: budget))
        // 76 descriptors: 30 clients, 8 that are refused, and 38 for calls, which is half of all.
        #expect(connections == 30)
        let fitted = plan.fitted(to: budget).server
        #expect(fitted.connections == 30)
        #expect(fitted.refusedConnections == 8)
    }

    /// An eighth of the connections, from 8 to 64, can be open only for a 503.
    @Test(arguments: [(1, 8), (64, 8), (72, 9), (504, 63), (512, 64), (10_000, 64)])
    func refusesAnEighthOfTheConnectionsWithAResponse(_ connections: Int, _ refused: Int) throws {
        let budget = DescriptorBudget(limit: 1 << 20, open: 14, workers: 1)
        let fitted = try plan("connections: \(connections)").fitted(to: budget).server
        #expect(fitted.connections == connections && fitted.refusedConnections == refused)
    }

    @Test func callsTakeAtMostHalf() throws {
        let budget = DescriptorBudget(limit: 1152, open: 18, workers: 1)
        #expect(budget.perWorker == 1000)
        let many = (0..<20).map { "c\($0): { from: a, get: / }" }.joined(separator: ", ")
        let plan = try plan("connections: 10000", calls: many)
        #expect(plan.reducedConnections(under: budget) == 445)  // and 55 refused, 500 calls
    }

    @Test func dividesBudgetAmongWorkers() throws {
        let budget = DescriptorBudget(limit: 1152, open: 24, workers: 4)
        let plan = try plan("connections: 10000", workers: 4)
        let fitted = plan.fitted(to: budget).server.connections
        #expect(fitted < 2500)
        #expect(plan.reducedConnections(under: budget) == fitted * 4)
    }

    @Test func keepsAtLeastOneConnection() throws {
        let budget = DescriptorBudget(limit: 20, open: 30, workers: 8)
        #expect(try plan("connections: 5").fitted(to: budget).server.connections == 1)
    }

    // MARK: Demand

    @Test func countsDemandOfCalls() {
        let demand = DescriptorDemand(
            requestsInFlightMax: 50,
            backends: [
                .init(concurrentMax: nil, callsPerRequest: 3, checks: 0),
                .init(concurrentMax: 20, callsPerRequest: 1, checks: 2),
            ])
        #expect(demand.descriptors(forCallsOf: 10) == 30 + 10 + 2)
        #expect(demand.descriptors(forCallsOf: 30) == 90 + 20 + 2)
        #expect(demand.descriptors(forCallsOf: 1000) == 150 + 20 + 2)
    }

    /// A stream keeps the connection to its backend, and is not in flight any more.
    @Test func countsDemandOfStreams() {
        func demand(_ isProxied: Bool, concurrent: Int? = nil) -> DescriptorDemand {
            DescriptorDemand(
                requestsInFlightMax: 50, streamsMax: 200,
                backends: [
                    .init(
                        concurrentMax: concurrent, callsPerRequest: 1, isProxied: isProxied,
                        checks: 0)
                ])
        }
        #expect(demand(true).descriptors(forCallsOf: 10) == 10)
        #expect(demand(true).descriptors(forCallsOf: 100) == 100)
        #expect(demand(true).descriptors(forCallsOf: 1000) == 250)
        #expect(demand(true, concurrent: 70).descriptors(forCallsOf: 1000) == 70)
        #expect(demand(false).descriptors(forCallsOf: 1000) == 50)
        #expect(demand(true).connectionsMax(configured: 1000, available: 128) == 60)
    }

    @Test func streamsOfAPlanNeedDescriptors() throws {
        let (config, problems) = load([
            "c.yaml": """
            version: 1
            limits: { streams: 30, requests_in_flight: 7 }
            backends: { a: { url: "http://a" }, b: { url: "http://b" } }
            endpoints:
              - { route: GET /a, proxy: a }
              - { route: GET /b, calls: { one: { from: b, get: / } } }
            """
        ])
        let plan = try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
        let demand = DescriptorDemand(plan)
        #expect(demand.streamsMax == 30)
        #expect(demand.backends.map(\.isProxied) == [true, false])
        #expect(demand.descriptors(forCallsOf: 1000) == 37 + 7)
    }

    @Test func countsDemandOfPlan() throws {
        let plan = try plan(
            "requests_in_flight: 7",
            calls: "one: { from: a, get: /, hedge: { after: 10ms } }, two: { from: a, get: / }",
            backend: ", max_concurrent: 9, health: { path: / }")
        let demand = DescriptorDemand(plan)
        #expect(demand.requestsInFlightMax == 7)
        #expect(
            demand.backends == [
                .init(concurrentMax: 9, callsPerRequest: 3, checks: 1),
                .init(concurrentMax: nil, callsPerRequest: 1, checks: 0),
            ])
    }

    @Test func demandDoesNotOverflow() {
        let demand = DescriptorDemand(
            requestsInFlightMax: .max,
            backends: Array(
                repeating: .init(concurrentMax: nil, callsPerRequest: .max, checks: .max), count: 3)
        )
        #expect(demand.descriptors(forCallsOf: .max) == .max)
        #expect(demand.connectionsMax(configured: .max, available: 100) == 42)
    }
}
