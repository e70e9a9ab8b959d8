import Basics
import Foundation
import Gateway
import HTTP
import HTTPServer
import Promises
import Reactor
import SimReactor
import TLS
import TestSupport
import Testing
import WorkerSupport

@testable import Assembly
@testable import Process

/// The page of the admin address and its two JSON documents, with two workers in virtual time: one is the
/// gateway of a harness, the other answers or hangs as the test wants.
@Suite(.watched) struct RecentPagesTests {
    /// Passes queries on to the gateway of a harness.
    private final class Worker: MessageInbox, @unchecked Sendable {
        private(set) lazy var handle = WorkerHandle(setup, inbox: self)
        private let setup: WorkerSetup
        weak var monitor: WorkerMonitor?
        weak var instance: GatewayInstance?
        var isHung = false
        private(set) var queries = 0

        init(_ setup: WorkerSetup) { self.setup = setup }

        @discardableResult
        func post(_ message: WorkerMessage) -> Bool {
            guard case .readRecent(let query) = message else { return true }
            queries += 1
            guard !isHung, let answer = instance?.answer(query) else { return true }
            monitor?.recent.received(answer, from: handle.index)
            return true
        }
    }

    private final class Process: AdministeredProcess {
        var isServing = true
        var reloadStatus = ReloadStatus(loadedAt: 0)
        let monitor: WorkerMonitor
        let logLevel: LogLevelControl

        init(_ loop: any Loop) {
            let log = Log(level: .error, format: .text, clock: { 0 }, sink: { _ in })
            monitor = WorkerMonitor(loop: loop, log: log)
            logLevel = LogLevelControl(.warning, loop: loop, log: log)
        }

        var facts: ProcessFacts {
            ProcessFacts(
                version: "1.2.3", digest: "",
                descriptors: ProcessFacts.Descriptors(limit: 64, open: 7))
        }

        var identity: ProcessIdentity {
            ProcessIdentity(
                instance: "shop-7", version: "1.2.3", config: "shop.yaml", configAge: .seconds(90))
        }

        var diagnostics: ProcessDiagnostics {
            ProcessDiagnostics(
                phase: .serving, processID: 42, uptime: .seconds(3), build: [],
                config: AdministeredTestProcess.recorded(AdministeredTestProcess.text),
                files: ConfigFiles(
                    read: { _ throws(ConfigFileError) in throw .notFound },
                    list: { _ throws(ConfigFileError) in throw .notFound }),
                reload: reloadStatus,
                descriptions: PlanDescriptions(
                    summary: { .success("") }, explanation: { _, _ in .success("") }))
        }

        func reload() -> LocalPromise<ReloadOutcome> { monitor.local.value(.done) }
    }

    private let harness: GatewayHarness
    private let process: Process
    private let pages: AdminPages
    private let workers: [Worker]

    /// - Parameter endpoint: more lines of the endpoint
    private static func harness(_ endpoint: String = "") throws -> GatewayHarness {
        try GatewayHarness(
            "one: { from: a, get: /1, required: true }\ntwo: { from: b, get: /2 }",
            endpoint: endpoint, top: "admin: 127.0.0.1:9901")
    }

    init() throws { try self.init(Self.harness()) }

    private init(_ harness: GatewayHarness) throws {
        self.harness = harness
        process = Process(harness.outside)
        pages = AdminPages(of: process, on: harness.outside, hosts: [])
        let shared = SharedResources(names: harness.network.makeNameService())
        workers = [0, 1].map { index in
            Worker(
                WorkerSetup(
                    index: index, of: 2, shared: shared, control: SimInbox(on: harness.network),
                    log: SimInbox(on: harness.network)))
        }
        for worker in workers {
            worker.monitor = process.monitor
            worker.instance = harness.instance
            process.monitor.add(worker.handle)
        }
        // One worker is enough unless a test wants two.
        workers[1].handle.hasEnded = true
    }

