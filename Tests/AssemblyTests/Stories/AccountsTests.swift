import Basics
import Foundation
import HTTP
import HTTP2
import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

@testable import Assembly

/// What each event counts as: the table in `docs/operate/monitoring.md`, row by row, for `calls` and `proxy`,
/// over HTTP/1.1 and HTTP/2 on both sides.
@Suite(.watched) struct AccountsTests {
    /// Its raw value is its row in the table.
    enum Event: String, CaseIterable, Sendable {
        case success = "a complete response with a status below 500"
        case serverError = "a complete response with a status from 500 on"
        case breaksOff = "the body breaks off"
        case stalls = "the body stalls, and only the backend is awaited"
        case noHead = "no response in time"
        case lost = "the connection ends before a response"
        case coded = "the body has a content coding"
        case failedHandshake = "the handshake of an upgrade fails"
        case timeoutInQueue = "the time ends in the queue"
        case queueFull = "the queue is full"
        case breakerOpen = "the breaker is open"
        case clientLeavesEarly = "the client leaves before the head"
        case clientLeavesStream = "the client leaves a stream"
        case clientDoesNotRead =
            "the client does not read a stream for `idle_timeout` of `proxy`"
        case clientTooSlow = "the client reads less than `write_timeout` requires"
        case maxDuration = "`max_duration` ends a stream that still sends"
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let event: Event
        let isProxy: Bool
        let client: HTTPVersion
        let backend: HTTPVersion

        var testDescription: String {
            "\(event.rawValue), \(isProxy ? "proxy" : "calls"), \(client) to \(backend)"
        }
    }

    /// The row of an event.
    struct Row: Equatable {
        /// `outcome` of the request, and the outcome of its call.
        let calls: String
        let proxy: String
        /// `end` of the request with `proxy`.
        let end: String
        /// What breaker and `eject` count.
        let sample: String
    }

    static let rows: [String: Row] = {
        var file = URL(filePath: #filePath)
        for _ in 0..<4 { file.deleteLastPathComponent() }
        let page = try? String(
            contentsOf: file.appending(path: "docs/operate/monitoring.md"), encoding: .utf8)
        let section = page?.components(separatedBy: "### What each event counts as").last ?? ""
        var rows: [String: Row] = [:]
        for line in section.components(separatedBy: "\n## ")[0].split(separator: "\n") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard cells.count == 7, !cells[1].hasPrefix("-"), cells[1] != "event" else { continue }
            func plain(_ cell: Int) -> String { cells[cell].replacing("`", with: "") }
            rows[cells[1]] = Row(
                calls: plain(2), proxy: plain(3), end: plain(4), sample: plain(5))
        }
        return rows
    }()

    static let cases: [Case] = Event.allCases.flatMap { event in
        [false, true].flatMap { isProxy -> [Case] in
            guard let row = rows[event.rawValue], (isProxy ? row.proxy : row.calls) != "" else {
                return []
            }
            // A backend with HTTP/2 gets no upgrade.
            let backends: [HTTPVersion] =
                event == .failedHandshake ? [.http11] : [.http11, .http2]
            return [.http11, .http2].flatMap { client in
                backends.map {
                    Case(event: event, isProxy: isProxy, client: client, backend: $0)
                }
            }
        }
    }

    @Test func theTableHasEveryEvent() {
        #expect(Set(Self.rows.keys) == Set(Event.allCases.map(\.rawValue)))
        #expect(Self.cases.count > 60)
    }

    @Test(arguments: cases) func everyAccountReadsTheSameOutcome(_ tested: Case) throws {
        let row = try #require(Self.rows[tested.event.rawValue])
        // Opens with one failure.
        let first = try AccountHarness(tested, breaker: "min_requests: 1, open_at: 100%")
        try first.runEvent()
        let line = try first.line()
        let cells = (tested.isProxy ? row.proxy : row.calls).components(separatedBy: ", ")
        #expect(line.outcome == cells[0])
        #expect(line.call == cells[1])
        #expect(try first.gateway.outcomes(of: "a").contains("\(cells[1]) "))
        #expect(line.end == (tested.isProxy ? row.end : ""))
        // The others decide by the outcome of the request.
        first.gateway.pass(300)
        let failures = ["failed", "truncated", "cut_off", "partial"]
        let outcomes = first.gateway.traced.batches.flatMap { $0 }.map(\.outcome.name.description)
        #expect(outcomes.contains(cells[0]) == failures.contains(cells[0]))
        if tested.event != .breakerOpen {
            let isOpen = try first.gateway.isBreakerOpen()
            #expect(isOpen == (row.sample == "failure"))
            #expect(try first.gateway.unavailableHosts() == (row.sample == "failure" ? 1 : 0))
            // Opens with one failure, if another call has counted.
            let second = try AccountHarness(tested, breaker: "min_requests: 2, open_at: 50%")
            try second.runEvent()
            try second.fail()
            #expect(try second.gateway.isBreakerOpen() == (row.sample != "nothing"))
            second.expectQuiet()
        }
        first.expectQuiet()
    }
}

