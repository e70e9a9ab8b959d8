import Basics
import Foundation
import Gateway
import HTTPClient
import SimReactor
import Testing

@testable import Assembly
@testable import Process

/// The contents of the diagnostic pages, from snapshots that the test makes.
@Suite struct DiagnosticPagesTests {
    private func snapshot(
        _ backends: [BackendDetail] = [], _ requests: [RequestState] = []
    ) -> WorkerSnapshot {
        WorkerSnapshot(
            meter: WorkerMetrics(endpointNames: []), backends: [], backendDetails: backends,
            connections: 3, bufferedBytes: 700, requests: requests)
    }

    private func usage(idle: Int = 0, inUse: Int = 0) -> PoolUsage {
        PoolUsage(idle: idle, inUse: inUse, connecting: 0, waiting: 0, isUnresolved: false)
    }

    // MARK: Requests

    @Test func showsWhatEachRequestWaitsFor() throws {
        let admin = try AdminHarness()
        let wait = RequestWait.calls([
            RequestWait.CallWait(
                name: "stock", backend: "s", host: "10.0.0.1:80", reason: .response,
                time: .milliseconds(8), attempt: 2),
            RequestWait.CallWait(
                name: "price", backend: "p", host: nil, reason: .permit, time: .milliseconds(3),
                attempt: 1),
        ])
        let requests = [
            RequestState(
                id: "a", endpoint: "GET /x", age: .microseconds(12_900), hidesTiming: false,
                wait: wait),
            RequestState(
                id: "b", endpoint: "GET /\"", age: .seconds(1), hidesTiming: true, wait: wait),
            RequestState(
                id: "c", endpoint: "POST /x", age: .zero, hidesTiming: false, wait: .body),
            RequestState(id: "d", endpoint: "", age: .zero, hidesTiming: false, wait: .client),
        ]
        admin.deliver(snapshot([], requests))
        #expect(
            try admin.ask("GET /-/requests").body
                == #"{"requests":[{"id":"a","endpoint":"GET /x","worker":0,"age_ms":12,"#
                + #""waits_for":"calls","calls":[{"name":"stock","backend":"s","#
                + #""host":"10.0.0.1:80","waits_for":"response","ms":8,"attempt":2},"#
                + #"{"name":"price","backend":"p","waits_for":"permit","ms":3,"attempt":1}]},"#
                + #"{"id":"b","endpoint":"GET /\"","worker":0},"#
                + #"{"id":"c","endpoint":"POST /x","worker":0,"age_ms":0,"waits_for":"body"},"#
                + #"{"id":"d","endpoint":"","worker":0,"age_ms":0,"waits_for":"client"}],"#
                + #""missing_workers":[]}"#)
    }

    // MARK: Backends

    private func backend(
        _ state: BackendDetail.HostState, _ breaker: BackendDetail.Breaker?,
        failedCheck: BackendDetail.FailedCheck? = nil
    ) -> BackendDetail {
        BackendDetail(
            name: "a", isUsable: state == .usable,
            hosts: [
                BackendDetail.Host(
                    name: "h:80", usage: usage(idle: 2, inUse: 1), state: state,
                    failedCheck: failedCheck)
            ],
            breaker: breaker,
            limit: BackendDetail.Limit(permitsUsed: 1, permits: 4, queued: 2, queueSize: 5),
            outcomes: [("ok", 3), ("dns_error", 1)])
    }

    @Test func sumsUpBackendsOverWorkers() throws {
        let admin = try AdminHarness(workers: 2)
        admin.deliver(snapshot([backend(.usable, .closed)]), from: 0)
        admin.deliver(snapshot([backend(.usable, .closed)]), from: 1)
        #expect(
            try admin.ask("GET /-/backends").body
                == #"{"backends":[{"name":"a","usable":true,"required_for_readiness":false,"#
                + #""hosts":[{"host":"h:80","state":"usable","#
                + #""connections":{"idle":4,"in_use":2,"connecting":0},"#
                + #""waiting_for_connection":0}],"breaker":{"state":"closed"},"#
                + #""permits":{"used":2,"limit":8},"queue":{"used":4,"limit":10},"#
                + #""calls":{"ok":6,"dns_error":2}}],"missing_workers":[]}"#)
    }