    private func admin(_ target: String) throws -> (status: Int, fields: Fields, body: String) {
        let head = RequestHead(
            method: .get, target: try #require(Target(target)), fields: [.host: "localhost"])
        var result: Response?
        harness.outside.timer(after: .zero) { [pages, harness] in
            let exchange = Exchange(
                ExchangeStart(
                    id: RequestID(from: harness.outside.entropy),
                    trace: TraceContext(from: harness.outside.entropy),
                    local: harness.outside.local,
                    began: harness.outside.now))
            pages.respond(to: Request(head: head, body: .empty), exchange).whenSettled {
                result = try? $0.get()
            }
        }
        harness.network.run(until: { result != nil })
        let response = try #require(result)
        return (Int(response.status.code), response.fields, String(response.completeBody))
    }

    private func json(_ target: String) throws -> [String: Any] {
        let response = try admin(target)
        #expect(response.status == 200, "\(response.body)")
        return try #require(
            try JSONSerialization.jsonObject(with: Data(response.body.utf8)) as? [String: Any])
    }

    private func list(_ json: [String: Any], _ key: String) throws -> [[String: Any]] {
        try #require(json[key] as? [[String: Any]])
    }

    /// The names of all members that are times of a request.
    private func times(in value: Any) -> Set<String> {
        if let list = value as? [Any] {
            return list.reduce(into: []) { $0.formUnion(times(in: $1)) }
        }
        guard let object = value as? [String: Any] else { return [] }
        let own = object.keys.filter { $0 == "ms" || $0.hasSuffix("_ms") && $0 != "at_ms" }
        return object.values.reduce(into: Set(own)) { $0.formUnion(times(in: $1)) }
    }

    // MARK: The page

    @Test func thePageAllowsOnlyItsOwnScriptAndStyle() throws {
        let page = try admin("/")
        let policy = try #require(page.fields["Content-Security-Policy"]).description
        #expect(policy.hasPrefix("default-src 'none'; script-src 'sha256-"))
        for (directive, element) in [("script-src", "script"), ("style-src", "style")] {
            let parts = page.body.components(separatedBy: "<\(element)>")
            #expect(parts.count == 2)
            let text = try #require(parts.last?.components(separatedBy: "</\(element)>").first)
            #expect(text.count > 5000)
            let hash = try #require(SHA256.hash(Array(text.utf8)))
            #expect(policy.contains("; \(directive) 'sha256-\(Data(hash).base64EncodedString())';"))
        }
        for part in ["connect-src 'self'", "base-uri 'none'", "form-action 'none'"] {
            #expect(policy.contains("; \(part)"))
        }
        #expect(policy.hasSuffix("; frame-ancestors 'none'"))
        #expect(page.fields["X-Content-Type-Options"]?.description == "nosniff")
        #expect(page.fields["Referrer-Policy"]?.description == "no-referrer")
        #expect(page.fields[.cacheControl]?.description == "no-store")
        #expect(page.body.hasPrefix("<!doctype html>") && page.body.contains("</html>"))
        harness.expectQuiet()
    }

    @Test func thePageIsSmallAndLinksTheOtherPages() throws {
        let page = try admin("/").body
        #expect(page.utf8.count <= 62 * 1024)
        #expect(page.contains(#"<a href="/-/plan">/-/plan</a>"#))
        #expect(!page.contains("/* page.") && !page.contains("<!--"), "every part is in its place")
        harness.expectQuiet()
    }

    @Test func theScriptHasItsTextsAndNoComments() throws {
        let page = try admin("/").body
        #expect(page.contains("const byId=(id)=>document.getElementById(id);"))
        #expect(page.contains(#""There is no endpoint.""#) && page.contains("`, p99 at most ${"))
        #expect(!page.contains("\n//") && !page.contains("/**"))
        harness.expectQuiet()
    }

    // MARK: The overview

