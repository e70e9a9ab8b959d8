import Basics
import Foundation
import Gateway
import HTTP
import Reactor
import TLS
import TestCertificates
import TestSupport
import Testing
import WorkerSupport

@testable import Assembly
@testable import Process

/// The export of spans: batches, repetitions, losses and the end of the process.
@Suite(.watched) struct TraceExporterTests {
    private let harness: ExporterHarness

    init() throws {
        harness = try ExporterHarness()
        harness.configure(try ExporterHarness.plan())
    }

    // MARK: Batches

    @Test func aBatchWaitsASecondForMore() throws {
        harness.send(1)
        harness.pass(0.6)
        harness.send(2)
        harness.pass(0.3)
        #expect(harness.received.isEmpty)
        harness.pass(1)
        #expect(harness.exports == ["1000 3 spans"])
        #expect(harness.counts.exported == 3 && harness.backlog.count == 0)
        let request = try #require(harness.received.first)
        #expect(request.method == "POST" && request.target == "/v1/traces")
        #expect(request["Host"] == "127.0.0.1:4318")
        #expect(request["Content-Type"] == "application/json")
        #expect(request["User-Agent"] == "tributary/1.2.3")
        harness.expectQuiet()
    }

    @Test func theResourceNamesTheServiceAndTheProcess() throws {
        harness.send(1)
        harness.pass(1)
        let resource = try ReceivedSpan.resource(in: try #require(harness.received.first).body)
        #expect(resource["service.name"] == "shop" && resource["service.version"] == "1.2.3")
        let instance = try #require(resource["service.instance.id"])
        #expect(
            instance.contains(
                /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/))
        harness.send(1)
        harness.pass(1)
        let next = try ReceivedSpan.resource(in: try #require(harness.received.last).body)
        #expect(next["service.instance.id"] == instance)
        harness.expectQuiet()
    }

    @Test func configuredAttributesReplaceOwnOnes() throws {
        harness.configure(
            try ExporterHarness.plan(resource: [
                ("deployment.environment.name", "prod"), ("service.version", "9"),
            ]))
        harness.send(1)
        harness.pass(1)
        let resource = try ReceivedSpan.resource(in: try #require(harness.received.first).body)
        #expect(resource["deployment.environment.name"] == "prod")
        #expect(resource["service.version"] == "9" && resource["service.name"] == "shop")
        harness.expectQuiet()
    }

    @Test func protobufIsTheFormatByDefault() throws {
        harness.configure(try ExporterHarness.plan(encoding: .protobuf))
        harness.send(1)
        harness.pass(1)
        let request = try #require(harness.received.first)
        #expect(request["Content-Type"] == "application/x-protobuf")
        #expect(request.body.contains("service.name") && !request.body.contains("resourceSpans"))
        #expect(harness.counts.exported == 1)
        harness.expectQuiet()
    }

    @Test func anExportHasTheConfiguredTime() throws {
        harness.configure(try ExporterHarness.plan(timeout: .seconds(2)))
        harness.replies = [.hangs, .ok("{}")]
        harness.send(1)
        harness.pass(2.9)
        #expect(harness.logged.isEmpty)
        harness.pass(0.2)
        #expect(harness.logged.contains { $0.contains("no response in time") })
        harness.pass(3)
        #expect(harness.counts.exported == 1)
        harness.expectQuiet()
    }

    @Test func aFullBatchIsSentAtOnceAndOneAtATime() {
        harness.replies = [.ok("{}", after: 100)]
        harness.send(1_100)
        harness.pass(5)
        #expect(harness.exports == ["0 512 spans", "100 512 spans", "1200 76 spans"])
        #expect(harness.collector?.connections == 1)
        #expect(harness.counts.exported == 1_100)
        harness.expectQuiet()
    }

    @Test func configuredHeadersAreSent() throws {
        harness.configure(
            try ExporterHarness.plan(fields: ["X-Token": "secret", "User-Agent": "mine"]))
        harness.send(1)
        harness.pass(1)
        #expect(harness.received.first?["X-Token"] == "secret")
        #expect(harness.received.first?["User-Agent"] == "mine")
        harness.expectQuiet()
    }

    @Test func aCollectorOverTLSIsVerified() throws {
        harness.collector?.secure(try Certificates.server())
        let authority = try Certificates.file("authority.pem")
        func security(_ name: String?) throws -> StreamSecurity {
            var settings = TLSSettings(trust: .signed(by: authority))
            settings.serverName = name
            return try TLSClientContext(settings).security
        }
        harness.configure(try ExporterHarness.plan(security: try security("other.test")))
        harness.send(1)
        harness.pass(1)
        #expect(harness.received.isEmpty && harness.collector?.handshakes == 1)
        harness.configure(try ExporterHarness.plan(security: try security(nil)))
        harness.pass(1)
        #expect(harness.exports == ["1000 1 spans"])
        harness.expectQuiet()
    }

    // MARK: Failures

    @Test(arguments: [429, 502, 503, 504]) func retryAfterIsRespected(_ status: Int) {
        harness.replies = [.status(status, "", after: 0, "Retry-After: 7"), .ok("{}")]
        harness.send(2)
        harness.pass(7.9)
        #expect(harness.exports == ["1000 2 spans"])
        harness.pass(0.2)
        #expect(harness.exports == ["1000 2 spans", "8000 2 spans"])
        #expect(harness.received[0].body == harness.received[1].body, "the same ids")
        #expect(harness.counts.exported == 2 && harness.counts.undelivered == 0)
        harness.expectQuiet()
    }

    @Test func requestsThatComeMeanwhileWait() {
        harness.replies = [.status(503, "", after: 0, "Retry-After: 10"), .ok("{}")]
        harness.send(1)
        harness.pass(2)
        harness.send(600)
        harness.pass(8)
        #expect(harness.exports == ["1000 1 spans"])
        harness.pass(3)
        #expect(
            harness.exports
                == ["1000 1 spans", "11000 1 spans", "11000 512 spans", "12000 88 spans"])
        harness.expectQuiet()
    }

    @Test func aFinalStatusDropsTheBatchAndGoesOn() {
        harness.replies = [.status(400), .ok("{}")]
        harness.send(3)
        harness.pass(1)
        #expect(harness.counts.rejected == 3 && harness.backlog.count == 0)
        harness.send(1)
        harness.pass(2)
        #expect(harness.exports == ["1000 3 spans", "2000 1 spans"])
        #expect(harness.counts.exported == 1)
        #expect(harness.logged.count == 2)
        #expect(harness.logged[0].contains(#""msg":"spans not exported","problem":"status 400""#))
        #expect(harness.logged[1].contains(#""msg":"spans exported again""#))
        harness.expectQuiet()
    }

    @Test func rejectedSpansOfASuccessAreCounted() {
        harness.replies = [
            .ok(#"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}"#),
            .ok(#"{"partialSuccess":{"rejectedSpans":"99"}}"#), .ok("{}"),
        ]
        harness.send(5)
        harness.pass(1)
        #expect(harness.counts.exported == 3 && harness.counts.rejected == 2)
        #expect(harness.logged.count == 1 && harness.logged[0].contains("too old"))
        harness.send(5)
        harness.pass(1)
        #expect(harness.counts.exported == 3 && harness.counts.rejected == 7, "at most its spans")
        harness.expectQuiet()
    }

    @Test func aCollectorThatRefusesConnectionsIsTriedAgain() throws {
        harness.collector?.close()
        harness.send(2)
        harness.pass(20)
        #expect(harness.received.isEmpty && harness.backlog.count == 2)
        #expect(harness.logged.count == 1, "one line, however many attempts")
        #expect(harness.logged[0].contains("connectionRefused"))
        try harness.startCollector()
        harness.pass(30)
        #expect(harness.received.count == 1 && harness.counts.exported == 2)
        harness.expectQuiet()
    }

    @Test func aCollectorThatDoesNotRespondIsTriedAgainAfterTenSeconds() {
        harness.replies = [.hangs, .ok("{}")]
        harness.send(1)
        // The second attempt follows a half to a whole second after the end of the first one.
        harness.pass(11.4)
        #expect(harness.received.count == 1 && harness.counts.exported == 0)
        harness.pass(0.7)
        #expect(harness.received.count == 2 && harness.counts.exported == 1)
        #expect(harness.received[1].connection == 2, "the former connection is closed")
        harness.expectQuiet()
    }

    /// A gateway that calls itself, or a collector that sends without end.
    @Test func aResponseThatIsTooLargeIsAFailure() {
        harness.replies = [.ok(String(repeating: " ", count: 70_000)), .ok("{}")]
        harness.send(1)
        harness.pass(3)
        #expect(harness.counts.exported == 1 && harness.received.count == 2)
        harness.expectQuiet()
    }

    // MARK: Bounds

    @Test func aDeadCollectorHoldsABoundedNumberOfSpansForAtMostFiveMinutes() throws {
        let harness = try ExporterHarness(limit: 1_000)
        harness.configure(try ExporterHarness.plan())
        harness.replies = [.status(503)]
        for second in 0..<900 {
            harness.send(10)
            harness.pass(1)
            #expect(harness.backlog.count <= 1_000)
            if second == 99 {
                #expect(harness.backlog.count == 1_000 && harness.counts.queueFull == 0)
            }
        }
        let counts = harness.counts
        #expect(counts.queueFull > 3_000 && counts.undelivered >= 1_000 && counts.exported == 0)
        #expect(
            counts.queueFull + counts.undelivered + harness.backlog.count == 9_000,
            "each span is counted once")
        #expect(harness.logged.count == 1)
        // What is younger than five minutes is delivered when the collector works again.
        harness.replies = [.ok("{}")]
        let waiting = harness.backlog.count
        harness.pass(60)
        #expect(harness.counts.exported > 0 && harness.backlog.count == 0)
        #expect(
            harness.counts.exported + harness.counts.undelivered - counts.undelivered == waiting)
        harness.expectQuiet()
    }

    /// Younger spans are exported with the first attempt after the collector works again.
    @Test(arguments: [(270, 1), (300, 0)])
    func spansWaitForFiveMinutes(_ failing: Double, _ exported: Int) throws {
        harness.replies = [.status(503)]
        harness.send(1)
        // Attempts are at most 30 seconds apart.
        harness.pass(failing)
        harness.replies = [.ok("{}")]
        harness.pass(60)
        #expect(harness.counts.exported == exported)
        #expect(harness.counts.undelivered == 1 - exported)
        harness.expectQuiet()
    }

    @Test func withoutADestinationSpansAreDropped() {
        harness.replies = [.hangs]
        harness.send(600)
        harness.pass(1)
        #expect(harness.backlog.count == 600)
        harness.configure(nil)
        #expect(harness.backlog.count == 0 && harness.counts.undelivered == 600)
        harness.send(1)
        harness.pass(20)
        #expect(harness.received.count == 1 && harness.counts.undelivered == 601)
        harness.expectQuiet()
    }

    @Test func aReloadTriesTheNewCollectorAtOnce() throws {
        harness.replies = [.status(503, "", after: 0, "Retry-After: 100"), .ok("{}")]
        harness.send(1)
        harness.pass(2)
        harness.configure(try ExporterHarness.plan(fields: ["X-Token": "new"]))
        harness.pass(0.1)
        #expect(harness.exports == ["1000 1 spans", "2000 1 spans"])
        #expect(harness.received[1]["X-Token"] == "new")
        harness.expectQuiet()
    }

    /// What was written before the reload goes out with its own type.
    @Test func aReloadKeepsTheFormatOfAnExport() throws {
        harness.replies = [.status(503, "", after: 0, "Retry-After: 100"), .ok("{}")]
        harness.send(1)
        harness.pass(2)
        harness.configure(try ExporterHarness.plan(encoding: .protobuf))
        harness.pass(0.1)
        #expect(
            harness.received.map { $0["Content-Type"] } == ["application/json", "application/json"])
        #expect(harness.received[1].body == harness.received[0].body)
        harness.expectQuiet()
    }

