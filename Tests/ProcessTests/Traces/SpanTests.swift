import Basics
import Foundation
import Reactor
import TestSupport
import Testing
import WorkerSupport

@testable import Assembly
@testable import Process

/// The spans of requests: which requests have some, how they are related, and what they state.
@Suite(.watched) struct SpanTests {
    static let calls = """
        product: { from: a, get: "/1/{id}?token=t" }
        stock: { from: b, get: /2 }
        """
    static let route = #"route: "GET /x/{id}""#
    static let caller = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"

    private func harness(
        _ calls: String = SpanTests.calls, endpoint: String = "", traces: String = "sample: 100%",
        backend: String = ""
    ) throws -> GatewayHarness {
        try GatewayHarness(
            calls, endpoint: endpoint.contains("route:") ? endpoint : Self.route + "\n" + endpoint,
            backend: backend,
            top: "traces: { otlp: \"http://127.0.0.1:4318/v1/traces\", \(traces) }")
    }

    /// The spans of all sampled requests so far.
    private func spans(_ harness: GatewayHarness) throws -> [ReceivedSpan] {
        harness.pass(250)
        let request = OTLPRequest(resource: .init(service: "s", version: "1", instance: "i"))
        let requests = harness.traced.batches.flatMap { $0 }
        let body = request.body(of: requests, Entropy(seed: 5))
        let spans = try ReceivedSpan.spans(in: String(body))
        #expect(spans.count == requests.reduce(0) { $0 + $1.spanCount })
        return spans
    }

    /// Each backend has its own version of HTTP.
    @Test func anAttemptStatesItsVersion() throws {
        let harness = try harness(backend: #"urls: ["http://127.0.0.1:7010"], protocol: http2"#)
        let backend = try ScriptedH2Backend(
            on: harness.outside, at: .ip(.v4(0x7F00_0001), port: 7010)
        ) { $0.respond("1") }
        _ = try harness.fetch(get("/x/7"))
        let attempts = try spans(harness).filter { $0.kind == 3 }
        #expect(attempts.map { $0.attributes["network.protocol.version"] } == ["2", "1.1"])
        backend.close()
        harness.expectQuiet()
    }

    /// Its failure is that of the call, not the cancellation that follows.
    @Test func anAttemptOfProxyStatesTheTimeout() throws {
        let harness = try GatewayHarness(
            config: """
                version: 1
                traces: { otlp: "http://127.0.0.1:4318/v1/traces", sample: 100% }
                backends: { a: { url: "http://127.0.0.1:7001" } }
                endpoints: [{ route: ANY /x/*, proxy: { to: a, timeout: 500ms } }]
                """)
        harness.on("/x/a", .hangs)
        _ = try harness.send(get("/x/a"))
        harness.pass(510)
        let errors = try spans(harness).map { $0.attributes["error.type"] }
        #expect(errors == ["504", "http_response_timeout", "http_response_timeout"])
        harness.expectQuiet()
    }

    // MARK: Relations

    @Test func aRequestHasASpanForItselfEachCallAndEachAttempt() throws {
        let harness = try harness()
        harness.on("/1/7?token=t", .ok("1", after: 30))
        harness.on("/2", .ok("2", after: 20))
        _ = try harness.fetch(get("/x/7?secret=s", "traceparent: 00-\(Self.caller)-01"))
        let spans = try spans(harness)
        #expect(
            spans.map(\.name) == [
                "GET /x/{id}", "product", "stock", "GET /1/{id}", "GET /2",
            ])
        #expect(spans.map(\.kind) == [2, 1, 1, 3, 3])
        #expect(Set(spans.map(\.trace)) == ["4bf92f3577b34da6a3ce929d0e0e4736"])
        #expect(Set(spans.map(\.id)).count == 5)
        let ids = spans.map(\.id)
        #expect(spans.map(\.parent) == ["00f067aa0ba902b7", ids[0], ids[0], ids[1], ids[2]])
        #expect(spans.map(\.duration) == [30, 30, 20, 30, 20])
        #expect(spans.allSatisfy { !$0.isError && $0.began == spans[0].began })
        // The parent of what a backend records is the attempt.
        let sent = harness.seen.map { $0["traceparent"]?.split(separator: "-")[2] ?? "" }
        #expect(sent.map { String($0) } == [ids[3], ids[4]])
        harness.expectQuiet()
    }

