import Assembly
import Basics
import Gateway
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

@testable import Process

/// Workers that hang, watched in virtual time.
@Suite struct WorkerMonitorTests {
    /// Answers at once unless it hangs; then its inbox fills.
    private final class Worker: MessageInbox, @unchecked Sendable {
        private(set) lazy var handle = WorkerHandle(setup, inbox: self)
        private let setup: WorkerSetup
        var isHung = false {
            didSet { if !isHung { answerAll() } }
        }
        var requests = 0
        private(set) var messages: [WorkerMessage] = []
        weak var monitor: WorkerMonitor?

        init(_ setup: WorkerSetup) { self.setup = setup }

        @discardableResult
        func post(_ message: WorkerMessage) -> Bool {
            messages.append(message)
            if !isHung { answerAll() }
            return true
        }

        private func answerAll() {
            let waiting = messages
            messages = []
            for message in waiting { answer(message) }
        }

        private func answer(_ message: WorkerMessage) {
            switch message {
            case .heartbeat(let number): setup.answerHeartbeat(number)
            case .takeSnapshot: monitor?.received(snapshot, from: handle.index)
            default: Issue.record("\(message)")
            }
        }

        private var snapshot: WorkerSnapshot {
            var meter = WorkerMetrics(endpointNames: ["GET /x"])
            let record = RequestRecord()
            record.end(at: Instant(nanoseconds: 1_000_000))
            let exemplar = Exemplar(
                TraceContext(from: Entropy(seed: 1)), at: Instant(nanoseconds: 0))
            for _ in 0..<requests {
                meter.count(record, endpoint: 0, CountedEnd(200, .ok, exemplar))
            }
            return WorkerSnapshot(
                meter: meter, backends: [], connections: 7, bufferedBytes: 11, requests: [])
        }
    }

    private let network = SimNetwork(seed: 1)
    private let loop: SimLoop
    private let monitor: WorkerMonitor
    private let workers: [Worker]
    private let written = Lines()

    private final class Lines {
        var text = ""
    }

    init() {
        loop = network.makeLoop("control")
        let log = Log(level: .info, format: .text, clock: { 0 }) { [written] in
            written.text += String(decoding: $0, as: UTF8.self)
        }
        monitor = WorkerMonitor(loop: loop, log: log)
        let shared = SharedResources(names: network.makeNameService())
        workers = [0, 1].map { [network] index in
            Worker(
                WorkerSetup(
                    index: index, of: 2, shared: shared, control: SimInbox(on: network),
                    log: SimInbox(on: network)))
        }
        for worker in workers {
            worker.monitor = monitor
            monitor.add(worker.handle)
        }
    }

    /// The log without its times.
    private var lines: [String] {
        written.text.split(separator: "\n").map { $0.drop { $0 != " " }.dropFirst().description }
    }

    /// The reports, with the milliseconds that they took.
    private func reports() -> (reports: [WorkerReport], ms: Double) {
        let began = network.clock.now
        var result: [WorkerReport]?
        loop.timer(after: .zero) { [monitor] in
            monitor.reports().whenSettled { result = try? $0.get() }
        }
        network.run(until: { result != nil })
        return (result ?? [], (network.clock.now - began).inMilliseconds)
    }

    private func page(_ reports: [WorkerReport]) -> [Substring] {
        let facts = ProcessFacts(
            version: "1", digest: "", log: LogCounts(linesDropped: 5),
            descriptors: ProcessFacts.Descriptors(limit: 1024, open: nil))
        return MetricsPage(facts, reports).text(
            .prometheus, ExemplarClock(now: network.clock.now, unixTime: 0)
        ).split(separator: "\n")
    }

    // MARK: Heartbeats

    @Test func workersThatAnswerAreNeverSilent() {
        monitor.startHeartbeats()
        for _ in 0..<100 {
            network.advance(by: .milliseconds(333))
            #expect(monitor.workersSilent(for: .milliseconds(1)).isEmpty)
        }
        #expect(lines.isEmpty)
    }

    @Test func aHungWorkerIsSilentAfterTheLimits() {
        monitor.startHeartbeats()
        network.advance(by: .milliseconds(100))
        workers[1].isHung = true
        // The first heartbeat without an answer is sent at 500 ms.
        network.advance(by: .milliseconds(2300))
        #expect(monitor.workersSilent(for: WorkerMonitor.readyLimit).isEmpty)
        network.advance(by: .milliseconds(100))
        #expect(monitor.workersSilent(for: WorkerMonitor.readyLimit) == [1])
        #expect(lines == ["error worker does not answer worker=1 ms=2000.000"])
        network.advance(by: .milliseconds(7999))
        #expect(monitor.workersSilent(for: WorkerMonitor.liveLimit).isEmpty)
        network.advance(by: .milliseconds(1))
        #expect(monitor.workersSilent(for: WorkerMonitor.liveLimit) == [1])
        #expect(lines.count == 1, "logged once")
    }

    @Test func aWorkerThatComesBackIsLogged() {
        monitor.startHeartbeats()
        workers[0].isHung = true
        network.advance(by: .seconds(5))
        workers[0].isHung = false
        #expect(monitor.workersSilent(for: .milliseconds(1)).isEmpty, "before the next heartbeat")
        network.advance(by: .seconds(1))
        #expect(lines.last == "warning worker answers again worker=0 ms=5000.000")
    }

    @Test func theInboxOfAHungWorkerDoesNotGrow() {
        monitor.startHeartbeats()
        workers[0].isHung = true
        network.advance(by: .seconds(60))
        for _ in 0..<20 { _ = reports() }
        #expect(workers[0].messages.count == 2, "one heartbeat, one request for a snapshot")
    }