    // MARK: The end

    @Test func theEndExportsWhatWaits() {
        harness.send(600)
        harness.send(3)
        let ended = harness.close()
        harness.pass(1)
        #expect(harness.exports == ["0 512 spans", "0 91 spans"])
        #expect(ended() == 0 && harness.counts.exported == 603)
        harness.expectQuiet()
    }

    @Test func theEndWithNothingToExportIsImmediate() {
        let ended = harness.close()
        #expect(ended() == 0)
        harness.expectQuiet()
    }

    @Test func anUnresponsiveCollectorDelaysTheEndForABoundedTime() throws {
        harness.replies = [.hangs]
        harness.send(600)
        let ended = harness.close(within: try #require(harness.exporter?.flushLimit))
        harness.pass(1.4)
        #expect(ended() == nil)
        harness.pass(0.2)
        #expect(ended() == 1_500)
        #expect(harness.counts.undelivered == 600 && harness.backlog.count == 0)
        harness.expectQuiet()
    }

    @Test func theEndTriesAFailingCollectorOnceMore() {
        harness.replies = [.status(503, "", after: 0, "Retry-After: 100")]
        harness.send(2)
        harness.pass(2)
        let ended = harness.close()
        harness.pass(0.1)
        #expect(harness.received.count == 2 && ended() == 2_000)
        #expect(harness.counts.undelivered == 2)
        harness.expectQuiet()
    }

    @Test func theEndWaitsForAnExportThatRuns() {
        harness.replies = [.ok("{}", after: 300)]
        harness.send(1)
        harness.pass(1.1)
        let ended = harness.close()
        harness.pass(1)
        #expect(ended() == 1_300 && harness.counts.exported == 1)
        harness.expectQuiet()
    }

    @Test func aSecondSignalEndsTheWait() {
        harness.replies = [.hangs]
        harness.send(1)
        harness.pass(1)
        let ended = harness.close(within: .seconds(60))
        harness.pass(0.5)
        #expect(ended() == nil)
        harness.testbed.perform(on: harness.testbed.loop) { harness.exporter?.stop() }
        #expect(ended() == 1_500 && harness.counts.undelivered == 1)
        harness.expectQuiet()
    }
}
