import Assembly
import Basics
import Foundation
import HTTP
import HTTPServer
import Promises
import Reactor
import SimReactor
import Testing

/// The admin pages on a server in virtual time, with a process that the test controls.
@Suite struct AdminPagesTests {
    /// A process with one worker that never answers.
    private final class Process: AdministeredProcess {
        var isServing = true
        var outcome = ReloadOutcome.done
        private(set) var reloadCount = 0
        let monitor: WorkerMonitor
        let logLevel: LogLevelControl
        let worker: WorkerHandle
        let inbox: SimInbox<WorkerMessage>

        init(on network: SimNetwork, _ loop: SimLoop) {
            let log = Log(level: .error, format: .text, clock: { 0 }, sink: { _ in })
            monitor = WorkerMonitor(loop: loop, log: log)
            logLevel = LogLevelControl(.warning, loop: loop, log: log)
            let setup = WorkerSetup(
                index: 0, of: 1, shared: SharedResources(names: network.makeNameService()),
                control: SimInbox(on: network), log: SimInbox(on: network))
            inbox = SimInbox(on: network)
            worker = WorkerHandle(setup, inbox: inbox)
            monitor.add(worker)
        }

        var facts: ProcessFacts {
            ProcessFacts(
                version: "1.2.3", reloads: MetricsPage.Reloads(), logLinesDropped: 5,
                descriptors: MetricsPage.Descriptors(limit: 64, open: 7))
        }

        func reload() -> ReloadOutcome {
            reloadCount += 1
            return outcome
        }
    }

    private let network = SimNetwork(seed: 1)
    private let process: Process
    private let pages: AdminPages
    private let server: Server
    private let client: SimLoop
    private let address: SocketAddress

    init() throws {
        let loop = network.makeLoop("control")
        client = network.makeLoop("client")
        process = Process(on: network, loop)
        pages = AdminPages(of: process, on: loop, hosts: ["ops.example.com"])
        server = Server(loop: loop, service: pages.respond)
        address = try server.listen(on: .ip(.v4(0x7F00_0001), port: 9901))
    }

    /// The response to a request: its head and its body.
    private func ask(
        _ request: String, host: String = "localhost", _ fields: [String] = []
    ) throws -> (status: Int, head: String, body: String) {
        var peer: ScriptedPeer?
        client.timer(after: .zero) { [client, address] in
            client.connect(to: address).onValue { peer = ScriptedPeer($0) }.catch { _ in }
        }
        network.run(until: { peer != nil })
        let connected = try #require(peer)
        let lines = ["\(request) HTTP/1.1", "Host: \(host)", "Connection: close"] + fields
        connected.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        network.run(until: { connected.hasEnded })
        connected.stream.close()
        let parts = connected.text.split(separator: "\r\n\r\n", maxSplits: 1)
        let head = String(try #require(parts.first))
        let status = try #require(Int(head.dropFirst("HTTP/1.1 ".count).prefix(3)))
        return (status, head, parts.count > 1 ? String(parts[1]) : "")
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
        page.path == "/-/log" ? "/-/log?level=debug" : page.path
    }

    @Test func everyPageHasItsContentType() throws {
        let types = [
            "/livez": "text/plain; charset=utf-8", "/readyz": "text/plain; charset=utf-8",
            "/metrics": "text/plain; version=0.0.4; charset=utf-8",
            "/requests": "application/json", "/-/reload": "text/plain; charset=utf-8",
            "/-/log": "text/plain; charset=utf-8",
        ]
        for page in AdminPages.table {
            let type = try #require(types[page.path], "no expectation for \(page.path)")
            let response = try ask("\(Self.method(of: page)) \(Self.target(of: page))")
            #expect(response.status == 200, "\(page.path)")
            #expect(response.head.contains("\r\nContent-Type: \(type)\r\n"), "\(page.path)")
        }
        #expect(AdminPages.table.count == types.count)
    }

    @Test func refusesOtherMethodsWithAllow() throws {
        for page in AdminPages.table {
            let allow = page.access == .read ? "GET, HEAD" : Self.method(of: page)
            let response = try ask("\(page.access == .read ? "POST" : "GET") \(page.path)")
            #expect(response.status == 405, "\(page.path)")
            #expect(response.head.contains("\r\nAllow: \(allow)\r\n"), "\(page.path)")
        }
        #expect(process.reloadCount == 0)
    }

    @Test func respondsToHeadWithoutBody() throws {
        for page in AdminPages.table where page.access == .read {
            let response = try ask("HEAD \(page.path)")
            #expect(response.status == 200 && response.body.isEmpty, "\(page.path)")
        }
    }

    @Test func refusesUnknownPath() throws {
        for path in ["/nowhere", "/", "/livez/", "/metrics/x"] {
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
        process.isServing = false
        #expect(try ask("GET /livez").status == 200)
        let readiness = try ask("GET /readyz")
        #expect(readiness.status == 503 && readiness.body == "not ready\n")
    }

    // MARK: Numbers

    /// The pages wait half a second for the worker, which never answers.
    @Test func pagesNameWorkersWithMissingSnapshots() throws {
        let began = network.clock.now
        let requests = try ask("GET /requests")
        #expect(network.clock.now - began >= WorkerMonitor.snapshotLimit)
        #expect(requests.body == #"{"requests":[],"missing_workers":[0]}"#)
        let metrics = try ask("GET /metrics").body.split(separator: "\n")
        #expect(metrics.contains(#"tributary_worker_up{worker="0"} 0"#))
        #expect(metrics.contains(#"tributary_build_info{version="1.2.3"} 1"#))
        #expect(metrics.contains("tributary_log_lines_dropped_total 5"))
    }

    @Test func showsRequestsInFlightWithAgeUnlessHidden() throws {
        process.worker.hasEnded = false
        let snapshot = WorkerSnapshot(
            meter: WorkerMetrics(endpointNames: []), backends: [], connections: 1, bufferedBytes: 0,
            requests: [
                RequestState(
                    id: "a", endpoint: "GET /x", age: .microseconds(12_900), hidesTiming: false),
                RequestState(id: "b", endpoint: "GET /\"", age: .seconds(1), hidesTiming: true),
            ])
        // The snapshot arrives while the page waits for it.
        client.timer(after: .milliseconds(100)) { [process] in
            process.monitor.received(snapshot, from: 0)
        }
        #expect(
            try ask("GET /requests").body
                == #"{"requests":[{"id":"a","endpoint":"GET /x","age_ms":12},"#
                + #"{"id":"b","endpoint":"GET /\""}],"missing_workers":[]}"#)
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
}
