import Gateway
import Testing

@testable import Rehearsal

/// The reports of `tributary simulate CONFIG`.
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

    /// - Parameter keys: the content of the file `keys.yaml`
    private func rehearsal(
        _ faults: String = "", requests: Int = 200, text: String = Self.text, keys: String = "",
        environment: [String: String] = [:],
        adjust: (inout RehearsalRun.Settings) throws -> Void = { _ in },
        progress: (Int) -> Void = { _ in }
    ) throws -> RehearsalRun {
        let files = ConfigFiles(
            read: { path throws(ConfigFileError) in
                Array((path == "keys.yaml" ? keys : text).utf8)
            },
            list: { _ throws(ConfigFileError) in throw .notFound })
        let (loaded, problems) = ConfigLoader.load("c.yaml", files: files) { environment[$0] }
        let config = try #require(loaded, "\(problems.lines)")
        var settings = RehearsalRun.Settings()
        settings.requests = requests
        settings.faults = try FaultRule.list(faults, backends: ["catalog", "stock"])
        try adjust(&settings)
        let plan = try Planner.plan(config, processors: 1)
        let rehearsal = try RehearsalRun(config, plan, settings)
        rehearsal.runRequests(progress: progress)
        return rehearsal
    }

    @Test func requestsSucceedWithoutFaults() throws {
        let rehearsal = try rehearsal()
        let report = RehearsalSummary(of: rehearsal).text
        #expect(report.contains("GET /products/{id}\n"))
        #expect(report.contains("  200                  200    100.0%"))
        #expect(!report.contains("failed"))
        rehearsal.close()
    }

    @Test func reportsProgressUntilAllRequestsAreDone() throws {
        var counts: [Int] = []
        let rehearsal = try rehearsal(requests: 50) { _ in
        } progress: {
            counts.append($0)
        }
        #expect(counts == counts.sorted() && Set(counts).count == counts.count)
        #expect(counts.last == 50)
        rehearsal.close()
    }

    /// A look at all elements after every event makes a run quadratic in its requests.
    @Test func looksAtEachDoneElementOnce() {
        var (prefix, looks) = (DonePrefix(), 0)
        for done in 1...1000 {
            _ = prefix.advance(of: 1000) {
                looks += 1
                return $0 < done
            }
        }
        #expect(prefix.count == 1000)
        #expect(looks < 2000)
    }

    /// Nothing can make a key from its hash, so simulated requests have none and are accepted.
    @Test func requestsNeedNoCredentials() throws {
        let auth = "auth: { p: { api_key: { keys: keys.yaml } } }\ndefaults: { auth: p, "
        let rehearsal = try rehearsal(
            text: Self.text.replacing("defaults: { ", with: auth)
                .replacing("take: items", with: "headers: { X: \"{request.caller}\" }"),
            keys: "[]")
        let report = RehearsalSummary(of: rehearsal).text
        #expect(report.contains("  200                  200    100.0%"))
        #expect(!report.contains("failed"))
        rehearsal.close()
    }

    /// Requests have a host, arrive at a listener and meet a condition of their endpoint.
    @Test func requestsReachTheirEndpoints() throws {
        let text = """
            version: 1
            listen: [127.0.0.1:8080, { name: internal, address: "127.0.0.1:8081" }]
            backends: { catalog: { url: "http://127.0.0.1:7001" }, stock: { url: "http://127.0.0.1:7002" } }
            endpoints:
              - { route: GET /x, hosts: ["*.shop.test"], calls: { one: { from: catalog, get: /1 } } }
              - { route: GET /x, listener: internal, calls: { one: { from: catalog, get: /2 } } }
              - route: GET /x
                when: { all: [{ value: "{request.header.X-A}", one_of: ["1", "2"] }, { value: "{request.query.b}", exists: true }] }
                calls: { one: { from: catalog, get: /3 } }
              - { route: GET /x, calls: { one: { from: catalog, get: /4 } } }
            """
        let rehearsal = try rehearsal(text: text)
        for (number, request) in rehearsal.requests.enumerated() {
            for attempt in rehearsal.attempts[number] {
                let target = attempt.message.startLine
                #expect(target.contains("/\(request.endpoint + 1)"), "\(target)")
            }
        }
        #expect(Set(rehearsal.requests.map(\.endpoint)) == [0, 1, 2, 3])
        let report = RehearsalSummary(of: rehearsal).text
        for name in ["GET *.shop.test/x", "GET /x (internal)", "GET /x (when 1)", "GET /x"] {
            #expect(report.contains("\n\(name)\n"), "\(name)")
        }
        #expect(!report.contains("404"))
        rehearsal.close()
    }

    /// Simulated clients use HTTP/1.1 without TLS.
    @Test func listenersServeSimulatedClients() throws {
        let listen = "listen: { address: 127.0.0.1:8080, protocols: [http2] }\ndefaults:"
        let rehearsal = try rehearsal(text: Self.text.replacing("defaults:", with: listen))
        #expect(
            RehearsalSummary(of: rehearsal).text.contains("  200                  200    100.0%"))
        rehearsal.close()
    }

    // MARK: Callers

    private static let tokens = """
        version: 1
        auth:
          p:
            jwt: { issuer: i, audience: any, algorithms: [HS256], keys: { secret: "01234567890123456789012345678901" } }
        backends: { a: { url: "http://a.internal:80" } }
        endpoints:
          - route: GET /x
            auth: { any: p, scopes: [read]REQUIRE }
            calls:
              one:
                from: a
                get: "/1?user={token.sub}&role={token.realm.roles[2]}&plan={token.plan}"
                headers: { X-Realm: "{token.realm.name}" }
                required: true
        """

    /// The status and the target of the call of the first request.
    private func outcome(
        _ caller: AssumedCaller, require: String = ""
    ) throws -> (status: Int?, target: String?, realm: String?) {
        let rehearsal = try rehearsal(
            requests: 1,
            text: Self.tokens.replacing(
                "REQUIRE", with: require.isEmpty ? "" : ", require: [\(require)]")
        ) { $0.caller = caller }
        defer { rehearsal.close() }
        let message = rehearsal.attempts[0].first?.message
        return (
            rehearsal.requests[0].sent?.response?.status,
            message?.startLine.split(separator: " ").dropFirst().first.map(String.init),
            message?["X-Realm"]
        )
    }

    @Test func claimsThatCallsUseHaveAValue() throws {
        let result = try outcome(AssumedCaller())
        #expect(result.status == 200 && result.realm == "name")
        #expect(result.target == "/1?user=simulated&role=roles&plan=plan")
    }

    @Test func statedClaimsAreUsed() throws {
        let caller = try AssumedCaller(
            name: nil, scopes: nil, plan: nil,
            claims: #" {"sub":"ann","realm":{"roles":[1,2,"x"],"name":"\u00e4"}} "#)
        let result = try outcome(caller)
        #expect(result.status == 200)
        #expect(result.target == "/1?user=ann&role=x&plan=plan")
        let empty = try AssumedCaller(name: "ben", scopes: nil, plan: nil, claims: "{ }")
        #expect(try outcome(empty).target == "/1?user=ben&role=roles&plan=plan")
    }

    @Test func scopesAndRequireAreChecked() throws {
        let condition = #"{ value: "{token.realm.name}", is: eu }"#
        func status(_ claims: String?, _ scopes: [String]?, _ require: String) throws -> Int? {
            try outcome(
                AssumedCaller(name: nil, scopes: scopes, plan: nil, claims: claims),
                require: require
            ).status
        }
        #expect(try status(nil, nil, "") == 200)
        #expect(try status(nil, ["write"], "") == 403)
        #expect(try status(nil, ["write", "read"], "") == 200)
        #expect(try status(nil, nil, condition) == 403)
        let eu = #"{"realm":{"roles":["a","b","c"],"name":"eu"}}"#
        #expect(try status(eu, nil, condition) == 200)
    }

    @Test(arguments: ["", "[]", "7", "{", "{\"a\":1,}"]) func claimsAreAnObject(_ text: String) {
        #expect(throws: AssumedCaller.InvalidClaims.self) {
            try AssumedCaller(name: nil, scopes: nil, plan: nil, claims: text)
        }
    }

    /// Simulated backends respond to health checks as to calls.
    @Test(arguments: [("", "200"), ("catalog: close 100%", "503")])
    func backendsRespondToHealthChecks(
        _ faults: String, _ status: String
    ) throws {
        let text = Self.text.replacing(
            "catalog.internal:80/v1\"",
            with: "catalog.internal:80/v1\", health: { path: /up, every: 100ms }")
        let rehearsal = try rehearsal(faults, text: text)
        let report = RehearsalSummary(of: rehearsal).text
        #expect(report.contains("  \(status)   "))
        #expect(report.contains("destination_unavailable") == !faults.isEmpty)
        rehearsal.close()
    }

    @Test func reportShowsInjectedFaults() throws {
        let rehearsal = try rehearsal("stock: timeout 100%")
        let report = RehearsalSummary(of: rehearsal).text
        #expect(report.contains("  200 partial          200    100.0%"))
        #expect(report.contains("  failed: stock http_response_timeout, 200 times"))
        rehearsal.close()
    }

    @Test(arguments: [
        ("catalog: 404 100%", "404"), ("catalog: 503 100%", "502"), ("*: close 100%", "502"),
        ("*: reset 100%", "502"), ("catalog: cut 100%", "502"), ("catalog: garbage 100%", "502"),
        ("catalog: slow 2s 100%", "504"), ("catalog: timeout 100%", "504"),
        ("catalog: refuse 100%", "502"),
    ]) func faultKindHasItsStatus(_ faults: String, _ status: String) throws {
        let rehearsal = try rehearsal(faults, requests: 20)
        let line = "  \(status)                   20    100.0%"
        #expect(RehearsalSummary(of: rehearsal).text.contains(line))
        rehearsal.close()
    }

    @Test func equalRunsGiveEqualReports() throws {
        let reports = try (0..<2).map { _ in
            let rehearsal = try rehearsal("stock: timeout 10%, *: slow 50ms 20%")
            defer { rehearsal.close() }
            let waterfall = try #require(Waterfall.of(17, in: rehearsal))
            return RehearsalSummary(of: rehearsal).text + waterfall
        }
        #expect(reports[0] == reports[1])
    }

    @Test func waterfallShowsRequestAndItsCalls() throws {
        let rehearsal = try rehearsal("stock: timeout 100%", requests: 3)
        let waterfall = try #require(Waterfall.of(1, in: rehearsal))
        #expect(waterfall.hasPrefix("request 1   GET /products/"))
        #expect(waterfall.contains("ms     product      |"))
        #expect(waterfall.contains("given up   GET /levels/sample"))
        #expect(waterfall.contains("response  200 partial after 3"))
        #expect(Waterfall.of(3, in: rehearsal) == nil)
        rehearsal.close()
    }

    @Test(arguments: [
        (
            "stok: timeout 10%",
            "there is no backend 'stok' (known: catalog, stock, and * for all)"
        ),
        ("stock: timeout", "a fault ends with its share, e.g. 10%: timeout"),
        ("stock timeout 10%", "write it like 'stock: timeout 10%': stock timeout 10%"),
        (
            "stock: explode 10%",
            "there is no fault 'explode' (known: timeout, slow 300ms, close, refuse, reset, cut,"
                + " garbage, and a status such as 503)"
        ),
    ]) func reportsInvalidFault(_ text: String, _ words: String) {
        #expect {
            try FaultRule.list(text, backends: ["catalog", "stock"])
        } throws: { "\($0)" == words }
    }

    // MARK: Valid requests

    /// The report of 50 requests to `POST /x`, whose call sends the body.
    private func report(ofEndpoint keys: String) throws -> String {
        let text = """
            version: 1
            backends: { catalog: { url: "http://catalog.internal:80" } }
            endpoints:
              - route: POST /x
                \(keys)
                calls: { one: { from: catalog, post: /1, body: "{request.body}" } }
            """
        let rehearsal = try rehearsal(requests: 50, text: text) { settings in
            settings.optional = try OptionalRule.list("*: 100%", parameters: ["q"])
        }
        defer { rehearsal.close() }
        return RehearsalSummary(of: rehearsal).text
    }

    private static let allSucceed = "  200                   50    100.0%"

    @Test(arguments: ["application/json", "image/*, text/plain", "font/*"])
    func bodiesHaveAnAcceptedMediaType(_ types: String) throws {
        #expect(try report(ofEndpoint: "content_types: [\(types)]").contains(Self.allSucceed))
    }

    @Test func streamedBodiesHaveAnAcceptedMediaType() throws {
        let text = """
            version: 1
            backends: { catalog: { url: "http://catalog.internal:80" } }
            endpoints: [{ route: PUT /x, content_types: [image/*], proxy: { to: catalog } }]
            """
        let rehearsal = try rehearsal(requests: 50, text: text) { settings in
            settings.uploads.pieces = try PiecesRule.list("*: 1KiB*2", backends: ["catalog"])
        }
        #expect(RehearsalSummary(of: rehearsal).text.contains(Self.allSucceed))
        rehearsal.close()
    }

    @Test(arguments: [
        "type: number, max: -0.5", "type: integer, max: -0.5", "type: number, min: 0.1, max: 0.3",
        "type: integer, min: 9223372036854775806", "type: integer, max: -9223372036854775808",
        "type: number, min: 1e30", "type: integer, min: 7, max: 8", "min_length: 30",
    ]) func valuesAreWithinTheirBounds(_ rules: String) throws {
        for keys in [
            "params: { q: { \(rules), required: true } }",
            "body: { required: [q], properties: { q: { \(rules)TYPE } } }",
        ] {
            let type = rules.contains("type") ? "" : ", type: string"
            let report = try report(ofEndpoint: keys.replacing("TYPE", with: type))
            #expect(report.contains(Self.allSucceed), "\(report)")
        }
    }

    @Test(arguments: [
        ("params: { q: { pattern: '[a-z]+-[0-9]+' } }", "parameter 'q'"),
        (
            "body: { properties: { a: { properties: { q: { type: string, max_length: 0 } } } } }",
            "property 'a.q'"
        ),
    ]) func reportNamesRulesWithoutASample(_ keys: String, _ name: String) throws {
        let report = try report(ofEndpoint: keys)
        let line = "  no sample value obeys the rules of \(name): requests that have it are invalid"
        #expect(report.contains("POST /x\n\(line)\n"), "\(report)")
        #expect(report.contains("  400                   50    100.0%"))
    }

    // MARK: Variables

    /// The requests that backends receive have the values; the waterfall has the variables.
    @Test(arguments: [
        (
            "calls: { one: { from: catalog, get: \"/one?key=${KEY}\" } }",
            "GET http://c.test/base-${KEY}/one?key=${KEY}\n"
        ),
        (
            "calls: { one: { from: catalog, get: /one } }",
            "GET http://c.test/base-${KEY}/one\n"
        ),
        (
            "calls: { one: { from: stock, get: \"/one/${KEY}\" } }",
            "GET /one/${KEY}\n"
        ),
        (
            "proxy: { to: stock, path: \"/${KEY}/*\" }",
            "GET /${KEY}/*\n"
        ),
        ("proxy: { to: catalog }", "GET http://c.test/base-${KEY}/x/"),
    ]) func waterfallShowsVariablesInsteadOfTheirValues(_ keys: String, _ line: String) throws {
        let text = """
            version: 1
            backends:
              catalog: { url: "http://c.test/base-${KEY}" }
              stock: { url: "http://s.test" }
            endpoints: [{ route: "GET /x\(keys.contains("calls") ? "" : "/*")", \(keys) }]
            """
        let rehearsal = try rehearsal(requests: 1, text: text, environment: ["KEY": "s3cr3t"])
        let received = try #require(rehearsal.attempts[0].first?.message.startLine)
        #expect(received.contains("s3cr3t"))
        let waterfall = try #require(Waterfall.of(0, in: rehearsal))
        #expect(!waterfall.contains("s3cr3t"), "\(waterfall)")
        #expect(waterfall.contains(line), "\(waterfall)")
        rehearsal.close()
    }

    // MARK: Latency, rate, optional parameters

    /// Durations of the requests with a response, in milliseconds.
    private func milliseconds(_ rehearsal: RehearsalRun) -> [Double] {
        rehearsal.requests.compactMap(\.duration).map { $0 / .milliseconds(1) }
    }

    @Test func drawsLatenciesFromTheirRanges() throws {
        let rehearsal = try rehearsal { settings in
            settings.latencies = try TimeRule.list(
                "*: 500ms, stock: 1ms, catalog: 40ms-90ms", of: "latency",
                backends: ["catalog", "stock"])
        }
        let durations = milliseconds(rehearsal)
        // The calls run one after the other; the network adds less than 3 ms.
        #expect(durations.count == 200)
        #expect(durations.allSatisfy { $0 >= 41 && $0 < 94 })
        #expect((durations.max() ?? 0) - (durations.min() ?? 0) > 40, "the range is used")
        rehearsal.close()
    }

    @Test func rateSetsDurationOfRun() throws {
        func seconds(_ rate: Int) throws -> Double {
            let rehearsal = try rehearsal { $0.rate = rate }
            defer { rehearsal.close() }
            return rehearsal.duration / .seconds(1)
        }
        // 200 requests: about 20 s and about 0.2 s.
        #expect((15...25).contains(try seconds(10)))
        #expect((0.1...0.4).contains(try seconds(1000)))
    }

    @Test(arguments: [("", 60...140), ("lang: 0%", 0...0), ("*: 100%", 200...200)])
    func sendsOptionalParametersWithTheirShare(
        _ optional: String, _ count: ClosedRange<Int>
    ) throws {
        let rehearsal = try rehearsal { settings in
            settings.optional = try OptionalRule.list(optional, parameters: ["lang"])
        }
        let sent = rehearsal.requests.compactMap(\.sent).count { sent in
            String(decoding: sent.request.bytes, as: UTF8.self).contains("lang=")
        }
        #expect(count.contains(sent), "\(sent)")
        rehearsal.close()
    }

    @Test func refusesShareOfConnections() throws {
        // Every request needs a new connection, since idle ones expire after 1 ms.
        let text = Self.text.replacing(
            "127.0.0.1:7002\"", with: "127.0.0.1:7002\", keepalive: { idle_timeout: 1ms }")
        let rehearsal = try rehearsal("stock: refuse 50%", requests: 400, text: text)
        let report = RehearsalSummary(of: rehearsal).text
        #expect(report.contains("failed: stock connection_refused"))
        #expect(report.contains("  200      "), "not all are refused")
        rehearsal.close()
    }

    @Test(arguments: [
        "reviews: 40ms", "stock", "stock: 40", "stock: 90ms-40ms", "stock: -5ms",
        "stock: 1ms-2ms-3ms",
        "stock: 1h", "stock: 99999999999999999999s",
    ]) func reportsInvalidLatency(_ text: String) {
        #expect(throws: RuleList.SyntaxError.self) {
            try TimeRule.list(text, of: "latency", backends: ["catalog", "stock"])
        }
    }

    @Test(arguments: ["size: 10%", "lang", "lang: 10", "lang: 110%", "lang: nan%"])
    func reportsInvalidShare(_ text: String) {
        #expect(throws: RuleList.SyntaxError.self) {
            try OptionalRule.list(text, parameters: ["lang"])
        }
    }
}
