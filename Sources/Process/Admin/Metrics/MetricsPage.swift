import Assembly
import Basics
import Gateway
import HTTPServer
import Reactor

/// The metrics of the process and all its workers. Each area has a file of its own; `MetricsWriter`
/// knows the formats.
struct MetricsPage {
    private let facts: ProcessFacts
    private let workers: [WorkerReport]
    private let snapshots: [WorkerSnapshot]

    /// - Parameter workers: one report of each running worker
    init(_ facts: ProcessFacts, _ workers: [WorkerReport]) {
        self.facts = facts
        self.workers = workers
        snapshots = workers.compactMap(\.snapshot)
    }

    func text(_ format: MetricsFormat, _ clock: ExemplarClock) -> String {
        var writer = MetricsWriter(format, clock)
        write(to: &writer)
        writer.end()
        return writer.text
    }

    func write(to writer: inout MetricsWriter) {
        writer.writeProcess(facts)
        writer.writeConfiguration(facts)
        writer.writeLog(facts.log)
        writer.writeSpans(facts.spans)
        writer.writeWorkers(workers)
        writer.writeStore(workers)
        let counts = counts
        let endpoints = Set(counts.endpoints.map(\.name))
        writer.writeClients(snapshots, endpoints: endpoints)
        writer.writeVersions(counts)
        writer.writeLosses(snapshots)
        writer.writeTLS(snapshots)
        writer.writeAuthentication(snapshots.map(\.authResults))
        writer.writeLimits(snapshots.map(\.limitUsages), facts.limitCells)
        writer.writeRequests(counts.endpoints + [counts.elsewhere])
        writer.writeEndpoints(snapshots.map(\.endpointLoads), used: endpoints)
        writer.writeCalls(counts.calls)
        writer.writeHosts(counts.hosts)
        writer.writeBackends(snapshots.map(\.backends))
    }

    /// Over all workers, of what requests have used: the series of an endpoint, a call or a host appear
    /// together, zeros included, after its first use.
    private var counts: WorkerMetrics {
        var sum = WorkerMetrics()
        for snapshot in snapshots { sum.add(snapshot.meter) }
        sum.removeUnused()
        sum.show(Self.shownStatuses, elsewhere: Self.shownStatusesElsewhere)
        return sum
    }

    /// Statuses of a used endpoint that are shown before they occur, so that rates and shares begin at the
    /// first event: the statuses that every endpoint can have.
    static let shownStatuses: [UInt16] = [200, 400, 499, 500, 502, 503, 504]
    /// The same for requests without an endpoint.
    static let shownStatusesElsewhere: [UInt16] = [400, 404, 405, 408, 503]
}
