import Assembly
import Basics
import Foundation
import HTTP
import HTTPServer
import Promises
import Reactor
import SimReactor
import Testing

@testable import Process

/// The admin pages on a server in virtual time, with a process that the test controls.
@Suite struct AdminPagesTests {
    private let admin: AdminHarness
    private var process: AdministeredTestProcess { admin.process }
    private var network: SimNetwork { admin.network }

    init() throws { admin = try AdminHarness() }

    private func ask(
        _ request: String, host: String = "localhost", _ fields: [String] = []
    ) throws -> (status: Int, head: String, body: String) {
        try admin.ask(request, host: host, fields)
    }

    private func silenceWorker(for duration: Duration) {
        process.monitor.startHeartbeats()
        network.advance(by: duration)
    }

    // MARK: The table

    private static func method(of page: AdminPage) -> String {
        switch page.access {
        case .read: "GET"
        case .action: "POST"
        case .change: "PUT"
        }
    }

    /// A target that the page accepts.
    private static func target(of page: AdminPage) -> String {
        switch page.path {
        case "/-/log": "/-/log?level=debug"
        case "/-/explain": "/-/explain?url=/x"
        default: page.path
        }
    }

    @Test func everyPageHasItsContentType() throws {
        let types = [
            "GET /livez": "text/plain; charset=utf-8", "GET /readyz": "text/plain; charset=utf-8",
            "GET /metrics": "text/plain; version=0.0.4; charset=utf-8",
            "POST /-/reload": "text/plain; charset=utf-8",
            "PUT /-/log": "text/plain; charset=utf-8", "GET /-/requests": "application/json",
            "GET /-/backends": "application/json", "GET /-/loops": "application/json",
            "GET /-/plan": "text/plain; charset=utf-8",
            "GET /-/explain": "text/plain; charset=utf-8", "GET /-/config": "application/json",
            "GET /-/reload": "application/json", "GET /-/dump": "application/json",
            "GET /": "text/html; charset=utf-8", "GET /-/overview": "application/json",
            "GET /-/requests/recent": "application/json", "GET /requests": "application/json",
        ]
        for page in AdminPages.table {
            let method = Self.method(of: page)
            let type = try #require(
                types["\(method) \(page.path)"], "no expectation for \(page.path)")
            let response = try ask("\(method) \(Self.target(of: page))")
            #expect(response.status == 200, "\(page.path)")
            #expect(response.head.contains("\r\nContent-Type: \(type)\r\n"), "\(page.path)")
        }
        #expect(AdminPages.table.count == types.count)
    }

    @Test func refusesOtherMethodsWithAllow() throws {
        for path in Set(AdminPages.table.map(\.path)) {
            let pages = AdminPages.table.filter { $0.path == path }
            let allow = pages.sorted { $0.access == .read && $1.access != .read }.map {
                $0.access == .read ? "GET, HEAD" : Self.method(of: $0)
            }
            let others = pages.contains { $0.access == .read } ? ["DELETE"] : ["DELETE", "GET"]
            for method in others + (pages.contains { $0.access == .action } ? [] : ["POST"]) {
                let response = try ask("\(method) \(path)")
                #expect(response.status == 405, "\(path)")
                let sent = try #require(response.head.firstMatch(of: /\r\nAllow: (.*)\r\n/)).1
                #expect(
                    Set(sent.split(separator: ", "))
                        == Set(
                            allow.flatMap { $0.split(separator: ", ") }), "\(path)")
            }
        }
        #expect(process.reloadCount == 0)
    }

    @Test func respondsToHeadWithoutBody() throws {
        for page in AdminPages.table where page.access == .read {
            let response = try ask("HEAD \(Self.target(of: page))")
            #expect(response.status == 200 && response.body.isEmpty, "\(page.path)")
        }
    }

    @Test func refusesUnknownPath() throws {
        for path in ["/nowhere", "/index.html", "/livez/", "/metrics/x", "/requests/"] {
            #expect(try ask("GET \(path)").status == 404, "\(path)")
        }
    }

    /// The reference has one row for each page, with its description.
    @Test func referenceListsThePages() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "docs/reference/command-line.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        for page in AdminPages.table {
            let method = page.access == .read ? "" : "\(Self.method(of: page)) "
            #expect(text.contains("\n| `\(method)\(page.path)` | \(page.description) |\n"))
        }
    }

    // MARK: The log level

    @Test func changesTheLogLevelForATime() throws {
        let response = try ask("PUT /-/log?level=debug&for=90s")
        #expect(response.status == 200 && response.body == "debug for 90s, then warning\n")
        #expect(process.logLevel.temporary == .debug)
        network.advance(by: .seconds(91))
        #expect(process.logLevel.temporary == nil)
    }

    @Test func changesTheLogLevelForTenMinutesWithoutATime() throws {
        #expect(try ask("PUT /-/log?level=debug").status == 200)
        network.advance(by: .seconds(599))
        #expect(process.logLevel.temporary == .debug)
        network.advance(by: .seconds(2))
        #expect(process.logLevel.temporary == nil)
    }

    @Test func changesTheLogLevelForADayAtMost() throws {
        #expect(try ask("PUT /-/log?level=debug&for=24h").status == 200)
        #expect(try ask("PUT /-/log?level=debug&for=86401s").status == 400)
    }

    @Test(arguments: [
        ("", "level is missing"), ("?for=1m", "level is missing"),
        ("?level=loud", "level must be debug, info, warning or error"),
        ("?level=debug&for=1d", "for must be a time of at most 24h, such as 10m"),
        ("?level=debug&for=25h", "for must be a time of at most 24h, such as 10m"),
        ("?level=debug&for=0s", "for must be a time of at most 24h, such as 10m"),
        ("?level=debug&until=3", "unknown parameter until"),
    ])
    func refusesAWrongLogLevel(_ query: String, _ reason: String) throws {
        let response = try ask("PUT /-/log\(query)")
        #expect(response.status == 400 && response.body == reason + "\n")
        #expect(process.logLevel.temporary == nil)
    }

    // MARK: The guard

    /// A web page in the operator's browser, by DNS rebinding or across sites.
    @Test func refusesForeignPagesExceptOnProbes() throws {
        for page in AdminPages.table {
            let method = Self.method(of: page)
            let isProbe = ["/livez", "/readyz"].contains(page.path)
            #expect(
                try ask("\(method) \(page.path)", host: "evil.example").status
                    == (isProbe ? 200 : 421), "\(page.path)")
            #expect(
                try ask("\(method) \(page.path)", ["Origin: http://evil.example"]).status == 403,
                "\(page.path)")
        }
        #expect(try ask("GET /nowhere", host: "evil.example").status == 421)
        #expect(process.reloadCount == 0)
        #expect(try ask("GET /metrics", host: "ops.example.com").status == 200)
    }

    /// The page for people has no data of its own: its script requests them with the token.
    @Test func everyPageWithDataNeedsTheToken() throws {
        let admin = try AdminHarness(token: "0123456789abcdef")
        let credentials = ["Authorization: Bearer 0123456789abcdef"]
        for page in AdminPages.table {
            let request = "\(Self.method(of: page)) \(Self.target(of: page))"
            let isOpen = ["/livez", "/readyz", "/"].contains(page.path)
            #expect(try admin.ask(request).status == (isOpen ? 200 : 401), "\(page.path)")
            #expect(
                try admin.ask(request, credentials + ["Origin: http://evil.example"]).status == 403,
                "\(page.path)")
            #expect(try admin.ask(request, credentials).status == 200, "\(page.path)")
        }
        #expect(admin.process.reloadCount == 1)
    }

    // MARK: Probes

    @Test func probesNameWorkersThatDoNotAnswer() throws {
        #expect(try ask("GET /livez").body == "alive\n")
        #expect(try ask("GET /readyz").body == "ready\n")
        silenceWorker(for: .seconds(3))
        #expect(try ask("GET /livez").body == "alive\n")
        let readiness = try ask("GET /readyz")
        #expect(readiness.status == 503 && readiness.body == "worker 0 does not answer\n")
        network.advance(by: .seconds(8))
        let liveness = try ask("GET /livez")
        #expect(liveness.status == 503 && liveness.body == "worker 0 does not answer\n")
    }

    @Test func processThatDoesNotServeIsAliveAndNotReady() throws {
        for phase in [ProcessPhase.starting, .draining, .ended] {
            process.phase = phase
            #expect(try ask("GET /livez").status == 200)
            let readiness = try ask("GET /readyz")
            #expect(readiness.status == 503 && readiness.body == "\(phase.rawValue)\n")
        }
    }

    // MARK: Numbers

    /// The pages wait half a second for the worker, which never answers.
    @Test func pagesNameWorkersWithMissingSnapshots() throws {
        let began = network.clock.now
        let requests = try ask("GET /-/requests")
        let waited = network.clock.now - began
        #expect((.milliseconds(500)...(.milliseconds(501))).contains(waited))
        #expect(requests.body == #"{"requests":[],"missing_workers":[0]}"#)
        #expect(try ask("GET /requests").body == requests.body)
        let metrics = try ask("GET /metrics").body.split(separator: "\n")
        #expect(metrics.contains(#"tributary_worker_up{worker="0"} 0"#))
        #expect(metrics.contains(#"tributary_build_info{version="1.2.3"} 1"#))
        #expect(metrics.contains("tributary_log_lines_dropped_total 5"))
    }

    // MARK: Reload

    @Test func eachOutcomeOfAReloadHasItsStatus() throws {
        let outcomes: [(ReloadOutcome, Int, String)] = [
            (.done, 200, "reloaded\n"),
            (.failed, 422, "the last good configuration stays; the log says why\n"),
            (
                .refused(silentWorkers: [0, 2]), 503,
                "workers 0, 2 do not answer; the last good configuration stays\n"
            ),
            (.impossible, 409, "there is nothing to reload\n"),
        ]
        for (outcome, status, body) in outcomes {
            process.outcome = outcome
            let response = try ask("POST /-/reload")
            #expect(response.status == status && response.body == body)
            network.advance(by: .seconds(1))
        }
        #expect(process.reloadCount == outcomes.count)
    }

    @Test func refusesSecondReloadWithinASecond() throws {
        #expect(try ask("POST /-/reload").status == 200)
        network.advance(by: .milliseconds(900))
        let second = try ask("POST /-/reload")
        #expect(second.status == 429 && second.head.contains("\r\nRetry-After: 1\r\n"))
        #expect(process.reloadCount == 1)
        network.advance(by: .milliseconds(100))
        #expect(try ask("POST /-/reload").status == 200)
    }

    @Test func reloadHasAPageForEachMethod() throws {
        #expect(try ask("GET /-/reload").head.contains("application/json"))
        #expect(process.reloadCount == 0)
        #expect(try ask("POST /-/reload").body == "reloaded\n")
        #expect(process.reloadCount == 1)
    }
}