    @Test func theOverviewHasTheProcessItsEndpointsAndBackends() throws {
        harness.on("/1", .ok("1", after: 20))
        harness.on("/2", .status(500, after: 5))
        for _ in 0..<3 { _ = try harness.fetch() }
        _ = try harness.fetch(get("/nowhere"))
        let overview = try json("/-/overview")
        #expect(overview["instance"] as? String == "shop-7")
        #expect(overview["config"] as? String == "shop.yaml")
        #expect(overview["config_age_s"] as? Int == 90 && overview["serving"] as? Bool == true)
        let endpoint = try #require(try list(overview, "endpoints").first)
        #expect(endpoint["endpoint"] as? String == "GET /x")
        #expect(endpoint["requests"] as? Int == 3 && endpoint["partial"] as? Int == 3)
        let window = try #require(endpoint["window"] as? [String: Any])
        #expect(window["requests"] as? Int == 3 && window["partial"] as? Int == 3)
        #expect(window["failed"] as? Int == 0 && window["rate"] as? Double == 3)
        let p50 = try #require(endpoint["p50_ms"] as? Double)
        #expect(abs(p50 - 20) < 2.5)
        let calls = try list(endpoint, "calls")
        #expect(calls.map { $0["name"] as? String } == ["one", "two"])
        #expect(calls.map { $0["made"] as? Int } == [3, 3])
        #expect(calls.map { $0["failed"] as? Int } == [0, 3])
        #expect(try list(overview, "unmatched").first?["rejected"] as? Int == 1)
        let backends = try list(overview, "backends")
        #expect(backends.map { $0["name"] as? String } == ["a", "b", "c"])
        #expect(backends.map { $0["p50_ms"] == nil } == [false, false, true])
        #expect(
            try list(backends[1], "outcomes").first?["name"] as? String == "unexpected_status")
        harness.expectQuiet()
    }

    /// A worker that has not installed the configuration yet counts other calls: neither its requests
    /// nor its rate are added.
    @Test(arguments: [true, false])
    func theRateCountsTheSameRequestsAsTheWindow(_ hasSameCalls: Bool) throws {
        let other =
            hasSameCalls
            ? try Self.harness()
            : try GatewayHarness(
                "one: { from: a, get: /1, required: true }", top: "admin: 127.0.0.1:9901")
        workers[1].handle.hasEnded = false
        workers[1].instance = other.instance
        for gateway in [harness, other] {
            for _ in 0..<3 { _ = try gateway.fetch() }
        }
        let endpoint = try #require(try list(json("/-/overview"), "endpoints").first)
        let window = try #require(endpoint["window"] as? [String: Any])
        let expected = hasSameCalls ? 6 : 3
        #expect(window["requests"] as? Int == expected && window["rate"] as? Int == expected)
        #expect(endpoint["requests"] as? Int == 6)
    }

    @Test func theOverviewHasAtMost200Endpoints() throws {
        let endpoints = (0..<210).map { number in
            "  - { route: GET /e\(number), calls: { one: { from: a, get: / } } }"
        }
        let many = try Self(
            GatewayHarness(
                config: """
                    version: 1
                    admin: 127.0.0.1:9901
                    backends: { a: { url: "http://127.0.0.1:7001" } }
                    endpoints:
                    \(endpoints.joined(separator: "\n"))
                    """))
        #expect(try many.list(many.json("/-/overview"), "endpoints").count == 200)
        many.harness.expectQuiet()
        harness.expectQuiet()
    }

    @Test func theOverviewHasAReloadThatFailed() throws {
        #expect(try json("/-/overview")["failed_reload"] == nil)
        process.reloadStatus.last = ReloadStatus.Reload(
            .failed, endedAt: harness.loop.unixTime, problems: ["3:1: error: unknown key 'x'"])
        harness.pass(5_000)
        let failed = try #require(try json("/-/overview")["failed_reload"] as? [String: Any])
        #expect(failed["problem"] as? String == "3:1: error: unknown key 'x'")
        #expect(failed["age_s"] as? Int == 5)
        process.reloadStatus.last = ReloadStatus.Reload(.refused, endedAt: 0, problems: [])
        let refused = try #require(try json("/-/overview")["failed_reload"] as? [String: Any])
        #expect(refused["problem"] as? String == "refused")
        process.reloadStatus.last = ReloadStatus.Reload(.succeeded, endedAt: 0, problems: [])
        #expect(try json("/-/overview")["failed_reload"] == nil)
        harness.expectQuiet()
    }

    @Test func workersAreAddedUp() throws {
        _ = try harness.fetch()
        workers[1].handle.hasEnded = false
        let overview = try json("/-/overview")
        #expect(try list(overview, "endpoints").first?["requests"] as? Int == 2)
        #expect(try list(overview, "endpoints").count == 1)
        harness.expectQuiet()
    }

    // MARK: Recent requests

    @Test func theListHasRequestsAfterItsCursor() throws {
        harness.on("/2", .status(500))
        _ = try harness.fetch(get("/x", "X-Request-Id: first"))
        let first = try json("/-/requests/recent")
        #expect(try list(first, "requests").map { $0["id"] as? String } == ["first"])
        let cursor = try #require(first["cursor"] as? String)
        #expect(cursor == "0-1")
        #expect(try list(json("/-/requests/recent?after=\(cursor)"), "requests").isEmpty)
        _ = try harness.fetch(get("/x", "X-Request-Id: second"))
        let second = try json("/-/requests/recent?after=\(cursor)")
        #expect(try list(second, "requests").map { $0["id"] as? String } == ["second"])
        #expect(second["cursor"] as? String == "0-2")
        harness.expectQuiet()
    }

    /// Backends answer `one` with a 500 after 5 ms; `two` waits for it, and `three` for `two`.
    @Test(arguments: [
        ("two: { from: b, get: \"/2/{one.id}\" }", "skipped"),
        ("two: { from: b, get: /2 }", "cancelled"),
    ])
    func aCallNamesTheFailureThatItIsAResultOf(_ two: String, _ outcome: String) throws {
        let test = try Self(
            GatewayHarness(
                "one: { from: a, get: /1, required: true }\n\(two)\n"
                    + "three: { from: c, get: \"/3/{two.id}\" }",
                top: "admin: 127.0.0.1:9901"))
        test.harness.on("/1", .status(500, after: 5))
        test.harness.on("/2", .ok(#"{"id":1}"#, after: 50))
        _ = try test.harness.fetch()
        let request = try #require(
            try test.list(test.json("/-/requests/recent"), "requests").first)
        let calls = try test.list(request, "calls")
        #expect(calls.map { $0["because_of"] as? String } == [nil, "one", "one"])
        #expect(calls[1]["outcome"] as? String == outcome)
        test.harness.expectQuiet()
        harness.expectQuiet()
    }

    @Test func theNewestRequestsOfAllWorkersAreListedInOrder() throws {
        harness.on("/2", .status(500))
        for _ in 0..<3 {
            _ = try harness.fetch()
            harness.pass(10)
        }
        workers[1].handle.hasEnded = false
        let recent = try json("/-/requests/recent?limit=4")
        let keys = try list(recent, "requests").map { $0["key"] as? String }
        #expect(keys == ["0-2", "1-2", "0-3", "1-3"])
        #expect(recent["skipped"] as? Int == 2 && recent["cursor"] as? String == "0-3.1-3")
        harness.expectQuiet()
    }

    @Test func theListHas200RequestsWithoutALimit() throws {
        harness.on("/2", .status(500))
        for _ in 0..<210 {
            _ = try harness.fetch()
            harness.pass(50)
        }
        let recent = try json("/-/requests/recent")
        #expect(try list(recent, "requests").count == 200 && recent["skipped"] as? Int == 10)
        harness.expectQuiet()
    }

    @Test func aRequestHasItsCallsAndTheirPhases() throws {
        harness.on("/1", .ok("1", after: 20))
        harness.on("/2", .status(500, after: 5))
        _ = try harness.fetch()
        let request = try #require(try list(json("/-/requests/recent"), "requests").first)
        #expect(request["status"] as? Int == 200 && request["outcome"] as? String == "partial")
        #expect(request["reasons"] as? [String] == ["partial"])
        #expect(request["ms"] as? Double == 20 && request["calls_ms"] as? Double == 20)
        let call = try list(request, "calls")[1]
        #expect(call["outcome"] as? String == "unexpected_status")
        let attempt = try #require(try list(call, "attempts").first)
        #expect(attempt["host"] as? String == "127.0.0.1:7002")
        #expect(attempt["status"] as? Int == 500 && attempt["decided"] as? Bool == true)
        #expect(attempt["connection"] as? String == "new" && attempt["cause"] as? String == "first")
        for key in ["began", "permitted", "sent", "first_byte", "last_byte", "ended"] {
            #expect(attempt["\(key)_ms"] is Double, "\(key)")
        }
        harness.expectQuiet()
    }

    @Test func theSampleHasOrdinaryRequests() throws {
        _ = try json("/-/requests/recent?sample=1")
        _ = try harness.fetch()
        #expect(try list(json("/-/requests/recent"), "requests").isEmpty)
        let sample = try list(json("/-/requests/recent?sample=1"), "requests")
        #expect(sample.map { $0["outcome"] as? String } == ["ok"])
        #expect(sample.first?["reasons"] as? [String] == [])
        harness.expectQuiet()
    }

    @Test(arguments: [
        "limit=0", "limit=501", "limit=x", "after=x", "after=0", "after=0-1.0-2", "after=0-x",
        "after=-1-2", "sample=2", "other=1",
    ])
    func refusesWrongParameters(_ query: String) throws {
        let response = try admin("/-/requests/recent?\(query)")
        #expect(response.status == 400)
        #expect(response.body.hasPrefix("the parameters are after=CURSOR"))
        #expect(workers[0].queries == 0)
        harness.expectQuiet()
    }

    // MARK: What is not shown

    /// Queries, headers, bodies, and the paths of requests without an endpoint.
    @Test func noValueOfAClientIsShownButItsRequestID() throws {
        harness.on("/2", .status(500))
        _ = try json("/-/requests/recent?sample=1")
        _ = try harness.fetch(
            get("/x?q=secret1", "X-Request-Id: mine", "Cookie: secret2", "User-Agent: secret3"))
        _ = try harness.fetch(get("/secret4"))
        let text =
            try admin("/-/requests/recent?sample=1").body + admin("/-/overview").body
        #expect(text.contains(#""id":"mine""#) && text.contains(#""status":404"#))
        #expect(!text.contains("secret"))
        harness.expectQuiet()
    }

    @Test func aPaddedEndpointShowsNoTimes() throws {
        let padded = try Self(Self.harness("min_duration: 400ms"))
        for test in [self, padded] {
            test.harness.on("/1", .ok("1", after: 20))
            test.harness.on("/2", .status(500))
            _ = try test.harness.fetch()
            let request = try test.list(test.json("/-/requests/recent"), "requests")
            let endpoints = try test.list(test.json("/-/overview"), "endpoints")
            let backends = try test.list(test.json("/-/overview"), "backends")
            let isPadded = test.pages === padded.pages
            #expect(
                request.count == 1 && request[0]["times_hidden"] as? Bool == (isPadded ? true : nil)
            )
            for shown in [request as Any, endpoints, backends] {
                #expect(times(in: shown).isEmpty == isPadded)
            }
            #expect(try test.list(endpoints[0], "calls").map { $0["made"] as? Int } == [1, 1])
            test.harness.expectQuiet()
        }
    }

    // MARK: Workers that do not answer

    @Test func namesAWorkerThatDoesNotAnswerAfterHalfASecond() throws {
        harness.on("/2", .status(500))
        _ = try harness.fetch()
        workers[1].handle.hasEnded = false
        workers[1].isHung = true
        for page in ["/-/overview", "/-/requests/recent"] {
            let began = harness.network.clock.now
            let json = try json(page)
            let waited = harness.network.clock.now - began
            #expect((.milliseconds(500)...(.milliseconds(501))).contains(waited))
            #expect(json["missing_workers"] as? [Int] == [1])
        }
        #expect(try list(json("/-/requests/recent"), "requests").count == 1)
        harness.expectQuiet()
    }

    @Test func theInboxOfAHungWorkerDoesNotGrowWithEveryPage() throws {
        workers[0].isHung = true
        for _ in 0..<20 { _ = try json("/-/overview") }
        #expect(workers[0].queries == RecentCollector.outstandingMax)
        harness.expectQuiet()
    }

    @Test func aWorkerThatEndsDelaysNoPage() throws {
        workers[0].isHung = true
        harness.outside.timer(after: .milliseconds(100)) { [process] in process.monitor.ended(0) }
        let began = harness.network.clock.now
        #expect(try json("/-/overview")["missing_workers"] as? [Int] == [])
        #expect(harness.network.clock.now - began < RecentCollector.limit)
        harness.expectQuiet()
    }
}
