import Basics
import HTTP
import HTTPServer
import Reactor
import WorkerSupport

@testable import Assembly
@testable import Gateway
@testable import Process

/// A page of metrics on which every family has a sample.
enum FullPage {
    static var facts: ProcessFacts {
        var reloads = ReloadCounts()
        reloads.loadedAt = 1_700_000_000_500_000_000
        return ProcessFacts(
            version: "1.2.3", digest: "0123456789abcdef", startedAt: 1_700_000_000_123_000_000,
            reloads: reloads,
            log: LogCounts(linesDropped: 5, bytesQueued: 7, bytesMax: 1 << 20),
            descriptors: ProcessFacts.Descriptors(limit: 64, open: 7),
            usage: ProcessFacts.Usage(cpuSeconds: 1.25, residentBytes: 4096))
    }

    static var snapshot: WorkerSnapshot {
        var backend = BackendState(name: "a")
        backend.runningMax = 3
        backend.waitingMax = 4
        backend.hosts = [.init(name: "h:1", isUsable: true)]
        var snapshot = WorkerSnapshot(
            meter: FullMeter.meter, backends: [backend], connections: 1, bufferedBytes: 1,
            requests: [])
        snapshot.endpointLoads = [
            EndpointLoad(
                name: FullMeter.endpoint, deadline: .seconds(1), inFlight: 1, inFlightMax: 2)
        ]
        snapshot.listeners = [ListenerUsage(name: "0.0.0.0:80")]
        snapshot.streams = [EndpointStreams(endpoint: FullMeter.endpoint)]
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
            ExemplarClock(now: FullMeter.ms(1030), unixTime: 1_700_000_009_000_000_000))
    }
}