/// A gateway with one endpoint, whose client and backend the test controls.
private final class AccountHarness {
    typealias Case = AccountsTests.Case

    let gateway: GatewayHarness
    private let tested: Case
    private var h2Backends: [ScriptedH2Backend] = []
    private var peers: [ScriptedPeer] = []
    private var h2Clients: [ScriptedH2Client] = []
    /// The requests that reached the backend.
    private var received: [Reception] = []

    /// The ways to respond to one request.
    struct Reception {
        let begin: (_ status: Int, _ coding: String) -> Void
        let send: (String) -> Void
        let end: () -> Void
        let breakOff: () -> Void
    }

    init(_ tested: Case, breaker: String) throws {
        self.tested = tested
        let isH2 = tested.backend == .http2
        let ports = isH2 ? [7010, 7011] : [7001, 7002]
        let urls = ports.map { "\"http://127.0.0.1:\($0)\"" }.joined(separator: ", ")
        var limit = ""
        switch tested.event {
        case .timeoutInQueue: limit = "max_concurrent: 1\n    queue: { size: 5, wait: 10s }"
        case .queueFull: limit = "max_concurrent: 1"
        default: break
        }
        let proxy =
            "to: a, timeout: 500ms, idle_timeout: 700ms"
            + (tested.event == .failedHandshake ? ", upgrade: [websocket]" : "")
            + (tested.event == .maxDuration ? ", max_duration: 2s" : "")
        let endpoint =
            tested.isProxy
            ? "proxy: { \(proxy) }"
            : "calls: { one: { from: a, get: /x, required: true, timeout: 500ms } }"
        gateway = try GatewayHarness(
            config: """
                version: 1
                limits: { write_timeout: \(tested.event == .clientTooSlow ? "500ms" : "30s") }
                listen: { address: "127.0.0.1:8080", protocols: [http2, http1] }
                traces: { otlp: "http://127.0.0.1:4318/v1/traces", sample: 0%, slow: 1m }
                backends:
                  a:
                    urls: [\(urls)]
                    balance: round_robin
                    eject: { after: 1, for: 1m }
                    breaker: { \(breaker), window: 1m, try_again_after: 1m }
                    protocol: \(isH2 ? "http2" : "http1")
                    \(limit)
                endpoints:
                  - route: GET /x
                    \(endpoint)
                  - route: GET /hold
                    proxy: { to: a, idle_timeout: 1m }
                """)
        if isH2 { try startH2Backends(ports) } else { startBackends(ports) }
    }

    private func startBackends(_ ports: [Int]) {
        for port in ports {
            gateway.backend(UInt16(port))?.script = { [unowned self] exchange in
                let peer = exchange.peer
                received.append(
                    Reception(
                        begin: { status, coding in
                            let line = coding.isEmpty ? "" : "Content-Encoding: \(coding)\r\n"
                            peer.send(
                                "HTTP/1.1 \(status) X\r\n\(line)Transfer-Encoding: chunked\r\n\r\n")
                        },
                        send: {
                            peer.send("\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n")
                        }, end: { peer.send("0\r\n\r\n") }, breakOff: { peer.stream.close() }))
            }
        }
    }

    private func startH2Backends(_ ports: [Int]) throws {
        for port in ports {
            h2Backends.append(
                try ScriptedH2Backend(
                    on: gateway.outside, at: .ip(.v4(0x7F00_0001), port: UInt16(port))
                ) { [unowned self] exchange in
                    received.append(
                        Reception(
                            begin: { status, coding in
                                var fields = Fields()
                                if let coding = FieldValue(coding), !coding.bytes.isEmpty {
                                    fields.append("content-encoding", coding)
                                }
                                exchange.begin(Status(status) ?? .ok, fields)
                            }, send: { exchange.send($0) }, end: { exchange.end() },
                            breakOff: {
                                exchange.reset(.internalError)
                                exchange.connection.flush()
                            }))
                })
        }
    }

    // MARK: Clients

    /// A client that reads.
    private struct Client {
        let leave: () -> Void
    }