    @Test func listsStatesByWorkerWhereTheyDiffer() throws {
        let admin = try AdminHarness(workers: 3)
        let check = BackendDetail.FailedCheck(reason: "status 503", age: .seconds(2))
        admin.deliver(
            snapshot([backend(.unhealthy, .open(for: .seconds(4)), failedCheck: check)]), from: 0)
        admin.deliver(
            snapshot([backend(.ejected(for: .seconds(9)), .open(for: .seconds(5)))]), from: 1)
        let body = try admin.ask("GET /-/backends").body
        #expect(
            body.contains(
                #""state":"differs","workers":[{"worker":0,"state":"unhealthy"},"#
                    + #"{"worker":1,"state":"ejected","for_ms":9000}],"#
                    + #""last_failed_check":{"reason":"status 503","ago_ms":2000}"#), "\(body)")
        // The states are the same, only their ends differ: the last one is shown.
        #expect(body.contains(#""breaker":{"state":"open","for_ms":5000}"#), "\(body)")
        #expect(body.contains(#""usable":false"#) && body.hasSuffix(#""missing_workers":[2]}"#))
    }

    @Test func leavesOutWhatABackendDoesNotHave() throws {
        let admin = try AdminHarness()
        admin.deliver(
            snapshot([
                BackendDetail(
                    name: "a", isUsable: true,
                    hosts: [
                        BackendDetail.Host(name: "h:80", usage: usage(), state: .unresolved)
                    ])
            ]))
        let body = try admin.ask("GET /-/backends").body
        #expect(body.contains(#""state":"unresolved""#))
        #expect(!body.contains("breaker") && !body.contains("permits"))
    }

    // MARK: Workers

    @Test func showsEachLoop() throws {
        let admin = try AdminHarness(workers: 2)
        admin.deliver(snapshot(), from: 1)
        #expect(
            try admin.ask("GET /-/loops").body
                == #"{"loops":[{"worker":0,"answers":false,"heartbeat_age_ms":0},"#
                + #"{"worker":1,"answers":true,"heartbeat_age_ms":0,"client_connections":3,"#
                + #""requests_in_flight":0,"buffered_bytes":700}],"certificates":[]}"#)
    }

    @Test func showsTheCertificatesOfTheListeners() throws {
        let admin = try AdminHarness()
        var snapshot = snapshot()
        var tls = TLSState()
        tls.certificates = [TLSState.Certificate(name: "shop.example.com", notAfter: 86_400)]
        snapshot.tls = tls
        admin.deliver(snapshot)
        #expect(
            try admin.ask("GET /-/loops").body.hasSuffix(
                #""certificates":[{"name":"shop.example.com","not_after":"1970-01-02T00:00:00.000Z"}]}"#
            ))
    }

    // MARK: Configuration

    @Test func showsConfigurationWithoutSecrets() throws {
        let admin = try AdminHarness()
        let body = try admin.ask("GET /-/config").body
        #expect(body.hasPrefix(#"{"path":"c.yaml","digest":"\#(admin.process.config.digest)","#))
        #expect(body.contains(#""headers":{"X-Key":"***"}"#))
        #expect(body.contains(#""deadline":"5s""#), "defaults are shown")
        #expect(!body.contains("s3cr3t"))
    }

    @Test func explainsRequests() throws {
        let admin = try AdminHarness()
        #expect(try admin.ask("GET /-/plan").body == "OK  1 endpoint\nGET /x\n")
        let explanations = [
            ("url=/x", "GET /x\n"), ("method=POST&url=/x%3Fa=1%26b=2", "POST /x?a=1&b=2\n"),
            ("url=http://h/x?a=1", "GET http://h/x?a=1\n"),
        ]
        for (query, text) in explanations {
            let response = try admin.ask("GET /-/explain?\(query)")
            #expect(response.status == 200 && response.body == text)
        }
    }

