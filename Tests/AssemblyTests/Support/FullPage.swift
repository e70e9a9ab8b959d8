import Basics
import HTTP
import HTTPServer
import Reactor

@testable import Assembly
@testable import Gateway

/// A page of metrics on which every family has a sample.
enum FullPage {
    static let endpoint = "GET /\"x\\"

    static var facts: ProcessFacts {
        var reloads = ProcessFacts.Reloads()
        reloads.loadedAt = 1_700_000_000_500_000_000
        return ProcessFacts(
            version: "1.2.3", digest: "0123456789abcdef", startedAt: 1_700_000_000_123_000_000,
            reloads: reloads,
            log: ProcessFacts.LogFacts(linesDropped: 5, bytesQueued: 7, bytesMax: 1 << 20),
            descriptors: ProcessFacts.Descriptors(limit: 64, open: 7),
            usage: ProcessFacts.Usage(cpuSeconds: 1.25, residentBytes: 4096))
    }

    /// One request of 30 ms whose only call took 20 ms and was hedged.
    static func record(padded: Bool = false, trace seed: UInt64 = 1) -> RequestRecord {
        let record = RequestRecord()
        record.enter(
            RecordedEndpoint(
                name: endpoint, isPadded: padded,
                calls: [.init(name: "one", backend: "a", hosts: ["h:1"])], callSlots: [0]))
        record.beginCall(0, at: ms(4))
        let first = record.beginAttempt(of: 0, .first, at: ms(4))
        record.permitAttempt(first, host: 0, spanID: 1, at: ms(4))
        let second = record.beginAttempt(of: 0, .hedge, at: ms(10))
        record.permitAttempt(second, host: 0, spanID: 2, at: ms(10))
        record.attemptCompleted(second, bodyBytes: 1, at: ms(23))
        record.attemptFailed(first, .cancelled, at: ms(24))
        record.endCall(0, .succeeded, deciding: second, at: ms(24))
        record.end(at: ms(30))
        return record
    }

    static func ms(_ count: Int64) -> Instant { Instant(nanoseconds: count * 1_000_000) }

    static func exemplar(_ seed: UInt64 = 1, at milliseconds: Int64 = 30) -> Exemplar {
        Exemplar(TraceContext(from: Entropy(seed: seed)), at: ms(milliseconds))
    }

    static var meter: WorkerMetrics {
        var meter = WorkerMetrics(
            endpointNames: [endpoint], calls: [CallLabels(backend: "a")])
        meter.count(record(), endpoint: 0, status: 200, .ok, exemplar())
        return meter
    }

    static var snapshot: WorkerSnapshot {
        var backend = BackendState(name: "a")
        backend.runningMax = 3
        backend.waitingMax = 4
        backend.hosts = [.init(name: "h:1", isUsable: true)]
        var snapshot = WorkerSnapshot(
            meter: meter, backends: [backend], connections: 1, bufferedBytes: 1, requests: [])
        snapshot.endpointLoads = [
            EndpointLoad(name: endpoint, deadline: .seconds(1), inFlight: 1, inFlightMax: 2)
        ]
        snapshot.streams = [EndpointStreams(endpoint: endpoint)]
        snapshot.streams[0].count(.tunnel)
        snapshot.authResults = [AuthResults(name: "partners", keysAge: 7)]
        snapshot.limitUsages = [LimitUsage(name: "per_client", granted: 3, refused: 2, refunded: 1)]
        snapshot.store = StoreState(isUp: true, counts: StoreCounts())
        snapshot.tls = TLSState()
        snapshot.tls?.certificates = [.init(name: "shop.test", notAfter: 1_800_000_000)]
        return snapshot
    }

    static func text(
        _ format: MetricsFormat = .prometheus, _ snapshots: [WorkerSnapshot] = [snapshot]
    ) -> String {
        let reports = snapshots.enumerated().map {
            WorkerReport(worker: $0, isUp: true, heartbeatAge: .zero, snapshot: $1)
        }
        // A second after the request has ended.
        return MetricsPage(facts, reports).text(
            format,
            ExemplarClock(now: ms(1030), unixTime: 1_700_000_009_000_000_000))
    }
}
