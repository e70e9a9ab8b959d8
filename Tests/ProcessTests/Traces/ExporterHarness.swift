import Basics
import Foundation
import Gateway
import HTTP
import HTTPClient
import Promises
import Reactor
import SimReactor
import TLS
import TestCertificates
import TestSupport
import Testing
import WorkerSupport

@testable import Assembly
@testable import HTTPServer
@testable import Process

/// An exporter of traces in virtual time, with a collector that the test controls.
final class ExporterHarness: Harness {
    let testbed = Testbed(subject: "control", peers: "outside", latency: .zero ... .zero)
    let backlog: SpanBacklog
    private(set) var exporter: TraceExporter?
    private(set) var collector: ScriptedBackend?
    private let written = Written()
    private static let address = SocketAddress.ip(.v4(0x7F00_0001), port: 4318)

    /// The exports that the collector received, with their times.
    private(set) var received: [ReceivedRequest] = []
    /// The replies, used one after the other; the last one repeats.
    var replies = [Reply.ok("{}")]

    init(limit: Int = 16_384) throws {
        backlog = SpanBacklog(limit: limit)
        let loop = testbed.loop
        let log = Log(level: .info, format: .json, clock: { [loop] in loop.unixTime }) {
            [written] in written.text += String(decoding: $0, as: UTF8.self)
        }
        exporter = TraceExporter(loop: loop, log: log, backlog: backlog, version: "1.2.3")
        try startCollector()
    }

    private final class Written {
        var text = ""
    }

    func startCollector() throws {
        collector = try ScriptedBackend(on: testbed.peerLoop, at: Self.address) {
            [unowned self] exchange in
            received.append(exchange.request)
            exchange.perform(replies.count > 1 ? replies.removeFirst() : replies[0])
        }
    }

    static func plan(
        fields: Fields = Fields(), security: StreamSecurity? = nil, service: String = "shop",
        resource: [TracePlan.ResourceAttribute] = [],
        encoding: Config.Traces.Encoding = .json, timeout: Duration = .seconds(10)
    ) throws -> TracePlan {
        TracePlan(
            share: 10_000, slow: .seconds(1), service: service, resource: resource,
            collector: TracePlan.Collector(
                origin: Origin(host: "127.0.0.1", port: 4318),
                target: try #require(Target("/v1/traces")), fields: fields, security: security,
                encoding: encoding, timeout: timeout))
    }

    func configure(_ plan: TracePlan?) {
        testbed.perform(on: testbed.loop) { [unowned self] in exporter?.configure(plan) }
    }

    /// Requests without calls: a span each. Those beyond the backlog are left out, as a worker does.
    func send(_ count: Int) {
        let loop = testbed.loop
        testbed.perform(on: loop) { [unowned self] in
            let requests = (0..<count).compactMap { _ in
                backlog.reserve(1) ? Self.request(on: loop) : nil
            }
            exporter?.receive(requests)
        }
    }

    private static func request(on loop: SimLoop) -> TracedRequest {
        let exchange = RequestContext(
            ExchangeStart(
                id: RequestID(from: loop.entropy), trace: TraceContext(from: loop.entropy),
                local: loop.local, began: loop.now))
        exchange.record.end(at: loop.now)
        let end = RequestEnd(
            ServerHooks.ExchangeEnd(
                exchange: exchange, request: RequestHead(method: .get, target: .root), status: 200,
                bodyBytes: 0, isTruncated: false, endedAt: loop.now))
        return TracedRequest(end, loop)
    }

    /// `1000 512 spans`: when each export arrived, and what it had.
    var exports: [String] {
        received.map { request in
            let count = (try? ReceivedSpan.spans(in: request.body).count) ?? -1
            return "\(Int(request.ms)) \(count) spans"
        }
    }

    var counts: SpanCounts { exporter?.counts ?? SpanCounts() }

    var logged: [String] { written.text.split(separator: "\n").map(String.init) }

    func pass(_ seconds: Double) {
        testbed.advance(by: .microseconds(Int64(seconds * 1_000_000)))
    }

    /// Closes the exporter; the closure returns when it was done, in milliseconds.
    func close(within limit: Duration = .seconds(1)) -> () -> Double? {
        var ended: Double?
        testbed.perform(on: testbed.loop) { [unowned self] in
            exporter?.close(within: limit).whenSettled { _ in ended = self.ms }
        }
        return { ended }
    }

    /// Closes everything and expects that nothing is left.
    func expectQuiet(_ location: SourceLocation = #_sourceLocation) {
        let ended = close()
        pass(2)
        #expect(ended() != nil, sourceLocation: location)
        #expect(backlog.count == 0, sourceLocation: location)
        collector?.close()
        #expect(network.runUntilQuiet(), sourceLocation: location)
        let left = network.leftovers.filter { $0.hasPrefix("control:") }
        #expect(left == [], sourceLocation: location)
        weak let former = exporter
        exporter = nil
        #expect(former == nil, "the exporter is still referenced", sourceLocation: location)
    }
}