    @Test func aWorkerThatHasEndedIsNotExpectedToAnswer() {
        monitor.startHeartbeats()
        workers[0].isHung = true
        workers[0].handle.hasEnded = true
        network.advance(by: .seconds(60))
        #expect(monitor.workersSilent(for: .milliseconds(1)).isEmpty && lines.isEmpty)
    }

    /// The control loop's own pause says nothing of the workers.
    @Test func aPauseOfTheWholeProcessBlamesNoWorker() {
        monitor.startHeartbeats()
        network.advance(by: .milliseconds(700))
        network.clock.advance(until: network.clock.now + .seconds(30))
        #expect(monitor.workersSilent(for: .milliseconds(1)).isEmpty)
        network.advance(by: .seconds(1))
        #expect(lines.isEmpty)
    }

    @Test func aConfigurationThatAHungWorkerDidNotReadIsNamed() {
        monitor.startHeartbeats()
        network.advance(by: .milliseconds(100))
        workers[0].isHung = true
        monitor.configurationSent()
        network.advance(by: .seconds(3))
        #expect(
            lines == [
                #"error worker does not answer worker=0 ms=2000.000 configuration="not installed yet""#
            ])
    }

    @Test func aConfigurationThatWasReadIsNotNamed() {
        monitor.startHeartbeats()
        monitor.configurationSent()
        network.advance(by: .milliseconds(600))
        workers[0].isHung = true
        network.advance(by: .seconds(3))
        #expect(lines == ["error worker does not answer worker=0 ms=2000.000"])
    }

    // MARK: Snapshots

    @Test func workersThatAnswerAreReportedAtOnce() {
        workers[0].requests = 3
        workers[1].requests = 4
        let (reports, ms) = reports()
        #expect(ms == 0)
        #expect(reports.map(\.worker) == [0, 1] && reports.allSatisfy(\.isUp))
        let page = page(reports)
        #expect(page.contains(#"tributary_requests_total{endpoint="GET /x",status="200"} 7"#))
        #expect(page.contains("tributary_client_connections 14"))
        #expect(page.contains("tributary_buffered_bytes 22"))
        #expect(page.contains(#"tributary_worker_up{worker="0"} 1"#))
        #expect(page.contains(#"tributary_worker_heartbeat_age_seconds{worker="1"} 0.0"#))
        #expect(page.contains("tributary_log_lines_dropped_total 5"))
    }

    @Test func aHungWorkerIsNamedWithinTheLimit() {
        monitor.startHeartbeats()
        workers[0].requests = 3
        workers[1].isHung = true
        network.advance(by: .seconds(3))
        let (reports, ms) = reports()
        #expect(ms == 500)
        let page = page(reports)
        #expect(page.contains("tributary_workers 2"))
        #expect(page.contains(#"tributary_worker_up{worker="0"} 1"#))
        #expect(page.contains(#"tributary_worker_up{worker="1"} 0"#))
        #expect(page.contains(#"tributary_worker_heartbeat_age_seconds{worker="1"} 3.0"#))
        #expect(page.contains(#"tributary_requests_total{endpoint="GET /x",status="200"} 3"#))
    }

    /// Prometheus takes a counter that shrinks for one that began anew, and adds all of it again.
    @Test func countersDoNotShrinkWhileAWorkerHangs() {
        workers[0].requests = 3
        workers[1].requests = 4
        _ = reports()
        workers[0].requests = 5
        workers[1].isHung = true
        let page = page(reports().reports)
        #expect(page.contains(#"tributary_requests_total{endpoint="GET /x",status="200"} 9"#))
        #expect(page.contains("tributary_client_connections 7"), "of the worker that answers")
        workers[1].requests = 6
        workers[1].isHung = false
        let recovered = self.page(reports().reports)
        #expect(recovered.contains(#"tributary_requests_total{endpoint="GET /x",status="200"} 11"#))
        #expect(recovered.contains("tributary_client_connections 14"))
    }

    @Test func anAnswerEndsTheWaitOfEveryPage() {
        workers[1].isHung = true
        var ended: [Double] = []
        let began = network.clock.now
        for delay in [0, 100] as [Int64] {
            loop.timer(after: .milliseconds(delay)) { [monitor, network] in
                monitor.reports().whenSettled { _ in
                    ended.append((network.clock.now - began).inMilliseconds)
                }
            }
        }
        loop.timer(after: .milliseconds(200)) { [workers] in workers[1].isHung = false }
        network.advance(by: .seconds(1))
        #expect(ended == [200, 200])
    }

    @Test func aWorkerThatEndsIsNotWaitedFor() {
        workers[1].isHung = true
        var ms: Double?
        let began = network.clock.now
        loop.timer(after: .zero) { [monitor, network] in
            monitor.reports().whenSettled { _ in ms = (network.clock.now - began).inMilliseconds }
        }
        loop.timer(after: .milliseconds(50)) { [monitor, workers] in
            workers[1].handle.hasEnded = true
            monitor.ended(1)
        }
        network.advance(by: .seconds(1))
        #expect(ms == 50)
    }

    @Test func stoppingEndsAllWaitingAndTimers() {
        monitor.startHeartbeats()
        workers[1].isHung = true
        var isSettled = false
        loop.timer(after: .zero) { [monitor] in
            monitor.reports().whenSettled { _ in isSettled = true }
        }
        network.advance(by: .milliseconds(10))
        monitor.stop()
        network.advance(by: .zero)
        #expect(isSettled && network.leftovers.isEmpty)
    }
}
