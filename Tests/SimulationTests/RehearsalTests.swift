import Gateway
import Simulation
import Testing

/// What `tributary simulate CONFIG` tells.
@Suite struct RehearsalTests {
    static let text = """
        version: 1
        defaults: { deadline: 800ms, timeout: 300ms }
        backends:
          catalog: { url: "http://catalog.internal:80/v1" }
          stock: { url: "http://127.0.0.1:7002" }
        endpoints:
          - route: GET /products/{id}
            params: { id: { type: integer, min: 1 }, lang: { type: string, one_of: [en, de] } }
            calls:
              product: { from: catalog, get: "/items/{id}", required: true, keep: [id, shop.city] }
              stock: { from: stock, get: "/levels/{product.shop.city}", take: items }
        """

    private func rehearsal(
        _ faults: String = "", requests: Int = 200, text: String = Self.text
    ) throws -> Rehearsal {
        let files = ConfigFiles(
            read: { _ throws(ConfigFileError) in Array(text.utf8) },
            list: { _ throws(ConfigFileError) in throw .notFound })
        let (loaded, problems) = ConfigLoader.load("c.yaml", files: files) { _ in nil }
        let config = try #require(loaded, "\(problems.lines)")
        var settings = Rehearsal.Settings()
        settings.requests = requests
        settings.faults = try FaultRule.list(faults, backends: ["catalog", "stock"])
        let plan = try Planner.plan(config, processors: 1)
        let rehearsal = try Rehearsal(config, plan, settings)
        rehearsal.run()
        return rehearsal
    }

    @Test func everyRequestOfAGoodConfigurationIsFine() throws {
        let rehearsal = try rehearsal()
        let report = RehearsalReport.of(rehearsal)
        #expect(report.contains("GET /products/{id}\n"))
        #expect(report.contains("  200                  200    100.0%"))
        #expect(!report.contains("failed"))
        rehearsal.close()
    }

    /// Checks of a backend's health are answered as its calls are.
    @Test(arguments: [("", "200"), ("catalog: close 100%", "503")]) func healthIsPlayedToo(
        _ faults: String, _ status: String
    ) throws {
        let text = Self.text.replacing(
            "catalog.internal:80/v1\"",
            with: "catalog.internal:80/v1\", health: { path: /up, every: 100ms }")
        let rehearsal = try rehearsal(faults, text: text)
        let report = RehearsalReport.of(rehearsal)
        #expect(report.contains("  \(status)   "))
        #expect(report.contains("destination_unavailable") == !faults.isEmpty)
        rehearsal.close()
    }

    @Test func faultsShowInTheReportAsOftenAsTheyWereAskedFor() throws {
        let rehearsal = try rehearsal("stock: timeout 100%")
        let report = RehearsalReport.of(rehearsal)
        #expect(report.contains("  200 partial          200    100.0%"))
        #expect(report.contains("  failed: stock http_response_timeout, 200 times"))
        rehearsal.close()
    }

    @Test(arguments: [
        ("catalog: 404 100%", "404"), ("catalog: 503 100%", "502"), ("*: close 100%", "502"),
        ("*: reset 100%", "502"), ("catalog: cut 100%", "502"), ("catalog: garbage 100%", "502"),
        ("catalog: slow 2s 100%", "504"), ("catalog: timeout 100%", "504"),
    ]) func everyKindOfFaultHasItsOutcome(_ faults: String, _ status: String) throws {
        let rehearsal = try rehearsal(faults, requests: 20)
        let line = "  \(status)                   20    100.0%"
        #expect(RehearsalReport.of(rehearsal).contains(line))
        rehearsal.close()
    }

    @Test func twoRunsTellTheSame() throws {
        let reports = try (0..<2).map { _ in
            let rehearsal = try rehearsal("stock: timeout 10%, *: slow 50ms 20%")
            defer { rehearsal.close() }
            let waterfall = try #require(Waterfall.of(17, in: rehearsal))
            return RehearsalReport.of(rehearsal) + waterfall
        }
        #expect(reports[0] == reports[1])
    }

    @Test func theWaterfallShowsOneRequestAndItsCalls() throws {
        let rehearsal = try rehearsal("stock: timeout 100%", requests: 3)
        let waterfall = try #require(Waterfall.of(1, in: rehearsal))
        #expect(waterfall.hasPrefix("request 1   GET /products/"))
        #expect(waterfall.contains("ms     product      |"))
        #expect(waterfall.contains("given up   GET /levels/sample"))
        #expect(waterfall.contains("answer    200 partial after 3"))
        #expect(Waterfall.of(3, in: rehearsal) == nil)
        rehearsal.close()
    }

    @Test(arguments: [
        (
            "stok: timeout 10%",
            "there is no backend 'stok' (there are catalog, stock, and * for all)"
        ),
        ("stock: timeout", "a fault ends with its share, such as 10%: timeout"),
        ("stock timeout 10%", "write a fault like 'stock: timeout 10%': stock timeout 10%"),
        (
            "stock: explode 10%",
            "no fault is called 'explode' (there are timeout, slow 300ms, close, reset, cut,"
                + " garbage, and a status such as 503)"
        ),
    ]) func aFaultThatIsNoneIsSaid(_ text: String, _ words: String) {
        #expect {
            try FaultRule.list(text, backends: ["catalog", "stock"])
        } throws: { "\($0)" == words }
    }
}
