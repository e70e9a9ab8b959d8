package import Assembly
package import Basics
package import Gateway
import HTTP
import Reactor

/// Counts of a worker in which every family of metrics has a sample.
package enum FullMeter {
    package static let endpoint = "GET /\"x\\"

    /// One request of 30 ms whose only call took 20 ms and was hedged.
    package static func record(padded: Bool = false, trace seed: UInt64 = 1) -> RequestRecord {
        let record = RequestRecord()
        record.enter(
            RecordedEndpoint(
                name: endpoint, isPadded: padded,
                calls: [.init(name: "one", backend: "a", hosts: ["h:1"])],
                slots: RecordedEndpoint.Slots(calls: [0], firstHosts: [0], hosts: [0])))
        record.beginCall(0, at: ms(4))
        record.recordList(ListRecord(call: 0, elements: 3, shared: 1, truncated: 2))
        let first = record.beginAttempt(of: 0, .first, at: ms(4))
        record.permitAttempt(first, host: 0, spanID: 1, at: ms(4))
        let second = record.beginAttempt(of: 0, .hedge, at: ms(10))
        record.permitAttempt(second, host: 0, spanID: 2, at: ms(10))
        record.attemptCompleted(second, bodyBytes: 1, at: ms(23))
        record.attemptFailed(first, .cancelled, at: ms(24))
        record.endCall(0, .succeeded, deciding: second, at: ms(24))
        record.firstPartMade(at: ms(24))
        record.end(at: ms(30))
        return record
    }

    package static func ms(_ count: Int64) -> Instant { Instant(nanoseconds: count * 1_000_000) }

    package static func exemplar(_ seed: UInt64 = 1, at milliseconds: Int64 = 30) -> Exemplar {
        Exemplar(TraceContext(from: Entropy(seed: seed)), at: ms(milliseconds))
    }

    package static var meter: WorkerMetrics {
        var meter = WorkerMetrics(
            endpointNames: [endpoint], calls: [CallLabels(backend: "a")],
            hosts: [HostLabels(backend: "a", host: "h:1")])
        meter.count(record(), endpoint: 0, CountedEnd(200, .ok, exemplar(), bodyBytes: 7))
        return meter
    }
}