    private func sendRequest(_ path: String = "/x", reads: Bool = true) throws -> Client {
        let client: Client
        if tested.client == .http2 {
            let h2Client = try ScriptedH2Client(
                ScriptedPeer(gateway.stream()), on: gateway.testbed)
            h2Clients.append(h2Client)
            let recorder = try h2Client.send(.get, path)
            recorder.consumes = reads
            client = Client(leave: { h2Client.peer.stream.close() })
        } else {
            let peer = ScriptedPeer(try gateway.stream())
            peers.append(peer)
            peer.send(get(path))
            if !reads {
                gateway.pass(1)
                peer.stream.pauseReading()
            }
            client = Client(leave: { peer.stream.close() })
        }
        gateway.pass(1)
        return client
    }

    private func backend() throws -> Reception { try #require(received.last) }

    // MARK: Events

    func runEvent() throws {
        switch tested.event {
        case .success: try respond(200)
        case .serverError: try respond(503)
        case .breaksOff: try breakOff()
        case .stalls:
            _ = try sendRequest()
            try backend().begin(200, "")
            try backend().send("1")
            gateway.pass(2_000)
        case .noHead:
            _ = try sendRequest()
            gateway.pass(2_000)
        case .lost:
            _ = try sendRequest()
            try backend().breakOff()
            gateway.pass(1)
        case .coded: try respond(200, coding: "gzip")
        case .failedHandshake: try failHandshake()
        case .timeoutInQueue, .queueFull: try waitForPermit()
        case .breakerOpen:
            try fail()
            try fail()
            _ = try sendRequest()
        case .clientLeavesEarly:
            let client = try sendRequest()
            client.leave()
            gateway.pass(100)
        case .clientLeavesStream: try stream { $0.leave() }
        case .clientDoesNotRead, .clientTooSlow:
            _ = try sendRequest(reads: false)
            try backend().begin(200, "")
            for _ in 0..<40 {
                try backend().send(String(repeating: "x", count: 16_384))
                gateway.pass(1)
            }
            gateway.pass(2_000)
        case .maxDuration:
            _ = try sendRequest()
            try backend().begin(200, "")
            for _ in 0..<30 where try lastLine() == nil {
                try backend().send("x")
                gateway.pass(100)
            }
        }
    }

    private func respond(_ status: Int, coding: String = "") throws {
        _ = try sendRequest()
        try backend().begin(status, coding)
        try backend().send("1")
        try backend().end()
        gateway.pass(5)
    }

    private func breakOff() throws {
        _ = try sendRequest()
        try backend().begin(200, "")
        try backend().send("1")
        gateway.pass(1)
        try backend().breakOff()
        gateway.pass(5)
    }

    private func stream(_ end: (Client) throws -> Void) throws {
        let client = try sendRequest()
        try backend().begin(200, "")
        try backend().send("1")
        gateway.pass(5)
        try end(client)
        gateway.pass(100)
    }

    private func waitForPermit() throws {
        let holder = try sendRequest("/hold")
        try backend().begin(200, "")
        gateway.pass(1)
        let sent = received.count
        _ = try sendRequest()
        gateway.pass(6_000)
        #expect(received.count == sent, "nothing is sent")
        holder.leave()
        gateway.pass(100)
    }

    private func failHandshake() throws {
        if tested.client == .http2 {
            let client = try ScriptedH2Client(
                ScriptedPeer(gateway.stream()), on: gateway.testbed)
            h2Clients.append(client)
            _ = try client.openWebSocket("/x")
        } else {
            let peer = ScriptedPeer(try gateway.stream())
            peers.append(peer)
            peer.send(
                request(
                    "GET", "/x",
                    ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]))
        }
        gateway.pass(1)
        let accepted = (7001...7002).compactMap { gateway.backend($0)?.peers.last }
        let peer = try #require(accepted.last)
        peer.send("HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n")
        gateway.pass(5)
    }

    /// Causes a certain failure of the backend.
    func fail() throws {
        let count = received.count
        _ = try sendRequest()
        if received.count > count { try backend().breakOff() }
        gateway.pass(5)
    }

    // MARK: Accounts

    /// What the access log states about the last request of the endpoint.
    struct Line {
        let outcome: String
        let end: String
        let call: String
    }

    func line() throws -> Line { try #require(try lastLine()) }

    private func lastLine() throws -> Line? {
        let lines = try gateway.logged.compactMap { text -> [String: Any]? in
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        }
        guard let line = lines.last(where: { $0["endpoint"] as? String == "GET /x" }) else {
            return nil
        }
        let calls = line["calls"] as? [[String: Any]]
        return Line(
            outcome: line["outcome"] as? String ?? "", end: line["end"] as? String ?? "",
            call: calls?.first?["kind"] as? String ?? "ok")
    }

    func expectQuiet() {
        for peer in peers { peer.stream.close() }
        for client in h2Clients { client.peer.stream.close() }
        gateway.pass(100)
        for backend in h2Backends { backend.close() }
        gateway.expectQuiet()
    }
}
