import Foundation
import Gateway
import Testing

@testable import Rehearsal

/// `tributary simulate --expect` and `--format json`.
@Suite struct ExpectationTests {
    /// The summary of 200 requests to `GET /a`, whose backend responds after 100 ms, and `GET /b`.
    private func summary(_ faults: String = "") throws -> RehearsalSummary {
        let text = """
            version: 1
            defaults: { deadline: 800ms, timeout: 300ms }
            backends:
              one: { url: "http://127.0.0.1:7001" }
              two: { url: "http://127.0.0.1:7002" }
            endpoints:
              - route: GET /a
                calls:
                  x: { from: one, get: /x, required: true }
                  y: { from: two, get: /y }
              - route: GET /b
                calls: { x: { from: one, get: /x, required: true } }
            """
        let files = ConfigFiles(
            read: { _ in Array(text.utf8) },
            list: { _ throws(ConfigFileError) in throw .notFound })
        let config = try #require(ConfigLoader.load("c.yaml", files: files) { _ in nil }.config)
        var settings = RehearsalRun.Settings()
        settings.requests = 200
        settings.faults = try FaultRule.list(faults, backends: ["one", "two"])
        settings.latencies = try TimeRule.list(
            "*: 100ms", of: "latency", backends: ["one", "two"])
        let rehearsal = try RehearsalRun(
            config, try Planner.plan(config, processors: 1), settings)
        rehearsal.runRequests()
        defer { rehearsal.close() }
        return RehearsalSummary(of: rehearsal)
    }

    private func results(_ list: String, _ faults: String = "") throws -> [ExpectationRule.Result] {
        let summary = try summary(faults)
        return try ExpectationRule.list(list, endpoints: ["GET /a", "GET /b"]).map {
            $0.result(in: summary)
        }
    }

    @Test func comparesTimesAndShares() throws {
        let met = try results(
            "p99<300ms, p50>=100ms , max<=1s,ok>=100%, ok>99.99%, failed<=0%, partial<1%,"
                + "GET /b: p90 < 110ms, GET /a:ok>=100%")
        #expect(met.filter { !$0.isMet }.map(\.line) == [])
        #expect(met.count == 9)
        let missed = try results("p50<100ms, ok>100%, failed>0%, partial>=0.1%, GET /b: max<=1ms")
        #expect(missed.filter(\.isMet).map(\.line) == [])
        #expect(missed[1].line == "expected ok>100%: ok is 100.0%, 200 of 200")
        #expect(missed[4].line.hasPrefix("expected GET /b: max<=1ms: max is 10"))
    }

    @Test func separatesPartialAndFailedResponsesAndEndpoints() throws {
        let partial = try results(
            "GET /a: partial>=100%, GET /b: ok>=100%, failed<=0%", "two: 503 100%")
        #expect(partial.filter { !$0.isMet }.map(\.line) == [])
        let failed = try results(
            "GET /a: failed>=100%, failed>=100%, ok<=0%, partial<=0%", "one: 404 100%")
        #expect(failed.filter { !$0.isMet }.map(\.line) == [])
    }

    /// A share is compared as it is written, without the error of a binary fraction.
    @Test func meetsALimitThatIsReachedExactly() throws {
        let summary = try summary("one: 503 10%")
        let percent = Decimal(summary.all.ok) / 2
        let list = "ok>=\(percent)%, ok<=\(percent)%, ok>\(percent)%, ok<\(percent)%"
        let results = try ExpectationRule.list(list, endpoints: []).map { $0.result(in: summary) }
        #expect(summary.all.ok < 200 && summary.all.ok > 100)
        #expect(results.map(\.isMet) == [true, true, false, false])
    }

    @Test func aRequestWithoutATimeIsTheSlowest() {
        let times = ResponseTimes([.seconds(2), nil, .seconds(1)])
        #expect(times.quantile(50) == .seconds(2) && times.quantile(99) == nil)
        #expect(ResponseTimes([]).quantile(50) == nil)
    }

    @Test(arguments: [
        ("p99", "write it like 'p99<300ms' or 'GET /home: ok>=99%': 'p99'"),
        ("", "write it like 'p99<300ms' or 'GET /home: ok>=99%': ''"),
        ("ok>1%,", "write it like 'p99<300ms' or 'GET /home: ok>=99%': ''"),
        ("p99=300ms", "write it like 'p99<300ms' or 'GET /home: ok>=99%': 'p99=300ms'"),
        ("p95<1s", "there is no metric 'p95' (known: p50, p90, p99, max, ok, partial, failed)"),
        ("p99<99%", "p99 needs a time such as 300ms: '99%'"),
        ("ok>0.99", "ok needs a share such as 99%: '0.99'"),
        ("ok>101%", "ok needs a share such as 99%: '101%'"),
        ("GET /c: ok>1%", "there is no endpoint 'GET /c' (known: GET /a, GET /b)"),
    ]) func refusesOtherTexts(_ text: String, _ words: String) {
        #expect {
            try ExpectationRule.list(text, endpoints: ["GET /a", "GET /b"])
        } throws: { "\($0)" == words }
    }

    @Test func writesJSON() throws {
        let summary = try summary("two: 503 100%")
        let results = try ExpectationRule.list("partial<=0%", endpoints: []).map {
            $0.result(in: summary)
        }
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(summary.json(results).utf8))
                as? [String: Any])
        #expect(json["requests"] as? Int == 200 && json["failed"] as? Int == 0)
        #expect(try #require(json["p50_ms"] as? Double) >= 100)
        let expectation = try #require((json["expectations"] as? [[String: Any]])?.first)
        #expect(expectation["expected"] as? String == "partial<=0%")
        #expect(expectation["met"] as? Bool == false)
        let endpoint = try #require((json["endpoints"] as? [[String: Any]])?.first)
        #expect(endpoint["endpoint"] as? String == "GET /a")
        let partial = try #require(endpoint["partial"] as? Int)
        let response = try #require((endpoint["responses"] as? [[String: Any]])?.first)
        #expect(response["response"] as? String == "200 partial")
        #expect(response["count"] as? Int == partial)
        let failure = try #require((endpoint["failures"] as? [[String: Any]])?.first)
        #expect(failure["call"] as? String == "y" && failure["status"] as? Int == 503)
        #expect(failure["count"] as? Int == partial)
    }
}