    /// An internal error says why.
    @Test(arguments: ["plan", "explain?url=/x"])
    func saysWhyThePlanCannotBeDescribed(_ page: String) throws {
        let admin = try AdminHarness()
        admin.process.compilesPlan = true
        #expect(try admin.ask("GET /-/\(page)").status == 200, "the control")
        admin.process.config = AdministeredTestProcess.recorded("version: 2")
        let response = try admin.ask("GET /-/\(page)")
        #expect(response.status == 500)
        #expect(response.body == "internal error: the configuration cannot be loaded again\n")
        let dump = try admin.ask("GET /-/dump").body
        #expect(
            dump.contains(#""plan":["internal error: the configuration cannot be loaded again"]"#))
    }

    @Test(arguments: [
        ("", "url is missing"), ("?method=GET", "url is missing"),
        ("?url=*", "url must be a URL such as /path?query, percent-encoded"),
        ("?url=/x&method=G(T", "method must be a request method such as GET or POST"),
        ("?url=/x&run=1", "unknown parameter run"),
        ("?url=%2", "a parameter has a malformed percent-encoding"),
    ])
    func refusesToExplainWhatIsNoRequest(_ query: String, _ reason: String) throws {
        let response = try AdminHarness().ask("GET /-/explain\(query)")
        #expect(response.status == 400 && response.body == reason + "\n")
    }

    // MARK: Reload

    @Test func showsTheLastReload() throws {
        let admin = try AdminHarness()
        let digest = "\(admin.process.config.digest)"
        #expect(
            try admin.ask("GET /-/reload").body
                == #"{"running":{"path":"c.yaml","digest":"\#(digest)","#
                + #""loaded_at":"1970-01-01T00:00:01.000Z"},"#
                + #""files":{"digest":"\#(digest)","changed":false},"last":null,"#
                + #""needs_restart":[],"succeeded":0,"failed":0}"#)
        admin.process.file += "# changed\n"
        admin.process.reloadStatus.last = ReloadStatus.Reload(
            .failed, endedAt: 2_500_000_000, problems: ["c.yaml:1:1: error: no"])
        admin.process.reloadStatus.keysThatNeedRestart = ["listen"]
        let changed = try admin.ask("GET /-/reload").body
        #expect(
            changed.contains(#""changed":true"#) && !changed.contains(#"{"digest":"\#(digest)""#))
        #expect(
            changed.contains(
                #""last":{"result":"failed","at":"1970-01-01T00:00:02.500Z","#
                    + #""problems":["c.yaml:1:1: error: no"]},"needs_restart":["listen"]"#))
    }

    // MARK: Dump

    @Test func dumpHasEverything() throws {
        let admin = try AdminHarness(workers: 2)
        admin.deliver(snapshot([backend(.usable, nil)]), from: 1)
        let began = admin.network.clock.now
        let body = try admin.ask("GET /-/dump").body
        #expect(admin.network.clock.now - began < .seconds(1))
        let dump = try #require(
            try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
        #expect(
            dump.keys.sorted() == [
                "backends", "build", "configuration", "loops", "missing_workers", "plan", "process",
                "reload", "requests",
            ])
        #expect(dump["missing_workers"] as? [Int] == [0])
        #expect((dump["backends"] as? [Any])?.count == 1)
        #expect((dump["plan"] as? [String]) == ["OK  1 endpoint", "GET /x"])
        let process = try #require(dump["process"] as? [String: Any])
        #expect(process["pid"] as? Int == 42 && process["phase"] as? String == "serving")
        #expect(process["uptime_ms"] as? Int == 3000)
        #expect(process["log_level"] as? String == "warning")
        #expect(!body.contains("s3cr3t"))
    }
}