    @Test func attributesFollowTheConventions() throws {
        let harness = try harness()
        harness.on("/2", .status(503))
        _ = try harness.fetch(
            get(
                "/x/7?secret=s", "X-Request-Id: r-1", "traceparent: 00-\(Self.caller)-01",
                "tracestate: a=1"))
        let spans = try spans(harness)
        #expect(
            spans[0].attributes == [
                "http.request.method": "GET", "url.scheme": "http", "url.path": "/x/7",
                "http.route": "/x/{id}", "http.response.status_code": "200",
                "network.protocol.version": "1.1", "tributary.outcome": "partial",
                "tributary.request_id": "r-1", "server.address": "gateway",
                "client.address": "127.0.0.1",
            ])
        #expect(
            spans[2].attributes == [
                "tributary.call": "stock", "tributary.backend": "b", "tributary.attempts": "1",
                "error.type": "unexpected_status",
            ])
        #expect(
            spans[4].attributes == [
                "http.request.method": "GET", "url.template": "/2",
                "server.address": "127.0.0.1", "server.port": "7002",
                "http.response.status_code": "503", "network.protocol.version": "1.1",
                "tributary.connection_reused": "false", "error.type": "503",
            ])
        #expect(spans[4].events == ["permitted", "sent", "first_byte"])
        #expect(spans.map(\.isError) == [false, false, true, false, true])
        #expect(spans.allSatisfy { $0.state == "a=1" })
        // The caller's span is remote; all are sampled.
        #expect(spans.map(\.flags) == [0x301, 0x101, 0x101, 0x101, 0x101])
        // Neither the query of the client nor that of the call.
        #expect(!"\(spans)".contains("secret") && !"\(spans)".contains("token"))
        harness.expectQuiet()
    }

    @Test func aTraceThatBeginsHereHasNoParent() throws {
        let harness = try harness()
        _ = try harness.fetch(get("/x/7"))
        let spans = try spans(harness)
        #expect(spans.first?.parent == "" && spans.first?.flags == 0x103)
        #expect(harness.seen.allSatisfy { $0["traceparent"]?.hasSuffix("-03") == true })
        harness.expectQuiet()
    }

    @Test func retriesAndHedgesAreAttemptsOfTheirCall() throws {
        let harness = try harness(
            """
            tried: { from: a, get: /1, retry: { on: [503], backoff: 0ms } }
            hedged: { from: b, get: /2, hedge: { after: 100ms } }
            """)
        harness.on("/1", .status(503), .ok("1"))
        harness.on("/2", .ok("1", after: 500), .ok("2", after: 50))
        _ = try harness.fetch(get("/x/7"))
        let spans = try spans(harness)
        let attempts = spans.filter { $0.kind == 3 }
        let numbers = attempts.map {
            "\($0.name) \($0.attributes["http.request.resend_count"] ?? "-")"
        }
        #expect(numbers.sorted() == ["GET /1 -", "GET /1 1", "GET /2 -", "GET /2 1"])
        let causes = attempts.compactMap { $0.attributes["tributary.repetition"] }
        #expect(causes.sorted() == ["hedge", "retry"])
        let lost = try #require(attempts.first { $0.duration == 150 })
        #expect(lost.isError && lost.attributes["error.type"] == "cancelled")
        for call in spans.filter({ $0.kind == 1 }) {
            #expect(attempts.count { $0.parent == call.id } == 2)
        }
        harness.expectQuiet()
    }

    @Test func aCallThatWasNotMadeHasAnErrorAndOneThatWasLeftOutHasNoSpan() throws {
        let harness = try harness(
            """
            user: { from: a, get: /1 }
            orders: { from: b, get: "/2?u={user.id}" }
            extra: { from: c, get: /3, when: { param: id, is: "8" } }
            """)
        harness.on("/1", .status(500))
        _ = try harness.fetch(get("/x/7"))
        let spans = try spans(harness)
        #expect(spans.map(\.name) == ["GET /x/{id}", "user", "orders", "GET /1"])
        #expect(spans[2].attributes["error.type"] == "skipped" && spans[2].duration == 0)
        harness.expectQuiet()
    }

    @Test func aFailureOfTheConnectionIsTheErrorOfTheAttempt() throws {
        let harness = try harness("one: { from: a, get: /1 }")
        harness.backend()?.close()
        _ = try harness.fetch(get("/x/7"))
        let spans = try spans(harness)
        #expect(spans[0].isError && spans[0].attributes["error.type"] == "502")
        #expect(spans[1].attributes["error.type"] == "connection_refused")
        #expect(spans[2].attributes["error.type"] == "connection_refused")
        #expect(spans[2].attributes["http.response.status_code"] == nil)
        harness.expectQuiet()
    }

    /// A client chooses neither names of spans nor values of the method.
    @Test func unknownMethodsAndRoutesHaveFixedNames() throws {
        let harness = try harness()
        _ = try harness.fetch("BREW /nowhere HTTP/1.1\r\nHost: a\r\n\r\n")
        let span = try #require(try spans(harness).first)
        #expect(span.name == "HTTP" && span.attributes["http.request.method"] == "_OTHER")
        #expect(span.attributes["http.request.method_original"] == "BREW")
        #expect(span.attributes["http.route"] == nil && !span.isError)
        harness.expectQuiet()
    }

    @Test func aLongPathIsCutOff() throws {
        let harness = try harness()
        for count in [509, 510] {
            _ = try harness.fetch(get("/x/" + String(repeating: "y", count: count)))
        }
        let paths = try spans(harness).filter { $0.kind == 2 }.compactMap {
            $0.attributes["url.path"]
        }
        #expect(paths == Array(repeating: "/x/" + String(repeating: "y", count: 509), count: 2))
        harness.expectQuiet()
    }

    @Test func aPaddedEndpointHasOnlyItsOwnSpanWithItsPaddedDuration() throws {
        let harness = try harness(endpoint: "min_duration: 400ms")
        harness.on("/2", .ok("2", after: 30))
        _ = try harness.fetch(get("/x/7"))
        let spans = try spans(harness)
        #expect(spans.map(\.name) == ["GET /x/{id}"] && spans.map(\.duration) == [400])
        #expect(spans[0].events == [])
        harness.expectQuiet()
    }

    @Test func aClientThatDisconnectsHasNoStatus() throws {
        let harness = try harness()
        harness.on("/2", .hangs)
        let client = try harness.send(get("/x/7"))
        harness.pass(50)
        client.leave()
        let span = try #require(try spans(harness).first)
        #expect(span.attributes["tributary.outcome"] == "client_gone")
        #expect(span.attributes["http.response.status_code"] == nil && !span.isError)
        harness.expectQuiet()
    }

    // MARK: Sampling

    @Test(arguments: [("01", 1), ("00", 0), ("02", 0), ("03", 1)])
    func theCallersDecisionCountsForWhatSucceeds(_ flags: String, _ count: Int) throws {
        for share in ["0%", "100%"] {
            let harness = try harness(traces: "sample: \(share)")
            _ = try harness.fetch(get("/x/7", "traceparent: 00-\(Self.caller)-\(flags)"))
            #expect(try spans(harness).count { $0.kind == 2 } == count)
            #expect(harness.seen.first?["traceparent"]?.hasSuffix("-\(flags)") == true)
            harness.expectQuiet()
        }
    }

    @Test func withoutACallerTheShareDecides() throws {
        let harness = try harness(traces: "sample: 20%")
        for _ in 0..<200 { _ = try harness.fetch(get("/x/7")) }
        let count = try spans(harness).count { $0.kind == 2 }
        #expect((20...60).contains(count), "\(count)")
        let sent = harness.seen.count { $0["traceparent"]?.hasSuffix("-03") == true }
        #expect(sent == 2 * count, "the flag is the decision")
        harness.expectQuiet()
    }

    @Test(arguments: [
        ("failed", Reply.status(500), "one: { from: a, get: /1 }", true),
        ("partial", .status(500), "one: { from: a, get: /1 }\ntwo: { from: b, get: /2 }", true),
        ("slow", .ok("1", after: 301), "one: { from: a, get: /1 }", true),
        ("ok", .ok("1", after: 300), "one: { from: a, get: /1 }", false),
    ])
    func requestsAreSampledAtTheirEnd(
        _ name: String, _ reply: Reply, _ calls: String, _ isSampled: Bool
    ) throws {
        let harness = try harness(calls, traces: "sample: 0%, slow: 300ms")
        harness.on("/1", reply)
        _ = try harness.fetch(get("/x/7", "traceparent: 00-\(Self.caller)-00"))
        let spans = try spans(harness)
        #expect(spans.isEmpty != isSampled, "\(name)")
        if isSampled {
            #expect(spans.contains { $0.kind == 3 && $0.parent != "" })
            // What the backends received was another decision.
            #expect(spans.allSatisfy { $0.flags & 1 == 0 })
        }
        harness.expectQuiet()
    }

    @Test func rejectedRequestsAreSampledByDecisionOnly() throws {
        let harness = try harness(traces: "sample: 0%")
        _ = try harness.fetch(get("/nowhere"))
        #expect(try spans(harness).isEmpty)
        harness.expectQuiet()
    }

    @Test func withoutTracesNothingIsSampled() throws {
        let harness = try GatewayHarness(Self.calls, endpoint: Self.route)
        harness.on("/2", .status(500))
        _ = try harness.fetch(get("/x/7", "traceparent: 00-\(Self.caller)-01"))
        _ = try harness.fetch(get("/x/7"))
        harness.pass(300)
        #expect(harness.traced.batches.isEmpty)
        #expect(harness.seen.last?["traceparent"]?.hasSuffix("-02") == true)
        harness.expectQuiet()
    }

    // MARK: Batches

    @Test func requestsAreCollectedForAMoment() throws {
        let harness = try harness()
        for _ in 0..<3 { _ = try harness.fetch(get("/x/7")) }
        harness.pass(199)
        #expect(harness.traced.batches.isEmpty)
        harness.pass(2)
        #expect(harness.traced.batches.map(\.count) == [3])
        harness.expectQuiet()
    }

    @Test func aFullBatchIsPassedOnAtOnce() throws {
        let harness = try harness()
        for _ in 0..<65 { _ = try harness.fetch(get("/x/7")) }
        #expect(harness.traced.batches.map(\.count) == [64])
        harness.expectQuiet()
        #expect(harness.traced.batches.map(\.count) == [64, 1], "the end passes on the rest")
    }

    @Test func aReloadChangesTheSampling() throws {
        let harness = try harness(traces: "sample: 0%")
        _ = try harness.fetch(get("/x/7"))
        let text = GatewayHarness.text(Self.calls, Self.route)
        func install(_ traces: String) throws {
            try harness.install(
                text.replacingOccurrences(of: "version: 1\n", with: "version: 1\n\(traces)\n"))
        }
        try install("traces: { otlp: \"http://127.0.0.1/v1/traces\", sample: 100% }")
        _ = try harness.fetch(get("/x/7"))
        try install("")
        #expect(harness.traced.batches.map(\.count) == [1], "a reload passes on the rest")
        _ = try harness.fetch(get("/x/7"))
        harness.pass(300)
        #expect(harness.traced.batches.map(\.count) == [1])
        harness.expectQuiet()
    }
}
