import Assembly
import Basics
import Gateway
import HTTPServer
import TestSupport
import Testing
import WorkerSupport

@testable import Process

/// What a gateway counts, in virtual time.
@Suite(.watched) struct MetricsTests {
    // MARK: Requests

    @Test func durationsAndOwnTimeOfAnEndpoint() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }\ntwo: { from: b, get: /2 }")
        harness.on("/1", .ok("1", after: 20))
        harness.on("/2", .ok("2", after: 30))
        _ = try harness.fetch()
        let endpoint = try #require(harness.meter.endpoints.first)
        #expect(endpoint.durations.histogram.sum == 30_000)
        // Code takes no time in the simulation.
        #expect(endpoint.ownTimes.count == 1 && endpoint.ownTimes.sum == 0)
        #expect(endpoint.partial == 0)
        #expect(harness.meter.calls.map(\.durations.histogram.sum) == [20_000, 30_000, 0])
        harness.expectQuiet()
    }

    @Test func partialResponsesAreCounted() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true }\ntwo: { from: b, get: /2 }")
        harness.on("/2", .status(500))
        #expect(try harness.fetch().status == 200)
        harness.on("/1", .status(500))
        #expect(try harness.fetch().status == 502)
        let endpoint = try #require(harness.meter.endpoints.first)
        #expect(endpoint.partial == 1)
        #expect(endpoint.statuses.map(\.count) == [1, 1])
        harness.expectQuiet()
    }

    @Test func paddedEndpointsShowNoTimesButTheirTotal() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", endpoint: "min_duration: 400ms\ndeadline: 300ms")
        harness.on("/1", .ok("1", after: 20))
        _ = try harness.fetch()
        let endpoint = try #require(harness.meter.endpoints.first)
        #expect(endpoint.durations.histogram.sum == 400_000)
        #expect(endpoint.ownTimes.count == 0)
        #expect(harness.meter.calls[0].durations.histogram.count == 0)
        #expect(try harness.outcomes() == "ok 1")
        harness.expectQuiet()
    }

    // MARK: Calls

    @Test func retriesAreCounted() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, retry: { attempts: 3, on: [500] } }")
        harness.on("/1", .status(500), .status(500), .ok("1"))
        #expect(try harness.fetch().status == 200)
        #expect(harness.meter.calls[0].retries == 2)
        #expect(try harness.outcomes() == "ok 1")
        harness.expectQuiet()
    }

    @Test(arguments: [(50, CallMetrics.HedgeWinner.hedge), (500, .first)])
    func hedgesAreCountedByTheirWinner(_ delay: Int, _ winner: CallMetrics.HedgeWinner) throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, hedge: { after: 100ms } }")
        harness.on("/1", .ok("1", after: 300), .ok("2", after: delay))
        _ = try harness.fetch()
        for other in CallMetrics.HedgeWinner.allCases {
            #expect(harness.meter.calls[0][other] == (other == winner ? 1 : 0))
        }
        #expect(harness.meter.calls[0].retries == 0)
        harness.expectQuiet()
    }

    @Test func callsThatAreNotHedgedCountNoHedge() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, hedge: { after: 100ms } }")
        harness.on("/1", .ok("1", after: 99))
        _ = try harness.fetch()
        #expect(CallMetrics.HedgeWinner.allCases.allSatisfy { harness.meter.calls[0][$0] == 0 })
        harness.expectQuiet()
    }

    /// Every call has an outcome, also one that nothing waits for any more.
    @Test func cancelledAndSkippedCallsAreCounted() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, required: true }
            two: { from: b, get: /2 }
            three: { from: c, get: "/3/{one.id}" }
            """)
        harness.on("/1", .status(500, after: 20))
        harness.on("/2", .ok("2", after: 500))
        _ = try harness.fetch()
        #expect(try harness.outcomes(of: "a") == "unexpected_status 1")
        #expect(try harness.outcomes(of: "b") == "cancelled 1")
        harness.expectQuiet()
    }

    // MARK: Traffic

    @Test func attemptsAreCountedByHostAndOutcome() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, retry: { attempts: 2, on: [500] } }\ntwo: { from: b, get: /2, timeout: 100ms }"
        )
        harness.on("/1", .status(500), .ok("1"))
        harness.on("/2", .ok("2"), .hangs)
        for _ in 0..<2 { _ = try harness.fetch() }
        let page = try harness.metricsPage()
        let expected: [(String, String, Double)] = [
            ("a", "ok", 2), ("a", "failed", 1), ("a", "cancelled", 0),
            ("b", "ok", 1), ("b", "failed", 1), ("b", "cancelled", 0),
        ]
        for (backend, outcome, count) in expected {
            let host = backend == "a" ? "127.0.0.1:7001" : "127.0.0.1:7002"
            #expect(
                page.value(
                    "tributary_attempts_total",
                    ["backend": backend, "host": host, "outcome": outcome]) == count,
                "\(backend) \(outcome)")
        }
        harness.expectQuiet()
    }

    /// The client gets the body of the last attempt.
    @Test func bytesOfARepeatedProxiedRequestCountOnce() throws {
        let harness = try GatewayHarness(
            config: """
                version: 1
                backends: { a: { url: "http://127.0.0.1:7001" } }
                endpoints:
                  - { route: GET /y, proxy: { to: a, path: /2, retry: { attempts: 2, on: [503] } } }
                """)
        harness.on("/2", .status(503), .ok("12345"))
        #expect(try harness.fetch(get("/y")).status == 200)
        #expect(harness.events.count == 2)
        let page = try harness.metricsPage()
        #expect(page.value("tributary_backend_received_bytes_total", ["backend": "a"]) == 5)
        harness.expectQuiet()
    }

    @Test func bytesAndConnectionsAreCounted() throws {
        let harness = try GatewayHarness(
            config: """
                version: 1
                backends: { a: { url: "http://127.0.0.1:7001" } }
                endpoints:
                  - { route: POST /x, calls: { one: { from: a, post: /1, body: "{request.body}", at: . } } }
                  - { route: POST /y, proxy: { to: a, path: /2 } }
                """)
        harness.on("/1", .ok(#"{"a":1}"#))
        harness.on("/2", .ok("12345"))
        let client = try harness.send(post("[1,2]"))
        #expect(harness.response(of: client).status == 200)
        client.send(post("1234", to: "/y"))
        #expect(harness.response(of: client).status == 200)
        let page = try harness.metricsPage()
        func value(_ name: String, _ labels: [String: String] = ["backend": "a"]) -> Double? {
            page.value("tributary_\(name)", labels)
        }
        for (endpoint, received, sent) in [("POST /x", 5.0, 7.0), ("POST /y", 4, 5)] {
            let labels = ["endpoint": endpoint]
            #expect(value("endpoint_received_bytes_total", labels) == received)
            #expect(value("endpoint_sent_bytes_total", labels) == sent)
        }
        #expect(value("backend_sent_bytes_total") == 9)
        #expect(value("backend_received_bytes_total") == 12)
        #expect(value("backend_connections_opened_total") == 1)
        #expect(value("client_requests_total", ["version": "1.1"]) == 2)
        #expect(value("client_requests_total", ["version": "1.0"]) == 0)
        let listener = try #require(
            page.samples.first { $0.name == "tributary_listener_connections" })
        #expect(listener.value == 1)
        #expect(value("listener_connections_accepted_total", listener.labels) == 1)
        _ = try harness.fetch("GET /z HTTP/1.0\r\n\r\n")
        let later = try harness.metricsPage()
        #expect(
            later.value("tributary_listener_connections_accepted_total", listener.labels) == 2)
        #expect(later.value("tributary_client_requests_total", ["version": "1.0"]) == 1)
        harness.expectQuiet()
    }

    @Test func connectionsAreAddedByListener() throws {
        var snapshot = FullPage.snapshot
        snapshot.listeners = [
            ListenerUsage(name: "0.0.0.0:80", ListenerConnections(open: 1, accepted: 3)),
            ListenerUsage(name: "0.0.0.0:443", ListenerConnections(open: 2, accepted: 5)),
        ]
        let page = try ExpositionText(
            FullPage.text(.openMetrics, [snapshot, snapshot]), .openMetrics)
        let listener = ["listener": "0.0.0.0:443"]
        #expect(page.value("tributary_listener_connections", listener) == 4)
        #expect(page.value("tributary_listener_connections_accepted_total", listener) == 10)
        // A worker that does not answer keeps its counters.
        let report = WorkerReport(worker: 0, isUp: false, heartbeatAge: .zero, snapshot: snapshot)
        let kept = try #require(report.snapshot).listeners.map(\.connections)
        #expect(kept.map(\.open) == [0, 0] && kept.map(\.accepted) == [3, 5])
    }

    // MARK: metrics.per_call

    static let perCall = "metrics: { per_call: true }"

    @Test func callsAreCountedByEndpointAndCallIfConfigured() throws {
        let calls = "one: { from: a, get: /1 }\ntwo: { from: a, get: /2 }"
        let harness = try GatewayHarness(calls, top: Self.perCall)
        harness.on("/2", .status(500))
        _ = try harness.fetch()
        #expect(
            harness.meter.calls.map(\.labels) == [
                CallLabels(backend: "a", endpoint: "GET /x", call: "one"),
                CallLabels(backend: "a", endpoint: "GET /x", call: "two"),
            ])
        #expect(harness.meter.calls.map(\.succeeded) == [1, 0])
        let page = try harness.metricsPage()
        #expect(
            page.value(
                "tributary_calls_total",
                [
                    "backend": "a", "endpoint": "GET /x", "call": "two",
                    "outcome": "unexpected_status", "status": "5xx",
                ]) == 1)
        harness.expectQuiet()
    }

    /// Counters never decrease: what was counted by backend stays.
    @Test func aReloadThatCountsByCallKeepsWhatWasCounted() throws {
        let calls = "one: { from: a, get: /1 }"
        let harness = try GatewayHarness(calls)
        _ = try harness.fetch()
        try harness.install(GatewayHarness.text(calls, "", "", Self.perCall))
        _ = try harness.fetch()
        _ = try harness.fetch()
        try harness.install(GatewayHarness.text(calls))
        _ = try harness.fetch()
        let counts = harness.meter.calls.filter { $0.succeeded > 0 }
        #expect(counts.map(\.succeeded) == [2, 2])
        #expect(counts.map(\.labels.call) == [nil, "one"])
        harness.expectQuiet()
    }

    // MARK: Limits

    @Test func usageStandsNextToItsLimit() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", endpoint: "max_in_flight: 7",
            backend: "max_concurrent: 1, queue: { size: 3, wait: 1s }",
            top: "limits: { connections: 20, requests_in_flight: 10, buffered_bytes: 1MiB }")
        harness.on("/1", .ok("1", after: 50))
        let clients = try (0..<2).map { _ in try harness.send(get()) }
        harness.pass(10)
        let page = try harness.metricsPage()
        for (name, labels, used, limit) in [
            ("tributary_client_connections", [:], 2, 20),
            ("tributary_requests_in_flight", [:], 2, 10),
            ("tributary_endpoint_requests_in_flight", ["endpoint": "GET /x"], 2, 7),
            ("tributary_permits_used", ["backend": "a"], 1, 1),
            ("tributary_calls_waiting", ["backend": "a"], 1, 3),
        ] as [(String, [String: String], Double, Double)] {
            #expect(page.value(name, labels) == used, "\(name)")
            #expect(page.value(name + "_limit", labels) == limit, "\(name)_limit")
        }
        #expect(page.value("tributary_buffered_bytes_limit") == 1_048_576)
        #expect(
            page.value("tributary_backend_connections", ["backend": "a", "state": "busy"]) == 1)
        #expect(
            page.value("tributary_endpoint_deadline_seconds", ["endpoint": "GET /x"]) == 5)
        for client in clients { #expect(harness.response(of: client).status == 200) }
        let idle = try harness.metricsPage()
        #expect(idle.value("tributary_permits_used", ["backend": "a"]) == 0)
        #expect(
            idle.value("tributary_backend_connections", ["backend": "a", "state": "idle"]) == 1)
        harness.expectQuiet()
    }

    @Test func ejectedHostsAreNotUsable() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }",
            backend: """
                urls: ["http://127.0.0.1:7001", "http://127.0.0.1:7002"],
                    eject: { after: 1, for: 10s }
                """)
        func usable(_ port: Int) throws -> Double? {
            try harness.metricsPage().value(
                "tributary_host_usable", ["backend": "a", "host": "127.0.0.1:\(port)"])
        }
        #expect(try usable(7001) == 1 && usable(7002) == 1)
        harness.on("/1", .status(500))
        _ = try harness.fetch()
        #expect(try [usable(7001), usable(7002)].contains(0))
        harness.expectQuiet()
    }

    // MARK: Losses

    @Test func inputThatIsNoRequestIsRefused() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        let client = try harness.send("nonsense\r\n\r\n")
        #expect(harness.response(of: client).status == 400)
        #expect(try harness.refused() == ["malformed": 1])
        // Without a request there is no duration.
        #expect(harness.meter.elsewhere.statuses.map(\.code) == [400])
        #expect(harness.meter.elsewhere.durations.histogram.count == 0)
        harness.expectQuiet()
    }

    @Test func aHeadThatTakesTooLongIsRefused() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", top: "limits: { header_timeout: 1s }")
        let client = try harness.send("GET /x HTTP/1.1\r\n")
        #expect(harness.response(of: client).status == 408)
        #expect(try harness.refused() == ["too_slow": 1])
        harness.expectQuiet()
    }

    @Test func requestsBeyondALimitAreRefused() throws {
        for (endpoint, top, reason) in [
            ("max_in_flight: 1", "", "max_in_flight"),
            ("", "limits: { requests_in_flight: 1 }", "requests_in_flight"),
            ("", "limits: { connections: 1 }", "connections"),
            ("", "limits: { connections_per_client: 1 }", "connections_per_client"),
        ] {
            let harness = try GatewayHarness(
                "one: { from: a, get: /1 }", endpoint: endpoint, top: top)
            harness.on("/1", .ok("1", after: 50))
            let first = try harness.send(get())
            harness.pass(1)
            #expect(try harness.refused() == [:], "\(reason)")
            #expect(try harness.fetch().status == 503, "\(reason)")
            #expect(try harness.refused() == [reason: 1])
            #expect(harness.response(of: first).status == 200)
            harness.expectQuiet()
        }
    }

    /// The limit is noticed after the body has arrived, and once.
    @Test func aRequestWithABodyBeyondTheLimitIsRefusedOnce() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x",
            top: "limits: { requests_in_flight: 1 }")
        harness.on("/1", .ok("1", after: 50))
        let second = try harness.send(request("POST", "/x", ["Content-Length: 2"]) + "{")
        harness.pass(1)
        let first = try harness.send(post("{}"))
        harness.pass(1)
        second.send("}")
        #expect(harness.response(of: second).status == 503)
        #expect(try harness.refused() == ["requests_in_flight": 1])
        #expect(harness.response(of: first).status == 200)
        harness.expectQuiet()
    }

    @Test func aMalformedBodyIsRefusedOnce() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x")
        let client = try harness.send(
            request("POST", "/x", ["Transfer-Encoding: chunked"]) + "nonsense\r\n")
        #expect(harness.response(of: client).status == 400)
        #expect(try harness.refused() == ["malformed": 1])
        harness.expectQuiet()
    }

    @Test func requestsBeyondTheMemoryAreRefused() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x",
            top: "limits: { buffered_bytes: 64KiB }")
        let head = request("POST", "/x", ["Content-Length: 70000"])
        let client = try harness.send(head + String(repeating: "x", count: 70_000))
        #expect(harness.response(of: client).status == 503)
        #expect(try harness.refused() == ["buffered_bytes": 1])
        harness.expectQuiet()
    }

    // MARK: Authentication

    @Test func theDecisionsOfAuthenticatorsAreCounted() throws {
        let top = """
            auth:
              partners: { api_key: { header: X-Api-Key, keys: partners.yaml } }
              tools: { basic: { keys: tools.yaml } }
            """
        let endpoint = "auth: { any: [partners, tools], scopes: [write] }"
        let files = [
            "partners.yaml": Keys.entry("ann", "key-of-ann", "scopes: [write]")
                + Keys.entry("ben", "key-of-ben"),
            "tools.yaml": Keys.entry("ci", "secret:word", user: true),
        ]
        let call = "one: { from: a, get: /1 }"
        let harness = try GatewayHarness(call, endpoint: endpoint, top: top, files: files)
        for line in [
            "X-Api-Key: key-of-ann", "X-Api-Key: key-of-ben", "X-Api-Key: unknown-key",
            "Authorization: Basic c2VjcmV0",
        ] { _ = try harness.fetch(get("/x", line)) }
        _ = try harness.fetch(get("/x"))
        #expect(
            try harness.authDecisions() == [
                "partners accepted": 1, "partners scope": 1, "partners untrusted": 1,
                "tools malformed": 1, "partners missing": 1,
            ])
        // A reload keeps the counts.
        try harness.install(GatewayHarness.text(call, endpoint, "", top), files: files)
        _ = try harness.fetch(get("/x", "X-Api-Key: key-of-ann"))
        #expect(try harness.authDecisions()["partners accepted"] == 2)
        harness.expectQuiet()
    }

    // MARK: The bound

    /// The bound holds after requests of every kind, and grows with the configuration.
    @Test func noPageHasMoreSeriesThanTheBound() throws {
        let calls = """
            one: { from: a, get: /1, relay_status: [404, 410], required: true }
            two: { from: b, get: /2 }
            """
        for top in ["", Self.perCall] {
            let harness = try GatewayHarness(
                calls, endpoint: "params: { n: { type: integer } }\nmax_in_flight: 2",
                backend: "max_concurrent: 1", top: top)
            harness.on("/1", .ok("1"), .status(404), .status(410), .status(500), .hangs)
            for target in ["/x", "/x", "/x", "/x", "/x", "/x?n=no", "/none"] {
                _ = try harness.fetch(get(target))
            }
            _ = try harness.fetch(request("DELETE", "/x"))
            _ = try harness.fetch("nonsense\r\n\r\n")
            let bound = try SeriesBound(
                GatewayHarness.plan(
                    GatewayHarness.text(
                        calls, "params: { n: { type: integer } }\nmax_in_flight: 2",
                        "max_concurrent: 1", top))
            ).count
            let count = try harness.metricsPage().samples.count
            #expect(count <= bound && count > bound / 2, "\(count) of \(bound)")
            harness.expectQuiet()
        }
    }

    /// Statuses that the gateway passes on, or sends only under some configurations.
    @Test(arguments: [
        ("", "", "proxy: { to: a }", 300),
        ("clients: { deny: [192.0.2.1] }", "", "calls: { one: { from: a, get: / } }", 2),
        ("hosts: [shop.test]", "", "calls: { one: { from: a, get: / } }", 2),
        ("", "clients: { deny: [192.0.2.1] }, ", "calls: { one: { from: a, get: / } }", 1),
    ])
    func theBoundIncludesStatuses(
        _ top: String, _ endpoint: String, _ rest: String, _ more: Int
    ) throws {
        func bound(_ top: String, _ endpoint: String) throws -> Int {
            let text = """
                version: 1
                \(top)
                backends: { a: { url: "http://127.0.0.1:7001" } }
                endpoints: [{ route: GET /x, \(endpoint) }]
                """
            return SeriesBound(try GatewayHarness.plan(text)).count
        }
        let plain = try bound("", "calls: { one: { from: a, get: / } }")
        #expect(try bound(top, endpoint + rest) >= plain + more)
    }

    @Test func theBoundGrowsWithLabels() throws {
        func bound(_ calls: String, _ top: String = "") throws -> Int {
            SeriesBound(try GatewayHarness.plan(GatewayHarness.text(calls, "", "", top))).count
        }
        let one = try bound("one: { from: a, get: /1 }")
        let two = try bound("one: { from: a, get: /1 }\ntwo: { from: a, get: /2 }")
        #expect(one == two, "calls of one backend are one label")
        #expect(try bound("one: { from: a, get: /1 }", "workers: 4") > one)
        let fine = try bound("one: { from: a, get: /1 }\ntwo: { from: a, get: /2 }", Self.perCall)
        let finer = try bound(
            "one: { from: a, get: /1 }\ntwo: { from: a, get: /2 }\nthree: { from: b, get: / }",
            Self.perCall)
        #expect(finer > fine)
    }
}

extension GatewayHarness {
    /// The page of this instance as that of a process with one worker.
    func metricsPage() throws -> ExpositionText {
        let snapshot = try #require(instance).snapshot
        return try ExpositionText(FullPage.text(.openMetrics, [snapshot]), .openMetrics)
    }

    fileprivate var meter: WorkerMetrics { instance?.snapshot.meter ?? WorkerMetrics() }

    /// `tributary_auth_total`, without samples that are 0.
    fileprivate func authDecisions() throws -> [String: Double] {
        let samples = try metricsPage().samples.filter {
            $0.name == "tributary_auth_total" && $0.value > 0
        }
        return Dictionary(
            uniqueKeysWithValues: samples.map {
                ("\($0.labels["auth"] ?? "") \($0.labels["result"] ?? "")", $0.value)
            })
    }

    /// `tributary_refused_total` by reason, without those that are 0.
    fileprivate func refused() throws -> [String: Double] {
        let samples = try metricsPage().samples.filter { $0.name == "tributary_refused_total" }
        return Dictionary(
            uniqueKeysWithValues: samples.filter { $0.value > 0 }.map {
                ($0.labels["reason"] ?? "", $0.value)
            })
    }
}
